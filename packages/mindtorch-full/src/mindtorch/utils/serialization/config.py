"""The settings that `torch.save` and `torch.load` follow when a call does not say otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mindtorch._naming import adopt
from mindtorch.serialization._settings import load_config as load
from mindtorch.serialization._settings import save_config as save

__all__ = ["load", "patch", "save"]

_GROUPS = {"load": load, "save": save}


def _place(key: str) -> tuple[Any, str]:
    group, _, name = key.partition(".")
    if group not in _GROUPS or not hasattr(_GROUPS[group], name):
        raise AttributeError(f"torch.utils.serialization.config.{key} does not exist")
    return _GROUPS[group], name


@contextlib.contextmanager
def patch(changes: dict[str, Any] | str | None = None, value: Any = None, **more: Any) -> Iterator[None]:
    """Change settings, `patch({"load.mmap": True})` or `patch("load.mmap", True)`, for the length of a block.

    >>> from torch.utils.serialization import config
    >>> with config.patch("save.use_pinned_memory_for_d2h", True):
    ...     print(config.save.use_pinned_memory_for_d2h)
    True
    """
    wanted = {changes: value} if isinstance(changes, str) else {**(changes or {}), **more}
    before = [(*_place(key), getattr(*_place(key))) for key in wanted]
    for key, new in wanted.items():
        setattr(*_place(key), new)
    try:
        yield
    finally:
        for holder, name, old in before:
            setattr(holder, name, old)


adopt(globals())
