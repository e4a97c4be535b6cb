"""Meta rules of grids and of matrices made of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.promotion import result_type
from mindtorch_storage.spec import Spec

from ..defaults import get_default_device, get_default_dtype
from .checks import check
from .factory import new_rule
from .rule import MetaRule, Outputs
from .support import lacking


def _block_diag(tensors: Sequence[Spec]) -> Outputs:
    if not tensors:
        return Outputs(Spec.of(get_default_dtype(), get_default_device(), (1, 0)))
    dtype: Any = result_type([one.dtype for one in tensors])
    rows = columns = 0
    for place, one in enumerate(tensors):
        check(
            one.ndim <= 2,
            lambda place=place, one=one: (
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {one.ndim} dimensions"
            ),
        )
        rows += one.shape[0] if one.ndim == 2 else 1
        columns += one.shape[-1] if one.ndim else 1
    return Outputs(Spec.of(dtype, tensors[0].device, (rows, columns)), cast=dtype)


block_diag = MetaRule(_block_diag)
"""`block_diag`."""


def triangle_sizes(rows: int, columns: int, offset: int) -> int:
    """Return how many elements of a matrix lie on or below its diagonal `offset`."""
    first = min(max(-offset, 0), rows)  # the rows above have none
    whole = min(max(columns - 1 - offset, first), rows)  # from here on rows are full
    return (whole - first) * (first + whole + 1 + 2 * offset) // 2 + (rows - whole) * columns


def _triangle_of(upper: bool) -> MetaRule:
    @new_rule
    def rule(row: int, col: int, offset: int, dtype: Dtype | None, device: Device | None) -> Outputs:
        check(row >= 0, lambda: f"row must be non-negative, got{row}")
        check(col >= 0, lambda: f"col must be non-negative, got{col}")
        if dtype is not None and dtype.name not in ("int32", "int64"):
            raise lacking(dtype, f"{'triu' if upper else 'tril'}_indices")
        below = triangle_sizes(row, col, offset - 1 if upper else offset)
        count = row * col - below if upper else below
        spec = Spec.of(dtype or int64, device or get_default_device(), (2, count))
        # A diagonal beyond a corner is any of those there; kernels count from it.
        return Outputs(spec, values=(row, col, max(-row - 1, min(offset, col + 1))))

    return rule


tril_indices = _triangle_of(False)
"""`tril_indices`; the kernel gets (rows, columns, offset)."""

triu_indices = _triangle_of(True)
"""`triu_indices`."""
