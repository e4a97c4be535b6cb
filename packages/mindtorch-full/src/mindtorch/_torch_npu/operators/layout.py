"""Operators that place, cut and convert tensors, under torch_npu's names. Formats of the chip are advice."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._format import Format, format_of, keep, wanted
from mindtorch._torch_npu._operator import operator
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils.weak import WeakIdKeyDictionary
from mindtorch_dispatch.determinism import filling

__all__ = [
    "empty_with_format", "empty_with_swapped_memory", "get_npu_format", "get_storage_size", "npu_broadcast",
    "npu_change_data_ptr",
    "npu_confusion_transpose", "npu_dtype_cast", "npu_dtype_cast_", "npu_format_cast", "npu_format_cast_",
    "npu_gather_sparse_index", "npu_indexing", "npu_max", "npu_min", "npu_one_hot", "npu_pad",
    "npu_reshape", "npu_scatter", "npu_scatter_list", "npu_scatter_list_", "npu_scatter_nd_update",
    "npu_scatter_nd_update_", "npu_sign_bits_pack", "npu_sign_bits_unpack", "npu_slice", "npu_sort_v2",
    "npu_stride_add", "npu_stride_copy", "npu_transpose", "npu_transpose_trans_contiguous", "npu_view_copy", "one_",
    "reverse", "scatter_update", "scatter_update_", "unsafe_empty_with_format",
]  # fmt: skip

ND = Format.ND


@operator(
    "npu_format_cast(Tensor(a) self, int acl_format, *, int? customize_dtype=None, int? input_dtype=None) -> Tensor(a)"
)
def npu_format_cast(
    self: Tensor, acl_format: int, *, customize_dtype: int | None = None, input_dtype: int | None = None
) -> Tensor:
    """Return the tensor, or a view of it that tells its format; it is advice, elements lie as strides say."""
    format = wanted(acl_format)
    return self if format is None else keep(self.view_as(self), format)


@operator(
    "npu_format_cast.Tensor(Tensor(a) self, Tensor dst, *, int? customize_dtype=None, int? input_dtype=None) -> Tensor(a)"
)
def _format_of(
    self: Tensor, dst: Tensor, *, customize_dtype: int | None = None, input_dtype: int | None = None
) -> Tensor:
    return self


@operator(
    "npu_format_cast_.acl_format(Tensor(a!) self, int acl_format, *, int? customize_dtype=None, int? input_dtype=None) "
    "-> Tensor(a!)"
)
def npu_format_cast_(
    self: Tensor, acl_format: int, *, customize_dtype: int | None = None, input_dtype: int | None = None
) -> Tensor:
    """Return the tensor itself, which tells the format from now on; it is advice."""
    return keep(self, wanted(acl_format))


@operator(
    "npu_format_cast_(Tensor(a!) self, Tensor src, *, int? customize_dtype=None, int? input_dtype=None) -> Tensor(a!)"
)
def _like(self: Tensor, src: Tensor, *, customize_dtype: int | None = None, input_dtype: int | None = None) -> Tensor:
    return self.copy_(src)


@operator("get_npu_format(Tensor self) -> int")
def get_npu_format(self: Tensor) -> int:
    """Return what the tensor was cast to, or the format of its rank: NCHW of four dimensions, NCDHW of five, else ND."""
    return format_of(self)


_moved: WeakIdKeyDictionary = WeakIdKeyDictionary()
"""Of tensors whose memory is a part of another's: how many elements their own part has."""


@operator("get_storage_size(Tensor self) -> int")
def get_storage_size(self: Tensor) -> int:
    """Return how many elements the memory of a tensor has room for, of a part of another's only its own."""
    own = _moved.get(self)
    return int(self.untyped_storage().nbytes()) // self.element_size() if own is None else own


def npu_change_data_ptr(dst: Tensor, src: Tensor, index: int) -> int:
    """Let a tensor's memory be that of another from an element on, and return 0. RuntimeError where it does not fit."""
    if dst.device.type != "npu" or src.device != dst.device or src.dtype is not dst.dtype:
        raise RuntimeError("npu_change_data_ptr: both tensors must be on one npu device and have one dtype")
    if not dst.is_contiguous() or not src.is_contiguous():
        raise RuntimeError("npu_change_data_ptr: both tensors must be contiguous")
    if index < 0 or index + dst.numel() > src.numel():
        raise RuntimeError(f"npu_change_data_ptr: {dst.numel()} elements from {index} on are not in {src.numel()}")
    dst.data = src.detach().view(-1)[index : index + dst.numel()].view(dst.shape)
    _moved[dst] = dst.numel()
    return 0


