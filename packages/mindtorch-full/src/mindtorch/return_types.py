"""The classes of named results, `torch.return_types.max` and its like."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.utils._pytree import register_structure_sequence
from mindtorch_dispatch.meta.packs import pack_classes

__all__ = ["all_return_types", "pytree_register_structseq"]


def pytree_register_structseq(cls: type[Any]) -> None:
    """Make a class of named results a node of `torch.utils._pytree`.

    >>> torch.utils._pytree.tree_leaves(torch.max(torch.tensor([[1, 2]]), 1))
    [tensor([2]), tensor([1])]
    """
    register_structure_sequence(cls)


_classes = sorted(pack_classes.values(), key=lambda cls: cls.__name__)
all_return_types: list[type[Any]] = [cls for cls in _classes if not cls.__name__.startswith("_")]
"""Every class of named results, but for those of inner operators."""

for _cls in _classes:
    globals()[_cls.__name__] = _cls
__all__ += [cls.__name__ for cls in all_return_types if cls.__name__ != "histogramdd_out"]

adopt(globals())
