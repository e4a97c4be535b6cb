"""Elementwise operators on nested tensors: the operator itself on packed elements, dense operands spread over them."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from . import functions
from .nested_tensor import NestedTensor, like

_ALIKE = frozenset(
    "detach alias clone _to_copy empty_like zeros_like ones_like full_like rand_like randn_like randint_like fill_ zero_ "
    "copy_ where bernoulli_ uniform_ normal_ native_dropout native_dropout_backward random_ bernoulli".split()
)
_WHOLE = frozenset("sum max min any all argmax argmin mean prod equal".split())


def compute(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return what the overload `func` gives of nested operands; NotImplementedError of torch where it is not elementwise."""
    name = func._schema.name.partition("::")[2]
    first = next(one for one in _tensors(args, kwargs) if isinstance(one, NestedTensor))
    if name == "sum" and func._overloadname == "dim_IntList":
        return _summed(first, *args[1:], **kwargs)
    if name in _WHOLE and func._overloadname in ("default", ""):
        return func(*(_values(one, first, func) for one in args), **kwargs)
    answer = functions.named(name)
    if answer is not None:
        with torch.no_grad():
            return answer(*args, **kwargs)
    if name not in _ALIKE and torch.Tag.pointwise not in func.tags:
        raise NotImplementedError(f"{func}")
    result = func(
        *(_values(one, first, func) for one in args), **{key: _values(one, first, func) for key, one in kwargs.items()}
    )
    if name.endswith("_"):
        return args[0]
    if isinstance(result, tuple):
        return tuple(like(first, one) for one in result)
    return like(first, result)


def _tensors(args: Any, kwargs: dict[str, Any]) -> Any:
    for one in (*args, *kwargs.values()):
        yield from one if isinstance(one, (list, tuple)) else (one,)


def _values(operand: Any, first: Any, func: Any) -> Any:
    if isinstance(operand, NestedTensor):
        if operand._size != first._size and not _spreads(operand, first) and not _may_copy(operand, first, func):
            packet = str(func).removeprefix("aten.")
            raise RuntimeError(
                f"cannot call binary pointwise function {packet} with inputs of shapes {first._size} and {operand._size}"
            )
        return operand._values
    if not isinstance(operand, torch.Tensor) or operand.dim() == 0:
        return operand
    return spread(operand, first, func)


def _spreads(one: Any, other: Any) -> bool:
    same = one._offsets is other._offsets and one._lengths is other._lengths and one._ragged_idx == other._ragged_idx
    return same and len(one._size) == len(other._size)


def _may_copy(one: Any, other: Any, func: Any) -> bool:
    return func._schema.name == "aten::copy_" and bool(torch.equal(one._offsets, other._offsets))


def segments(nested: Any) -> tuple[Any, Any]:
    """Return for each packed place which tensor it belongs to, and where it stands in it."""
    lengths = nested._offsets.diff()
    device = lengths.device
    member = torch.repeat_interleave(torch.arange(lengths.shape[0], device=device), lengths)
    return member, torch.arange(member.shape[0], device=device) - nested._offsets[member]


def spread(dense: Any, nested: Any, func: Any) -> Any:
    """Return a dense operand as it stands beside packed elements; torch's error where it does not broadcast."""
    rank, ragged = len(nested._size), nested._ragged_idx
    full = dense.reshape((1,) * (rank - dense.dim()) + tuple(dense.shape)) if dense.dim() < rank else dense
    if full.dim() == rank and full.shape[0] == 1 and full.shape[ragged] == 1:
        return full.squeeze(0)
    if full.dim() == rank and full.shape[0] in (1, nested._size[0]):
        member, place = segments(nested)
        if full.shape[0] == 1:
            member = torch.zeros_like(member)
        if full.shape[ragged] == 1:
            return full.squeeze(ragged)[member].movedim(0, ragged - 1)
        if full.shape[ragged] == nested._longest():
            return full.movedim(ragged, 1)[member, place].movedim(0, ragged - 1)
    packet = str(func).removeprefix("aten.")
    raise RuntimeError(
        f"cannot call binary pointwise function {packet} with inputs of shapes {nested.shape} and {dense.shape}"
    )


def _summed(nested: Any, dim: Any, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over dimensions: what broadcasting a dense operand over a nested one comes back by."""
    rank, ragged = len(nested._size), nested._ragged_idx
    dims = {one % rank for one in ([dim] if isinstance(dim, int) else dim or range(rank))}
    if 0 in dims and ragged not in dims:
        raise RuntimeError(
            "sum(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors"
        )
    inner = sorted(one - 1 for one in dims if one)
    if ragged not in dims:
        values = nested._values.sum(inner, keepdim=keepdim, dtype=dtype)
        gone = 0 if keepdim else sum(one < ragged for one in dims)
        return like(nested, values, ragged - gone)
    if 0 in dims:
        total = nested._values.sum(inner, keepdim=keepdim, dtype=dtype)
        return total.unsqueeze(0) if keepdim else total
    if len(dims) > 1:
        raise RuntimeError("sum(): reducing along a ragged and non-batch dimension is not supported for nested tensors")
    packed = nested._values.movedim(ragged - 1, 0)
    sums = packed.new_zeros((nested._size[0], *packed.shape[1:]), dtype=dtype or packed.dtype)
    sums = sums.index_add(0, segments(nested)[0], packed.to(sums.dtype))
    return sums.unsqueeze(ragged) if keepdim else sums


adopt(globals())
