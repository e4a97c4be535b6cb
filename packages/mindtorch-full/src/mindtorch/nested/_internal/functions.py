"""Functions of nested tensors that are not elementwise, each on the packed elements, through which gradients flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from .nested_int import is_ragged
from .nested_tensor import NestedTensor, like, view_of_values

_table: dict[str, Callable[..., Any]] = {}


def find(func: Any) -> Callable[..., Any] | None:
    """Return what answers a call of `func` with nested operands, None for what is elementwise."""
    return _table.get(getattr(func, "__name__", ""))


def named(name: str) -> Callable[..., Any] | None:
    """Return what answers the operator of this name."""
    return _table.get(name)


def answers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _table.update(dict.fromkeys(names, function))
        return function

    return register


def place_of(nested: Any, dim: int, extra: int = 0) -> int:
    """Return a dimension counted from the front; torch's error where there is none such."""
    rank = len(nested._size) + extra
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def _inner(nested: Any, dim: int, name: str, ragged_too: bool = False, extra: int = 0) -> int:
    """Return the dimension of the packed elements; torch's error for the batch's, and the ragged one unless that may be."""
    place = place_of(nested, dim, extra)
    if place == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    if place == nested._ragged_idx and not ragged_too:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    return place - 1


@answers("unbind")
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """The tensors of which the nested one is made."""
    if place_of(input, dim) != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    values = input.values()
    return tuple(values.narrow(input._ragged_idx - 1, start, length) for start, length in input._bounds())


def joined(parts: Any, nested: Any) -> Any:
    """Return the tensors one after the other, with the raggedness of `nested`, contiguous."""
    values = torch.cat(list(parts), nested._ragged_idx - 1)
    if nested._lengths is None:
        return like(nested, values)
    zero = torch.zeros_like(nested._lengths[:1])
    return view_of_values(values, torch.cat([zero, nested._lengths.cumsum(0)]), None, nested._ragged_idx)


@answers("contiguous")
def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensors one after the other without gaps."""
    if self.is_contiguous():
        return self
    return like(self, self.values().contiguous()) if self._lengths is None else joined(unbind(self), self)


@answers("to_padded_tensor", "nested_to_padded_tensor")
def to_padded_tensor(input: Any, padding: float, output_size: Any = None) -> Any:
    """A dense tensor, filled up behind each tensor."""
    place = input._ragged_idx - 1
    longest = input._longest() if output_size is None else output_size[input._ragged_idx]
    padded = []
    for part in unbind(input):
        kept = part.narrow(place, 0, min(longest, part.shape[place]))
        behind = [0, 0] * (part.dim() - 1 - place) + [0, longest - kept.shape[place]]
        padded.append(torch.nn.functional.pad(kept, behind, value=padding))
    return torch.stack(padded)


@answers("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """A product with a matrix for every element."""
    return like(input, torch.nn.functional.linear(input.values(), weight, bias))


@answers("matmul", "__matmul__", "bmm", "__rmatmul__")
def matmul(input: Any, other: Any) -> Any:
    """Products of matrices, tensor by tensor."""
    one_nested, other_nested = isinstance(input, NestedTensor), isinstance(other, NestedTensor)
    if not one_nested and other._ragged_idx == len(other._size) - 1:
        if input.dim() <= 2:
            return like(other, torch.matmul(input, other.values()))
        return transpose(matmul(transpose(other, -2, -1), input.transpose(-2, -1)), -2, -1)
    if one_nested and not other_nested and other.dim() <= 2:
        return like(input, torch.matmul(input.values(), other))
    shapes = f"{input._size if one_nested else input.shape} and {other.shape}"
    refused = RuntimeError(f"matmul(): not supported between inputs of shapes {shapes}")
    if one_nested and not other_nested and input._ragged_idx == len(input._size) - 2:
        return joined([torch.matmul(*pair) for pair in zip(unbind(input), other.unbind(0), strict=True)], input)
    ragged_inside = one_nested and other_nested and input._ragged_idx == len(input._size) - 1
    if ragged_inside and other._ragged_idx == len(other._size) - 2:
        return torch.stack([torch.matmul(*pair) for pair in zip(unbind(input), unbind(other), strict=True)])
    raise refused


def _normalized(name: str) -> Callable[..., Any]:
    def computed(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
        place = place_of(input, dim)
        if place == 0:
            raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
        function = getattr(torch, name)
        if place == input._ragged_idx:
            return joined([function(part, place - 1, dtype=dtype) for part in unbind(input)], input)
        return like(input, function(input.values(), place - 1, dtype=dtype))

    return computed


for _name in ("softmax", "log_softmax"):
    _table[_name] = _normalized(_name)


def _of_values(name: str) -> Callable[..., Any]:
    def computed(input: Any, *rest: Any, **options: Any) -> Any:
        return like(input, getattr(torch.nn.functional, name)(input.values(), *rest, **options))

    return computed


for _name in ("layer_norm", "rms_norm", "dropout", "embedding", "one_hot"):
    _table[_name] = _of_values(_name)


@answers("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged, neither of them the batch's."""
    one, two = place_of(input, dim0), place_of(input, dim1)
    if one == two:
        return input
    if 0 in (one, two) and input._ragged_idx in (one, two):
        raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
    if 0 in (one, two):
        raise RuntimeError("transpose(): not supported for NestedTensor on dim=0")
    ragged = {one: two, two: one}.get(input._ragged_idx, input._ragged_idx)
    return like(input, input.values().transpose(one - 1, two - 1), ragged)


