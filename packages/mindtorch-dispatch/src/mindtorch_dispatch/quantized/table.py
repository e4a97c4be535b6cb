"""The table of kernels for quantized tensors: views are those of the integers, whatever the view."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..table import RowKind, registration

kernels: dict[str, Callable[..., Any]] = {}
"""Overload to the function that computes it; it takes and returns tensors."""


kernel = registration(kernels)
"""Registers a function for overloads: `@kernel("cat")`."""


generic: dict[str, Callable[..., Any]] = {}
"""What stands for ops without a kernel of their own, each a function of row and operands: "view", "reshaped" (a view in place)
and "written" (an op in place, after what computes its base)."""


def quantized_kernel(row: Any) -> Callable[..., Any] | None:
    """Return what computes `row` on quantized tensors; None where torch has nothing, or composes it."""
    own = kernels.get(row.name)
    if own is not None:
        return own
    if row.kind is RowKind.INPLACE:
        base = kernels.get(row.base.name)
        return None if base is None else partial(generic["written"], base)
    if row.meta is None or not row.meta.view:
        return None
    return partial(generic["reshaped" if row.kind.writes else "view"], row)


def no_quantized_kernel(row: Any) -> NotImplementedError:
    """Return torch's error for an op that quantized tensors do not have, without its list of other backends."""
    return NotImplementedError(
        f"Could not run '{row.aten_name}' with arguments from the 'QuantizedCPU' backend. This could be because the "
        "operator doesn't exist for this backend. Use dequantize() first."
    )