@operator(
    "empty_with_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, int acl_format=2, int base_addr_aligned_kb=16) -> Tensor"
)
def empty_with_format(
    size: Sequence[int], *, dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: torch.device | None = None, pin_memory: bool | None = None, acl_format: int = ND, base_addr_aligned_kb: int = 16,
) -> Tensor:  # fmt: skip
    """Return an uninitialised tensor; the format is advice."""
    format = wanted(acl_format)
    return keep(torch.empty(size, dtype=dtype, device="npu" if device is None else device), format)


@operator("empty_with_swapped_memory(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor")
def empty_with_swapped_memory(
    size: Sequence[int], *, dtype: torch.dtype | None = None, device: torch.device | None = None
) -> Tensor:
    """Return a tensor of zeros, or of what new memory is filled with, for what is seldom used; here it lies in the
    device's own memory."""
    if device is not None and device.type != "npu":
        raise RuntimeError("Expected all tensors to be on the same device, expected device: npu.")
    made = torch.zeros(size, dtype=dtype, device="npu" if device is None else device)
    value = filling(made._sig.spec.np_dtype)
    return made if value is None else made.fill_(value)


@operator("npu_dtype_cast(Tensor self, ScalarType dtype, int? input_dtype=None) -> Tensor")
def npu_dtype_cast(self: Tensor, dtype: torch.dtype, input_dtype: int | None = None) -> Tensor:
    """Return the tensor in another dtype."""
    return self.to(dtype)


@operator("npu_dtype_cast_(Tensor(a!) self, Tensor src) -> Tensor(a!)")
def npu_dtype_cast_(self: Tensor, src: Tensor) -> Tensor:
    """Copy another tensor into this one, converting."""
    return self.copy_(src)


@operator("npu_confusion_transpose(Tensor self, int[] perm, int[] shape, bool transpose_first) -> Tensor")
def npu_confusion_transpose(self: Tensor, perm: Sequence[int], shape: Sequence[int], transpose_first: bool) -> Tensor:
    """Return the tensor permuted and then reshaped, or the other way round."""
    if transpose_first:
        return self.permute(*perm).reshape(tuple(shape))
    return self.reshape(tuple(shape)).permute(*perm).contiguous()


@operator("npu_transpose(Tensor self, int[] perm, bool require_contiguous=True) -> Tensor", out=True)
def npu_transpose(self: Tensor, perm: Sequence[int], require_contiguous: bool = True) -> Tensor:
    """Return the tensor with dimensions in another order, packed."""
    made = self.permute(*perm)
    return made.contiguous() if require_contiguous else made


@operator("npu_broadcast(Tensor self, int[] size) -> Tensor", out=True)
def npu_broadcast(self: Tensor, size: Sequence[int]) -> Tensor:
    """Return the tensor broadcast to a shape, packed."""
    return self.expand(*size).contiguous()


@operator("npu_reshape(Tensor self, int[] shape, bool can_refresh=False) -> Tensor", out=True)
def npu_reshape(self: Tensor, shape: Sequence[int], can_refresh: bool = False) -> Tensor:
    """Return the tensor in another shape."""
    return self.reshape(tuple(shape))


@operator("npu_slice(Tensor self, int[] offsets, int[] size) -> Tensor", out=True)
def npu_slice(self: Tensor, offsets: Sequence[int], size: Sequence[int]) -> Tensor:
    """Return a box of the tensor: where it begins and how large it is."""
    for dim, (start, length) in enumerate(zip(offsets, size, strict=True)):
        self = self.narrow(dim, start, self.shape[dim] - start if length == -1 else length)
    return self.contiguous()