@answers("permute")
def permute(input: Any, *dims: Any) -> Any:
    """Dimensions in another order, the batch's first."""
    given = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    order = [place_of(input, dim) for dim in given]
    if order[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return like(input, input.values().permute([dim - 1 for dim in order[1:]]), order.index(input._ragged_idx))


@answers("unsqueeze")
def unsqueeze(input: Any, dim: int) -> Any:
    """A dimension of extent 1 more."""
    place = _inner(input, dim, "unsqueeze", True, 1)
    return like(input, input.values().unsqueeze(place), input._ragged_idx + (place < input._ragged_idx))


@answers("squeeze")
def squeeze(input: Any, dim: Any) -> Any:
    """Without dimensions of extent 1."""
    dims = [_inner(input, one, "squeeze") for one in ([dim] if isinstance(dim, int) else dim)]
    values = input.values()
    gone = [one for one in dims if values.shape[one] == 1]
    return like(input, values.squeeze(gone), input._ragged_idx - sum(one < input._ragged_idx - 1 for one in gone))


def _viewed(name: str) -> Callable[..., Any]:
    def computed(self: Any, *size: Any, **options: Any) -> Any:
        given = options.get(
            "shape", size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, torch.Size)) else size
        )
        wanted, before, ragged = list(given), self._size, self._ragged_idx
        refused = RuntimeError(f"view(): cannot view shape {before} as {wanted}")
        if (len(wanted) < 3 and len(before) > 2) or not wanted or wanted[0] not in (before[0], -1):
            raise refused
        places = [place for place, extent in enumerate(wanted) if extent == before[ragged] and is_ragged(extent)]
        if not places:
            places = [ragged] if ragged < len(wanted) and wanted[ragged] == -1 else []
        if not places or (ragged == 1) is not (places[0] == 1):
            raise refused
        target = [self._values.shape[ragged - 1] if place == places[0] else n for place, n in enumerate(wanted)][1:]
        return like(self, getattr(self.values(), name)(target), places[0])

    return computed


for _name in ("view", "reshape"):
    _table[_name] = _viewed(_name)


@answers("expand")
def expand(self: Any, *size: Any) -> Any:
    """Dimensions of extent 1 repeated."""
    wanted = list(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list, torch.Size)) else size)
    inner = [-1 if place == self._ragged_idx else extent for place, extent in enumerate(wanted)][1:]
    return like(self, self.values().expand(inner))


@answers("expand_as")
def expand_as(self: Any, other: Any) -> Any:
    """Dimensions of extent 1 repeated as often as in another nested tensor."""
    return expand(self, other.shape)


@answers("flatten")
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions behind the ragged one made into one."""
    first, last = place_of(input, start_dim), place_of(input, end_dim)
    if first == last:
        return input
    if first == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on dim=0")
    if first <= input._ragged_idx <= last:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    moved = last - first if input._ragged_idx > last else 0
    return like(input, input.values().flatten(first - 1, last - 1), input._ragged_idx - moved)


@answers("unflatten")
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One dimension made into several."""
    place = _inner(input, dim, "unflatten")
    moved = len(sizes) - 1 if place < input._ragged_idx - 1 else 0
    return like(input, input.values().unflatten(place, list(sizes)), input._ragged_idx + moved)


