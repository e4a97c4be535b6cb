"""Strided nested tensors by shape and by product: selection, reshaping, joining, sums of the last dimension, products, attention.

What torch has a kernel for is here, with its errors; dimensions are counted with the batch, which stays the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch

from .strided import _SIZES, StridedNestedTensor, _answers, _not_offered, _table

_PLEASE = (
    "is not supported at the moment if you need this feature, please open an issue on github describing your use case."
)


def _dim(input: StridedNestedTensor, dim: int, more: int = 0) -> int:
    rank = input.dim() + more
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def _part(input: StridedNestedTensor, index: int) -> Any:
    count = len(input._parts)
    if not -count <= index < count:
        raise IndexError(f"index {index} is out of bounds for dimension 0 with size {count}")
    return input._parts[index]


@_answers
def __getitem__(input: StridedNestedTensor, index: Any) -> Any:
    """One of the tensors, further indices of a tuple taken from it; the nested tensor itself for an ellipsis."""
    first, *rest = index if isinstance(index, tuple) and index else (index,)
    if isinstance(first, int) and not isinstance(first, bool):
        part = _part(input, first)
        for one in rest[:1]:
            if isinstance(one, int) and not -part.shape[0] <= one < part.shape[0]:
                raise IndexError(f"index {one} is out of bounds for dimension 1 with size {part.shape[0]}")
        return part[tuple(rest)] if rest else part
    if first is Ellipsis and not rest:
        return StridedNestedTensor(input._parts, buffer=input._buffer)
    if first is None:
        return unsqueeze(input, 0)
    raise _not_offered("slice.Tensor" if isinstance(first, slice) else "index.Tensor")


@_answers
def select(input: StridedNestedTensor, dim: int, index: int) -> Any:
    """One of the tensors, or of each of them what stands at an index of a dimension."""
    place = _dim(input, dim)
    if place == 0:
        return _part(input, index)
    for at, part in enumerate(input._parts):
        extent = part.shape[place - 1]
        if not -extent <= index < extent:
            raise IndexError(
                f"index {index} is out of bounds for dimension {place - 1} of the {at}th constituent tensor with size {extent}"
            )
    return StridedNestedTensor([part.select(place - 1, index) for part in input._parts])


@_answers
def narrow(input: StridedNestedTensor, dim: int, start: int, length: int) -> Any:
    """Some of the tensors, one after another."""
    if dim != 0:
        raise RuntimeError(f"narrow(): only dim=0 supported for nested tensors, but got: {dim}")
    count = len(input._parts)
    if start + length > count:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({count}).")
    return StridedNestedTensor(input._parts[start : start + length])


def _reshaped(input: StridedNestedTensor, shape: tuple[Any, ...], name: str) -> Any:
    sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)
    count = len(input._parts)
    if not sizes or sizes[0] != count:
        raise RuntimeError(f"{name}: For now nested {name} cannot change or infer the implicit batch dimension")
    made = []
    for part in input._parts:
        # Minus one is the old extent of a dimension that was there, behind those what is left.
        wanted = [part.shape[at] if one == -1 and at < part.dim() else one for at, one in enumerate(sizes[1:])]
        known = [one for one in wanted if one != -1]
        if len(known) < len(wanted) and sizes.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        total = torch.Size(known).numel()
        if total != part.numel() if len(known) == len(wanted) else not total or part.numel() % total:
            raise RuntimeError(f"shape '{sizes}' is invalid for input of size {part.numel()}")
        made.append(getattr(part, name)(wanted))
    return StridedNestedTensor(made)


@_answers
def reshape(input: StridedNestedTensor, *shape: Any) -> Any:
    """Each tensor in another shape, the number of tensors said first."""
    return _reshaped(input, shape, "reshape")


@_answers
def view(input: StridedNestedTensor, *shape: Any) -> Any:
    """The same of the same memory."""
    return _reshaped(input, shape, "view")


@_answers
def unsqueeze(input: StridedNestedTensor, dim: int) -> Any:
    """Each tensor with a dimension of one element more."""
    place = _dim(input, dim, 1)
    if place == 0:
        raise RuntimeError(f"unsqueeze(): For nested tensors, unsqueezing dimension 0 {_PLEASE}")
    return StridedNestedTensor([part.unsqueeze(place - 1) for part in input._parts])


@_answers
def squeeze(input: StridedNestedTensor, dim: int | None = None) -> Any:
    """Each tensor without a dimension of one element."""
    if dim is None:
        raise RuntimeError(
            "squeeze(): For nested tensors, squeeze without the dim argument is not supported at the moment, however you can "
            "use squeeze(Tensor self, int dim) instead if you need this feature, please open an issue on github describing "
            "your use case."
        )
    place = _dim(input, dim)
    if place == 0:
        raise RuntimeError(f"squeeze(): For nested tensors, squeezing dimension 0 {_PLEASE}")
    return StridedNestedTensor([part.squeeze(place - 1) for part in input._parts])


@_answers
def chunk(input: StridedNestedTensor, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Equal pieces of the last dimension."""
    if _dim(input, dim) != input.dim() - 1:
        raise RuntimeError("Chunk for nested tensors is currently only supported for the last dimension.")
    extent = input.size(-1)
    if extent % chunks:
        raise RuntimeError(
            "Chunk for nested tensors is only supported for nested tensors with trailing dimension divisible by chunks, got: "
            f"{extent} % {chunks} != 0"
        )
    return tuple(
        StridedNestedTensor(pieces) for pieces in zip(*(part.chunk(chunks, -1) for part in input._parts), strict=True)
    )


