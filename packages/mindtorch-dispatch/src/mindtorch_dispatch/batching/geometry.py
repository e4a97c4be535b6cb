"""Where the batch dimension goes: what the rules share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..table import OpRow
from ..typing import Tensor, TensorOrScalar
from .steps import aten


def is_tensor(value: Sequence[int] | TensorOrScalar | None) -> bool:
    """True for a tensor."""
    return isinstance(value, TensorBase)


def rank(value: Tensor, dim: int | None) -> int:
    """Return the number of dimensions of one example."""
    found: int = value.dim() - (dim is not None)
    return found


def example_shape(value: Tensor, dim: int | None) -> list[int]:
    """Return the shape of one example."""
    shape = list(value.shape)
    if dim is not None:
        del shape[dim]
    return shape


def moved(value: Any, source: int, target: int) -> Any:
    """Return `value` with one dimension elsewhere."""
    if source == target:
        return value
    order = [place for place in range(value.dim()) if place != source]
    order.insert(target, source)
    return aten.permute(value, order)


def front(value: TensorOrScalar, dim: int) -> Any:
    """Return `value` with its batch dimension first."""
    return value if dim == 0 else moved(value, dim, 0)


def batched(value: Any, dim: int | None, size: int) -> Any:
    """Return `value` with a batch dimension first, a repeated one where it has none."""
    if dim is not None:
        return front(value, dim)
    return aten.expand(aten.unsqueeze(value, 0), [size, *value.shape])


def padded(value: Tensor, wanted: int) -> Any:
    """Return a value whose batch dimension is first with examples of `wanted` dimensions, new ones of extent 1 ahead."""
    missing = wanted + 1 - value.dim()
    if missing <= 0:
        return value
    shape = value.shape
    return aten.reshape(value, [shape[0], *[1] * missing, *shape[1:]])


def place(dim: int, ndim: int) -> int:
    """Return where an example's dimension is when the batch dimension is first; torch's IndexError past the range."""
    reach = max(ndim, 1)
    if not -reach <= dim < reach:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-reach}, {reach - 1}], but got {dim})")
    return dim % reach + 1


def places(dims: Sequence[int], ndim: int) -> list[int]:
    """As `place`, for a list, a number, or None or an empty list for all."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(1, max(ndim, 1) + 1))
    return [place(dim, ndim) for dim in (dims if isinstance(dims, (list, tuple)) else (dims,))]


def folded(value: Tensor) -> Any:
    """Return [B, N, ...] as [B * N, ...]."""
    shape = value.shape
    return aten.reshape(value, [shape[0] * shape[1], *shape[2:]])


def unfolded(value: Tensor, size: int) -> Any:
    """Return [B * N, ...] as [B, N, ...]."""
    shape = value.shape
    return aten.reshape(value, [size, shape[0] // size if size else 0, *shape[1:]])


def index_of(row: OpRow, name: str) -> int:
    """Return where the argument called `name` is among the values."""
    return next(index for index, argument in enumerate(row.schema.arguments) if argument.name == name)
