"""Grids and combinations composed of others."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..frames import frames_to_caller
from ..meta.checks import check
from ..typing import Tensor


def meshgrid(tensors: Sequence[Tensor], indexing: str | None = None) -> tuple[Any, ...]:
    """Coordinates of a grid, one tensor per axis."""
    if len(tensors) == 0:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for one in tensors:
        if one.ndim > 1:
            raise RuntimeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: " + repr(one))
    for one in tensors[1:]:
        if one.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if one.device != tensors[0].device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    order = [tensors[1], tensors[0], *tensors[2:]] if swap else list(tensors)
    shape = [one.numel() for one in order]
    grids = []
    for index, one in enumerate(order):
        place = [1] * len(order)
        place[index] = -1
        grids.append(aten.expand(aten.reshape(one, place), shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def cartesian_prod(tensors: Sequence[Tensor]) -> Any:
    """Every combination of the vectors' elements, a row each."""
    if len(tensors) == 0:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for one in tensors:
        if one.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(one.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    return aten.stack([aten.flatten(grid) for grid in meshgrid(tensors, "ij")], 1)


def combinations(self: Tensor, r: int, with_replacement: bool) -> Any:
    """Every choice of `r` elements, in order."""
    if self.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return aten.empty([0], dtype=self.dtype, device=self.device)
    check(
        r * math.log2(max(self.numel(), 1))
        < 63,  # torch makes a grid of as many elements as there are choices in any order
        lambda: "numel: integer multiplication overflow",
    )
    places = aten.arange(self.numel(), device=self.device)
    columns = [places]
    for _ in range(r - 1):  # each choice is followed by what comes after its last element, itself included or not
        last = columns[-1]
        follows = aten.le(last.unsqueeze(1), places) if with_replacement else aten.lt(last.unsqueeze(1), places)
        rows, added = aten.unbind(aten.nonzero(follows), 1)
        columns = [*(aten.index_select(column, 0, rows) for column in columns), added]
    return aten.stack([aten.index_select(self, 0, column) for column in columns], 1)


def vander(x: Tensor, N: int | None, increasing: bool) -> Any:
    """Powers of a vector's elements, a row each."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x.size(0) if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    promoted = x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(int64)
    powers = [aten.ones([x.size(0), 1], dtype=promoted.dtype, device=x.device)] if count else []
    if count > 1:
        repeated = aten.expand(aten.unsqueeze(promoted, 1), [x.size(0), count - 1])
        powers.append(aten.cumprod(repeated, 1))
    if not powers:
        return aten.empty([x.size(0), 0], dtype=promoted.dtype, device=x.device)
    result = aten.cat(powers, 1)
    return result if increasing else aten.flip(result, [1])


def linalg_vander(x: Tensor, N: int | None) -> Any:
    """Powers of the last dim's elements from 0 up."""
    if x.dtype.name in ("bool", "float16", "bfloat16", "complex32"):
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.scalar_name}"
        )
    if x.ndim == 0:
        x = aten.unsqueeze(x, 0)
    count = x.size(-1) if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    repeated = aten.expand(aten.unsqueeze(x, -1), [*x.shape, count - 1])
    powers = aten.cumprod(repeated, -1)
    ones = aten.ones([*x.shape, 1], dtype=powers.dtype, device=x.device)
    return aten.cat([ones, powers], -1)
