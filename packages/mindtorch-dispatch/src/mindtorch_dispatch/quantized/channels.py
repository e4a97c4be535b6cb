"""Views of tensors with a scale for each channel: where the channels are afterwards, and which of them are left."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.quantized import PACKED, PER_TENSOR, Quantizer

from ..call import aten
from ..meta.checks import check
from .table import kernel
from .tensors import over as tensors_over
from .tensors import quantizer, shaped


def moved(given: Quantizer, axis: int | None) -> Quantizer:
    """Return the quantizer with its channels in another dimension."""
    return given if axis is None else Quantizer(given.scale, given.zero_point, axis)


def of_part(given: Quantizer, dim: int, start: int, length: int, selects: bool) -> Quantizer:
    """Return the quantizer of a part of a tensor along a dimension, which is gone where one index of it was selected."""
    axis = given.axis
    if axis is None:
        return given
    if axis != dim:
        return moved(given, axis - 1 if selects else axis)  # also of a later dimension, as in torch
    if length == 1:
        kind = int if given.scheme is not PER_TENSOR else float
        return Quantizer(float(given.scale[start].item()), kind(given.zero_point[start].item()))
    scale, zero_point = (aten.narrow(one, 0, start, length) for one in (given.scale, given.zero_point))
    return Quantizer(scale, zero_point, axis)


@kernel("alias", "detach")
def alias(self: Any) -> Any:
    """The same memory in another tensor."""
    return over_packed(self, self.shape) if self.dtype in PACKED else shaped(self, aten.alias)


@kernel("view")
def view(self: Any, size: Any) -> Any:
    """Another shape; the channels stay in the dimension of the same number."""
    return shaped_or_packed(self, size)


@kernel("_reshape_alias")
def reshape_alias(self: Any, size: Any, stride: Any) -> Any:
    """Another shape over the same memory."""
    return shaped(self, lambda whole: aten.as_strided(whole, size, stride, whole.storage_offset()))


def shaped_or_packed(self: Any, size: Any) -> Any:
    """Return a view of another shape, also of a tensor that keeps several elements in a byte."""
    if self.dtype not in PACKED:
        return shaped(self, lambda whole: aten.view(whole, size))
    plain = aten.view(aten.empty(list(self.shape), device="meta"), size)
    return over_packed(self, plain.shape)


def over_packed(self: Any, shape: Any) -> Any:
    """Return a tensor over the same bytes, of several elements each."""
    return tensors_over(self._array.integers, self.dtype, quantizer(self), tuple(shape))


@kernel("unsqueeze")
def unsqueeze(self: Any, dim: int) -> Any:
    """A dimension of extent 1 more."""
    given = quantizer(self)
    rank = self.dim() + 1
    place = dim + rank if dim < 0 else dim
    axis = given.axis
    return shaped(
        self,
        lambda whole: aten.unsqueeze(whole, dim),
        moved(given, axis + 1 if axis is not None and place <= axis else axis),
    )


def _squeezed(self: Any, dims: list[int], change: Any) -> Any:
    given = quantizer(self)
    axis = given.axis
    if axis is not None:
        gone = {dim for dim in dims if self.shape[dim] == 1}
        check(
            axis not in gone,
            lambda: "Squeeze is only possible on non-axis dimension for Per-Channel Quantized Tensors.",
        )
        axis -= sum(dim < axis for dim in gone)
    return shaped(self, change, moved(given, axis))


@kernel("squeeze")
def squeeze(self: Any) -> Any:
    """Without the dimensions of extent 1."""
    return _squeezed(self, list(range(self.dim())), aten.squeeze)


@kernel("squeeze.dim")
def squeeze_dim(self: Any, dim: int) -> Any:
    """Without one dimension, if its extent is 1."""
    return squeeze_dims(self, [dim])


@kernel("squeeze.dims")
def squeeze_dims(self: Any, dim: Any) -> Any:
    """Without some dimensions, those of extent 1."""
    rank = self.dim()
    return _squeezed(self, [one % rank for one in dim] if rank else [], lambda whole: aten.squeeze(whole, dim))


@kernel("select.int")
def select(self: Any, dim: int, index: int) -> Any:
    """One index of a dimension."""
    changed = aten.select(self._array.integers, dim, index)
    place, extent = dim % self.dim(), self.shape[dim]
    given = of_part(quantizer(self), place, index % extent, 1, True)
    return shaped(self, lambda whole: changed, given)


@kernel("slice.Tensor")
def slice_(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """Some indices of a dimension."""
    given = quantizer(self)
    if given.axis is not None and given.axis == dim % self.dim():
        first, last, _ = slice(start, end).indices(self.shape[dim])
        check(step == 1, lambda: "Slice of a channel dimension is only possible with a step of 1")
        given = of_part(given, given.axis, first, max(last - first, 0), False)
    return shaped(self, lambda whole: aten.slice.Tensor(whole, dim, start, end, step), given)


@kernel("unbind.int")
def unbind(self: Any, dim: int = 0) -> Any:
    """All indices of a dimension, one by one."""
    return [select(self, dim, index) for index in range(self.shape[dim])]


@kernel("split.Tensor")
def split(self: Any, split_size: int, dim: int = 0) -> Any:
    """Parts of equal length."""
    bounds = range(0, max(self.shape[dim], 1), max(split_size, 1))
    return [slice_(self, dim, start, min(start + split_size, self.shape[dim])) for start in bounds]


@kernel("split_with_sizes")
def split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of given lengths."""
    parts, start = [], 0
    for length in split_sizes:
        parts.append(slice_(self, dim, start, start + length))
        start += length
    return parts