@_answers
def sum(input: StridedNestedTensor, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Sums of the last dimension, which is kept."""
    if dim is None:
        raise _not_offered("sum")
    dims = dim if isinstance(dim, (tuple, list)) else (dim,)
    if dtype is not None:
        raise RuntimeError("NestedTensor does not support dtype argument for now.")
    if len(dims) != 1:
        raise RuntimeError("NestedTensor only allows reduction of a single dimension for now.")
    if _dim(input, dims[0]) != input.dim() - 1:
        raise RuntimeError(
            f"NestedTensor can only be reduced across the last dimension for now got dimension {dims[0]} instead."
        )
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    return StridedNestedTensor([part.sum(-1, keepdim=True) for part in input._parts])


@_answers
def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """All tensors of nested ones in one."""
    if not all(isinstance(one, StridedNestedTensor) for one in tensors):
        raise RuntimeError("Expected each tensor in given list to be nested.")
    if dim != 0:
        raise _not_offered("cat")
    return StridedNestedTensor([part for one in tensors for part in one._parts])


def _column(extents: Sequence[int]) -> str:
    """Return a tensor of sizes as C++ prints it."""
    width = max(len(str(one)) for one in extents)
    rows = "\n".join(f"{one:>{width}}" if at == 0 else f" {one:>{width}}" for at, one in enumerate(extents))
    return f"{rows}\n[ torch.LongTensor{{{len(extents)}}} ]"


@_answers
def matmul(input: Any, other: Any) -> Any:
    """The matrix product of each two tensors."""
    words = ["nested" if isinstance(one, StridedNestedTensor) else "non-nested" for one in (input, other)]
    if words != ["nested", "nested"]:
        raise RuntimeError(f"Expected both to be nested, but got a {words[0]} self and {words[1]} other")
    if input.dim() != other.dim():
        raise RuntimeError("matmul: both inputs must have the same rank")
    inner = [(one.shape[-1], two.shape[-2]) for one, two in zip(input._parts, other._parts, strict=True)]
    if any(one != two for one, two in inner):
        mine, theirs = (_column(extents) for extents in zip(*inner, strict=True))
        raise RuntimeError(
            f"matmul: Nested tensors cannot be matrix multiplied, last dimension of self has sizes {mine}second last dimension "
            f"of mat2 has sizes {theirs}"
        )
    return StridedNestedTensor([one @ two for one, two in zip(input._parts, other._parts, strict=True)])


@_answers
def bmm(input: StridedNestedTensor, mat2: Any) -> Any:
    """The product of each matrix with that of another nested tensor, or of a batch."""
    count, others = len(input._parts), mat2._parts if isinstance(mat2, StridedNestedTensor) else mat2.unbind()
    if len(others) != count:
        raise RuntimeError(
            f"Expected size for the 1st dimension of batch2 tensor to be: {count} but got: {len(others)}."
        )
    for at, (one, two) in enumerate(zip(input._parts, others, strict=True)):
        if one.shape[1] != two.shape[0]:
            shapes = " and ".join("x".join(map(str, each.shape)) for each in (one, two))
            raise RuntimeError(f"{at}-th nested matrices in batch cannot be multiplied ({shapes})")
    return StridedNestedTensor([one @ two for one, two in zip(input._parts, others, strict=True)])


@_answers
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **named: Any,
) -> Any:
    """Attention within each tensor of heads, positions and features."""
    start = "Nested tensors for query / key are not supported when"
    if attn_mask is not None:
        raise RuntimeError(f"Scaled_dot_product_attention: {start} an explicit attn_mask is set")
    if not all(one.is_contiguous() for one in (query, key, value)):
        raise RuntimeError("scaled_dot_product_attention: If inputs are nested tensors they must be contiguous")
    if is_causal:
        raise RuntimeError(f"_scaled_dot_product_attention: {start} is_causal=True")
    attend = torch.nn.functional.scaled_dot_product_attention
    rows = zip(query._parts, key._parts, value._parts, strict=True)
    return StridedNestedTensor([attend(*row, dropout_p=dropout_p, **named) for row in rows])


@_answers
def eq(input: StridedNestedTensor, other: Any) -> Any:
    """Where elements equal a number."""
    if isinstance(other, StridedNestedTensor):
        raise RuntimeError("eq does not support nested tensor as other value.")
    return StridedNestedTensor([part == other for part in input._parts])


@_answers
def copy_(input: StridedNestedTensor, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of a nested tensor of the same sizes into this one."""
    if not isinstance(src, StridedNestedTensor):
        raise RuntimeError("get_nested_tensor_impl requires a NestedTensor.")
    for part, one in zip(input._parts, src._parts, strict=True):
        part.copy_(one)
    return input


@_answers
def _nested_tensor_strides(input: StridedNestedTensor) -> Any:
    """The strides, a row for each tensor."""
    return torch.tensor([list(part.stride()) for part in input._parts], dtype=torch.int64)


@_answers
def element_size(input: StridedNestedTensor) -> int:
    """Bytes of an element."""
    return input.dtype.itemsize


@_answers
def is_pinned(input: StridedNestedTensor, device: Any = None) -> bool:
    """Whether the tensors lie in pinned memory."""
    return all(part.is_pinned() for part in input._parts)


@_answers
def _nested_tensor_storage_offsets(input: StridedNestedTensor) -> Any:
    """Where the tensors begin in memory."""
    return torch.tensor([part.storage_offset() for part in input._parts], dtype=torch.int64)


@_answers
def __format__(input: StridedNestedTensor, format_spec: str) -> str:
    """The tensor as text."""
    return object.__format__(input, format_spec)


def _refused(what: str) -> Callable[..., Any]:
    def refuse(*args: Any, **named: Any) -> Any:
        raise RuntimeError(_SIZES.format(what))

    return refuse


_table.update({name: _refused("sizes") for name in ("__len__", "flatten", "unflatten")}, tolist=_refused("strides"))
_table["__eq__"] = _table["eq"]
_table["__matmul__"] = _table["matmul"]
