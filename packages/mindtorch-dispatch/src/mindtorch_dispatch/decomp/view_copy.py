"""Copies of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import contiguous_format

from ..call import aten
from ..meta.checks import check, expect
from ..typing import Tensor


def copy_of(name: str) -> Callable[..., Any]:
    """Return the function that copies the view `name` (or each of its views) into fresh contiguous memory."""

    def copied(*values: object) -> Any:
        if name == "expand":  # its last argument is by keyword alone, and without effect
            values = values[:2]
        sizes = name == "view" and not isinstance(values[1], Dtype)  # which a copy can have where no view can
        made = getattr(aten, "reshape" if sizes else name)(*values)
        if isinstance(made, (list, tuple)):
            return tuple(aten.clone(one, memory_format=contiguous_format) for one in made)
        return aten.clone(made, memory_format=contiguous_format)

    return copied


def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Any:
    """`narrow`, copied; it has a check of its own ahead of the view's."""
    count = len(self.shape)
    expect(dim < max(count, 1), "dim < static_cast<int64_t>(self_sizes.size())")
    extent = self.shape[dim] if count and -count <= dim else 0
    check(
        length >= 0 or count == 0 or dim < -count,
        lambda: f"start ({start}) + length ({length}) exceeds dimension size ({extent}).",
    )
    return copy_of("narrow")(self, dim, start, length)
