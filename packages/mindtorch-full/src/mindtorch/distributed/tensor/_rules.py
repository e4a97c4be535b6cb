"""How ops keep tensors spread: for one dimension of the mesh, what the inputs must be and what the outputs then are.

A rule takes a `Call` and returns the placement that each tensor argument needs, and the placement of the output or of each
output. What no rule covers is computed on whole tensors, by `replicate_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard, _NormPartial

Answer = tuple[list[Any], Any]
R = Replicate()
RULES: dict[str, Callable[[Any], Answer]] = {}
REGISTERED: dict[Any, Callable[[Any], Answer]] = {}
"""The rules that programs gave, by overload."""

_LINEAR = frozenset(
    "neg clone detach alias _to_copy mul div add sub lift_fresh contiguous to copy_ mul_ div_ add_ sub_".split()
)
_LIKE = frozenset("ones_like zeros_like full_like empty_like new_zeros new_ones new_empty new_full".split())
_REDUCED = {"sum": "sum", "nansum": "sum", "mean": "avg", "amax": "max", "amin": "min"}


@dataclass
class Call:
    """An op, its arguments, and how its tensors are placed along one dimension of the mesh."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: list[tuple[int, ...]]
    placements: list[Placement]
    ways: int

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument given by place or by name."""
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, default)


def rule(*names: str) -> Callable[[Callable[[Any], Answer]], Callable[[Any], Answer]]:
    """Register a rule for ops."""

    def register(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def replicate_all(call: Call) -> Answer:
    """Compute on whole tensors."""
    return [R] * len(call.placements), R


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the shape to which all broadcast."""
    size = max(map(len, shapes))
    padded = [(1,) * (size - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*padded, strict=True))


def along(shape: Sequence[int], out: Sequence[int], dim: int) -> Placement:
    """Return the placement of an operand whose result is sharded at `dim`."""
    own = dim - (len(out) - len(shape))
    return Shard(own) if own >= 0 and shape[own] == out[dim] else R


def pointwise(call: Call, forbidden: Sequence[int] = ()) -> Answer:
    """Elementwise ops follow the first operand that is sharded."""
    out = broadcast(call.shapes)
    if call.name.endswith("_"):
        own = call.placements[0]
        if isinstance(own, Partial) and call.name not in _LINEAR:
            raise RuntimeError(
                f"aten.{call.name}: in-place operations that are not linear need a tensor without Partial"
            )
        if isinstance(own, Shard):
            return [along(shape, out, own.dim) for shape in call.shapes], own
        return [own] * len(call.shapes), own
    for shape, placement in zip(call.shapes, call.placements, strict=True):
        if isinstance(placement, Shard):
            dim = placement.dim + len(out) - len(shape)
            if dim not in forbidden and shape[placement.dim] == out[dim]:
                return [along(shape, out, dim) for shape in call.shapes], Shard(dim)
    partial = _linear(call)
    return ([partial, *call.placements[1:]], partial) if partial else replicate_all(call)


def _linear(call: Call) -> Placement | None:
    """Return the placement of a linear op on terms of a sum."""
    first = call.placements[0]
    others = call.placements[1:]
    if not isinstance(first, Partial) or call.name not in _LINEAR or first.reduce_op not in ("sum", "avg"):
        return None
    if call.name in ("add", "sub"):
        return first if others and all(other == first for other in others) else None
    return first if all(isinstance(other, Replicate) for other in others) else None


@rule(*_LIKE)
def _like(call: Call) -> Answer:
    own = call.placements[0]
    keeps = isinstance(own, Shard) and call.name.endswith("_like")
    return list(call.placements), own if keeps else R


@rule("_softmax", "_log_softmax", "_safe_softmax", "softmax", "log_softmax")
def _softmax(call: Call) -> Answer:
    return pointwise(call, [call.argument(1, "dim") % len(call.shapes[0])])