def _part_of_batch(nested: Any, first: int, last: int) -> Any:
    offsets = nested._offsets[first : last + 1]
    start, end = int(offsets[0]), int(offsets[-1])
    values = nested.values().narrow(nested._ragged_idx - 1, start, end - start)
    return view_of_values(values, offsets - start, None, nested._ragged_idx)


@answers("chunk")
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Parts along a dimension, or of the batch."""
    if place_of(input, dim) == 0:
        count = input._size[0]
        step = -(-count // chunks)
        return tuple(_part_of_batch(input, at, min(at + step, count)) for at in range(0, count, step))
    place = _inner(input, dim, "chunk")
    return tuple(like(input, part) for part in input.values().chunk(chunks, place))


@answers("split", "split_with_sizes")
def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts along a dimension."""
    place = _inner(tensor, dim, "split" if isinstance(split_size_or_sections, int) else "split_with_sizes")
    return tuple(like(tensor, part) for part in tensor.values().split(split_size_or_sections, place))


@answers("select")
def select(input: Any, dim: int, index: int) -> Any:
    """One tensor, or one index of a dimension of all."""
    if place_of(input, dim) == 0:
        return unbind(input)[index]
    place = _inner(input, dim, "select")
    return like(input, input.values().select(place, index), input._ragged_idx - (place < input._ragged_idx - 1))


@answers("narrow")
def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """A part along a dimension that is not ragged."""
    return like(input, input.values().narrow(_inner(input, dim, "narrow"), start, length))


@answers("slice")
def slice_of(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """Every `step`th index of a dimension that is not ragged, from one to another."""
    return like(input, torch.ops.aten.slice(input.values(), _inner(input, dim, "slice"), start, end, step))


@answers("is_same_size")
def is_same_size(self: Any, other: Any) -> bool:
    """Whether two nested tensors have the same sizes, the ragged one included."""
    return isinstance(self, NestedTensor) and isinstance(other, NestedTensor) and self._size == other._size


@answers("__getitem__")
def getitem(self: Any, index: Any) -> Any:
    """One tensor, or a part along dimensions that are not ragged."""
    items = list(index) if isinstance(index, tuple) else [index]
    spread = Ellipsis in items
    if spread:
        at = items.index(Ellipsis)
        items[at : at + 1] = [slice(None)] * (len(self._size) - len(items) + 1)
    if items and isinstance(items[0], int):
        return unbind(self)[items[0]][tuple(items[1:])] if len(items) > 1 else unbind(self)[items[0]]
    if not spread:
        raise RuntimeError("slice(): not supported for NestedTensor on dim=0")
    if len(items) > self._ragged_idx and items[self._ragged_idx] != slice(None):
        raise RuntimeError("slice(): not supported for NestedTensor on ragged dim")
    gone = sum(isinstance(item, int) for item in items[1 : self._ragged_idx])
    return like(self, self.values()[tuple(items[1:])], self._ragged_idx - gone)


@answers("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Nested tensors joined along a dimension that is not ragged."""
    return like(tensors[0], torch.cat([one.values() for one in tensors], _inner(tensors[0], dim, "cat")))


@answers("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Nested tensors joined along a new dimension."""
    first = tensors[0]
    if any(not isinstance(one, NestedTensor) or one._size != first._size for one in tensors):
        raise RuntimeError("stack(): expected all nested tensors to have the same nested structure")
    place = _inner(first, dim, "stack", True, 1)
    return like(
        first, torch.stack([one.values() for one in tensors], place), first._ragged_idx + (place < first._ragged_idx)
    )


@answers("scaled_dot_product_attention")
def attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention of each tensor's own places, of heads before the ragged dimension."""
    if attn_mask is not None:
        raise RuntimeError("NestedTensor: attn_mask is not supported for the jagged layout; use is_causal or none")
    if len(query._size) != 4:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    parts = zip(unbind(query), unbind(key), unbind(value), strict=True)
    function: Any = torch.nn.functional.scaled_dot_product_attention
    found = [
        function(*(one.unsqueeze(0) for one in each), None, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        for each in parts
    ]
    packed = torch.cat([one.squeeze(0) for one in found], 1).transpose(0, 1).contiguous()
    outer = contiguous(transpose(query, 1, 2)) if query._lengths is not None else query
    return transpose(view_of_values(packed, outer._offsets, None, 1, outer._metadata_cache), 1, 2)


adopt(globals())
