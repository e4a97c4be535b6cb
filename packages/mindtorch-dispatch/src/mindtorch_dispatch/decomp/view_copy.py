"""Copies of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.layout import contiguous_format

from ..call import aten


def copy_of(name: str) -> Callable[..., Any]:
    """Return the function that copies the view `name` (or each of its views) into fresh contiguous memory."""

    def copied(*values: Any) -> Any:
        made = getattr(aten, name)(*values)
        if isinstance(made, (list, tuple)):
            return tuple(aten.clone(one, memory_format=contiguous_format) for one in made)
        return aten.clone(made, memory_format=contiguous_format)

    return copied