@rule("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(call: Call) -> Answer:
    return pointwise(call, [call.argument(2, "dim") % len(call.shapes[0])])


@rule("sum", "nansum", "mean", "amax", "amin")
def _reduce(call: Call) -> Answer:
    own, rank = call.placements[0], len(call.shapes[0])
    dims = call.argument(1, "dim")
    given = range(rank) if dims is None or dims == [] or dims == () else [dims] if isinstance(dims, int) else dims
    reduced = {dim % rank for dim in given} if rank else set()
    keepdim = bool(call.argument(2, "keepdim", False))
    if isinstance(own, Partial):
        linear = call.name in ("sum", "mean") and own.reduce_op in ("sum", "avg")
        return ([own], own) if linear else ([R], R)
    if isinstance(own, Shard):
        if own.dim in reduced:
            uneven = call.name == "mean" and call.shapes[0][own.dim] % call.ways != 0
            return ([R], R) if uneven else ([own], Partial(_REDUCED[call.name]))
        before = 0 if keepdim else sum(dim < own.dim for dim in reduced)
        return [own], Shard(own.dim - before)
    return [own], own


@rule("linalg_vector_norm", "norm")
def _norm(call: Call) -> Answer:
    own, dims = call.placements[0], call.argument(2, "dim")
    power = call.argument(1, "ord" if call.name == "linalg_vector_norm" else "p", 2)
    power = 2.0 if power is None else float(power)
    whole = dims is None and not call.argument(3, "keepdim", False)
    fixed = call.name == "norm" and len(call.args) > 2
    empty = call.ways > call.shapes[0][own.dim] if isinstance(own, Shard) else False
    if not isinstance(own, Shard) or not whole or fixed or (empty and power in (float("inf"), float("-inf"))):
        return [R], R
    return [own], _NormPartial(power)


@rule("mm", "addmm", "bmm", "baddbmm")
def _matmul(call: Call) -> Answer:
    extra = call.name in ("addmm", "baddbmm")
    left, right = call.placements[-2:]
    shapes = call.shapes[-2:]
    batch = len(shapes[0]) - 2
    needs, out = _product(left, right, batch, *shapes)
    if not extra:
        return needs, out
    whole = (*shapes[0][:-1], shapes[1][-1])
    bias = along(call.shapes[0], whole, out.dim) if isinstance(out, Shard) else out
    return [bias, *needs], out


def _product(left: Any, right: Any, batch: int, a: Sequence[int], b: Sequence[int]) -> tuple[list[Any], Any]:
    row, column = Shard(batch), Shard(batch + 1)
    if isinstance(left, Partial) or isinstance(right, Partial):
        if isinstance(left, Partial) and isinstance(right, Replicate) and left.reduce_op == "sum":
            return [left, R], left
        if isinstance(right, Partial) and isinstance(left, Replicate) and right.reduce_op == "sum":
            return [R, right], right
        left = R if isinstance(left, Partial) else left
        right = R if isinstance(right, Partial) else right
    if batch and Shard(0) in (left, right):
        return [Shard(0), Shard(0)], Shard(0)
    if (left == column and right in (row, R)) or (right == row and left == R):
        return [column, row], Partial()
    smaller_right = b[-1] * b[-2] <= a[-1] * a[-2]
    if left == row and (not isinstance(right, Shard) or right == row or smaller_right):
        return [row, R], row
    if right == column:
        return [R, column], column
    if left == row:
        return [row, R], row
    return [R, R], R


@rule("native_layer_norm")
def _layer_norm(call: Call) -> Answer:
    own, outer = call.placements[0], len(call.shapes[0]) - len(call.argument(1, "normalized_shape"))
    keep = own if isinstance(own, Shard) and own.dim < outer else R
    return [keep, *[R] * (len(call.shapes) - 1)], [keep, keep, keep]


@rule("native_layer_norm_backward")
def _layer_norm_backward(call: Call) -> Answer:
    outer = len(call.shapes[0]) - len(call.argument(2, "normalized_shape"))
    found = [p for p in call.placements[:2] if isinstance(p, Shard) and p.dim < outer]
    keep = found[0] if found else R
    summed = Partial() if found else R
    return [keep] * 4 + [R] * (len(call.shapes) - 4), [keep, summed, summed]


@rule("embedding")
def _embedding(call: Call) -> Answer:
    weight, indices = call.placements
    if weight == Shard(1):
        return [weight, R], Shard(len(call.shapes[1]))
    if weight == Shard(0) and not isinstance(indices, Shard):
        return [weight, R], Partial()
    if isinstance(indices, Shard):
        return [R, indices], indices
    return [R, R], R


@rule("embedding_dense_backward")
def _embedding_backward(call: Call) -> Answer:
    grad, last = call.placements[0], len(call.shapes[0]) - 1
    if isinstance(grad, Partial):
        return [grad, R], grad
    if isinstance(grad, Shard):
        return ([grad, R], Shard(1)) if grad.dim == last else ([grad, Shard(grad.dim)], Partial())
    indices = call.placements[1]
    return ([Shard(indices.dim), indices], Partial()) if isinstance(indices, Shard) else ([R, R], R)


@rule("cat")
def _cat(call: Call) -> Answer:
    dim = call.argument(1, "dim", 0) % max(map(len, call.shapes))
    for placement in call.placements:
        if isinstance(placement, Shard) and placement.dim != dim and len(set(map(len, call.shapes))) == 1:
            return [placement] * len(call.shapes), placement
    return replicate_all(call)


_DIMS = {"cumsum": (1, "dim", 0), "cumprod": (1, "dim", 0), "topk": (2, "dim", -1), "sort": (1, "dim", -1),
         "flip": (1, "dims", ()), "roll": (2, "dims", ())}  # fmt: skip
"""Ops that know of some dimensions alone: where those stand among the arguments, and the default."""


@rule(*_DIMS)
def _along_dims(call: Call) -> Answer:
    own, rank = call.placements[0], len(call.shapes[0])
    dims = call.argument(*_DIMS[call.name])
    given = [dims] if isinstance(dims, int) else list(dims)
    if not isinstance(own, Shard) or not given or own.dim in {dim % rank for dim in given}:
        return [R], R
    return [own], own


@rule("stack")
def _stack(call: Call) -> Answer:
    own = call.placements[0]
    dim = call.argument(1, "dim", 0) % (len(call.shapes[0]) + 1)
    if not isinstance(own, Shard):
        return replicate_all(call)
    return [own] * len(call.placements), Shard(own.dim + (dim <= own.dim))
