"""The classes of named results, `torch.return_types.max` and its like."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.utils._pytree import register_structure_sequence
from mindtorch_dispatch.meta.packs import pack_classes

__all__ = ["all_return_types", "pytree_register_structseq"]


def pytree_register_structseq(cls: type[Any]) -> None:
    """Make a class of named results a node of `torch.utils._pytree`."""
    register_structure_sequence(cls)


all_return_types: list[type[Any]] = sorted(pack_classes.values(), key=lambda cls: cls.__name__)
"""Every class of named results."""

_UNLISTED = ("_lu_with_info", "_lu_with_info_out", "histogramdd_out")

for _cls in all_return_types:
    globals()[_cls.__name__] = _cls
    if _cls.__name__ not in _UNLISTED:
        __all__.append(_cls.__name__)

adopt(globals())