@operator(
    "npu_indexing(Tensor self, int[] begin, int[] end, int[] strides, int begin_mask=0, int end_mask=0, "
    "int ellipsis_mask=0, int new_axis_mask=0, int shrink_axis_mask=0) -> Tensor",
    out=True,
)
def npu_indexing(
    self: Tensor, begin: Sequence[int], end: Sequence[int], strides: Sequence[int], begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Tensor:  # fmt: skip
    """Return `self[begin[0]:end[0]:strides[0], ...]`; a bit of a mask leaves a bound out or changes a place's meaning."""
    places: list[int | slice | object | None] = []
    for place, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            places.append(...)
        elif new_axis_mask & bit:
            places.append(None)
        elif shrink_axis_mask & bit:
            places.append(first)
        else:
            places.append(slice(None if begin_mask & bit else first, None if end_mask & bit else last, step))
    return self[tuple(places)].contiguous()


@operator("npu_pad(Tensor input, int[] paddings) -> Tensor")
def npu_pad(input: Tensor, paddings: Sequence[int]) -> Tensor:
    """Return the tensor with zeros around it: how many before and after each dimension, the first first."""
    pairs = [paddings[place : place + 2] for place in range(0, len(paddings), 2)]
    return F.pad(input, [number for pair in reversed(pairs) for number in pair])


@operator("npu_one_hot(Tensor self, int num_classes=-1, int depth=1, Scalar on_value=1, Scalar off_value=0) -> Tensor")
def npu_one_hot(
    self: Tensor, num_classes: int = -1, depth: int = 1, on_value: float = 1, off_value: float = 0
) -> Tensor:
    """Return rows that are `on_value` at the given places, as float."""
    return torch.where(F.one_hot(self.long(), depth).bool(), float(on_value), float(off_value))


@operator("npu_max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def npu_max(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the largest along a dimension and where it is, as int32."""
    values, places = torch.max(self, dim, keepdim)
    return values, places.to(torch.int32)


@operator("npu_min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
def npu_min(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest along a dimension and where it is, as int32."""
    values, places = torch.min(self, dim, keepdim)
    return values, places.to(torch.int32)


@operator("npu_sort_v2(Tensor self, int dim=-1, bool descending=False) -> Tensor", out=True)
def npu_sort_v2(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Return the tensor sorted along a dimension."""
    return torch.sort(self, dim=dim, descending=descending)[0]


@operator("reverse(Tensor self, int[] axis) -> Tensor")
def reverse(self: Tensor, axis: Sequence[int]) -> Tensor:
    """Return the tensor turned around along some dimensions."""
    return self.flip(tuple(axis))


@operator("npu_scatter_nd_update(Tensor self, Tensor indices, Tensor updates) -> Tensor")
def npu_scatter_nd_update(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Return the tensor with rows put to the places that the last dimension of `indices` names."""
    return self.index_put(tuple(indices.long().unbind(-1)), updates)


@operator("npu_scatter_nd_update_(Tensor(a!) self, Tensor indices, Tensor updates) -> Tensor(a!)")
def npu_scatter_nd_update_(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """`npu_scatter_nd_update` in place."""
    return self.index_put_(tuple(indices.long().unbind(-1)), updates)


@operator("scatter_update(Tensor self, Tensor indices, Tensor updates, int axis) -> Tensor")
def scatter_update(self: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Return the tensor with each sample's update written along an axis from where its index says."""
    return scatter_update_(self.clone(), indices, updates, axis)


@operator("scatter_update_(Tensor(a!) self, Tensor indices, Tensor updates, int axis) -> Tensor(a!)")
def scatter_update_(self: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """`scatter_update` in place."""
    for sample, start in enumerate(indices.flatten().tolist()):
        along = axis % self.dim() - 1
        self[sample].narrow(along, start, updates.shape[along + 1]).copy_(updates[sample])
    return self


@operator(
    "npu_scatter_list(Tensor[] self, Tensor indices, Tensor updates, Tensor? mask=None, str reduce='update', int axis=-2) "
    "-> Tensor[]"
)
def npu_scatter_list(
    self: Sequence[Tensor], indices: Tensor, updates: Tensor, mask: Tensor | None = None, reduce: str = "update",
    axis: int = -2,
) -> list[Tensor]:  # fmt: skip
    """Return the tensors, each with its part of the updates written along an axis from where its index says."""
    made = [one.clone() for one in self]
    npu_scatter_list_(made, indices, updates, mask, reduce, axis)
    return made


@operator(
    "npu_scatter_list_(Tensor(a!)[] self, Tensor indices, Tensor updates, Tensor? mask=None, str reduce='update', "
    "int axis=-2) -> ()"
)
def npu_scatter_list_(
    self: Sequence[Tensor], indices: Tensor, updates: Tensor, mask: Tensor | None = None, reduce: str = "update",
    axis: int = -2,
) -> None:  # fmt: skip
    """`npu_scatter_list` in place. A place is a start, or a start and a length; `mask` leaves tensors as they are."""
    if reduce != "update":
        raise ValueError(f"reduce must be 'update', but got {reduce!r}")
    wanted = [True] * len(self) if mask is None else mask.bool().tolist()
    for place, (one, at) in enumerate(zip(self, indices.tolist(), strict=True)):
        if wanted[place]:
            start, length = at if isinstance(at, list) else (at, updates.shape[axis])
            one.narrow(axis, start, length).copy_(updates[place].narrow(axis, 0, length))


@operator("npu_scatter(Tensor self, Tensor indices, Tensor updates, int dim) -> Tensor")
def npu_scatter(self: Tensor, indices: Tensor, updates: Tensor, dim: int) -> Tensor:
    """Return the tensor with one element of each line along a dimension put to the place that is given for it."""
    return self.scatter(dim, indices.long().unsqueeze(dim), updates.unsqueeze(dim))


@operator("npu_gather_sparse_index(Tensor input, Tensor index) -> Tensor")
def npu_gather_sparse_index(input: Tensor, index: Tensor) -> Tensor:
    """Return the rows of the given numbers."""
    return input[index.long()]


@operator("npu_stride_copy(Tensor self, int[] shape, int[] stride, Scalar storage_offset) -> Tensor", out=True)
def npu_stride_copy(self: Tensor, shape: Sequence[int], stride: Sequence[int], storage_offset: int) -> Tensor:
    """Return a packed copy of `as_strided`."""
    return self.as_strided(tuple(shape), tuple(stride), int(storage_offset)).clone()


@operator("npu_view_copy(Tensor(a!) self, Tensor other, bool non_blocking) -> Tensor(a!)")
def npu_view_copy(self: Tensor, other: Tensor, non_blocking: bool) -> Tensor:
    """Copy another tensor into this one."""
    return self.copy_(other, non_blocking)


@operator("npu_sign_bits_pack(Tensor self, int size) -> Tensor")
def npu_sign_bits_pack(self: Tensor, size: int) -> Tensor:
    """Return a bit for each number, one where it is not negative, eight in a byte, the first lowest, in `size` rows."""
    bits = torch.cat((self >= 0, torch.zeros(-self.numel() % 8, dtype=torch.bool, device=self.device)))
    places = 2 ** torch.arange(8, device=self.device)
    packed = (bits.reshape(-1, 8).long() * places).sum(-1).to(torch.uint8)
    if packed.numel() % size:
        raise ValueError(f"{packed.numel()} bytes do not make {size} rows")
    return packed.reshape(size, -1)


@operator("npu_sign_bits_unpack(Tensor input, int size, ScalarType dtype) -> Tensor")
def npu_sign_bits_unpack(input: Tensor, size: int, dtype: torch.dtype) -> Tensor:
    """Return one for each bit that is set and minus one for the others, in `size` rows."""
    places = 2 ** torch.arange(8, device=input.device)
    bits = torch.bitwise_and(input.long().reshape(-1, 1), places) != 0
    return torch.where(bits, 1, -1).to(dtype).reshape(size, -1)


@operator("one_(Tensor(a!) self) -> Tensor(a!)")
def one_(self: Tensor) -> Tensor:
    """Write ones."""
    return self.fill_(1)


@operator("npu_stride_add(Tensor self, Tensor other, Scalar offset1, Scalar offset2, Scalar c1_len) -> Tensor")
def npu_stride_add(self: Tensor, other: Tensor, offset1: int, offset2: int, c1_len: int) -> Tensor:
    """Return the sum of some channels of both, in blocks of 16 from an offset on; channels behind the last are zeros."""
    first, second = (
        F.pad(one, [0, 0, 0, 0, 0, max(0, (offset + c1_len) * 16 - one.shape[1])])[
            :, offset * 16 : (offset + c1_len) * 16
        ]
        for one, offset in ((self, int(offset1)), (other, int(offset2)))
    )
    return first + second


@operator(
    "npu_transpose_trans_contiguous.out(Tensor self, int[] perm, bool require_contiguous=True, *, Tensor(a!) out) "
    "-> Tensor(a!)"
)
def npu_transpose_trans_contiguous(
    self: Tensor, perm: Sequence[int], require_contiguous: bool = True, *, out: Tensor
) -> Tensor:
    """Write the tensor with its dimensions in another order."""
    return out.copy_(self.permute(tuple(perm)))


@operator(
    "unsafe_empty_with_format(int[] size, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, int acl_format=2, bool keep_format=False) -> Tensor"
)
def unsafe_empty_with_format(
    size: Sequence[int], dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: torch.device | None = None, pin_memory: bool | None = None, acl_format: int = 2, keep_format: bool = False,
) -> Tensor:  # fmt: skip
    """Return a tensor that nothing was written to; the format is advice."""
    return torch.empty(tuple(size), dtype=dtype, device="npu" if device is None else device)
