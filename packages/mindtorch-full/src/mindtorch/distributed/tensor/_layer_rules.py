"""How layers and losses keep tensors spread: norms, embeddings, attention, convolutions, and what a batch loses."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed.tensor._choices import Answer
from mindtorch.distributed.tensor._rules import Call, R, pointwise, replicate_all, rule
from mindtorch.distributed.tensor.placement_types import Partial, Shard


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


@rule("native_group_norm")
def _group_norm(call: Call) -> Answer:
    """Samples are normalized one by one."""
    keep = call.placements[0] if call.placements[0] == Shard(0) and _in_even_samples(call) else R
    return [keep, *[R] * (len(call.shapes) - 1)], [keep, keep, keep]


def _in_even_samples(call: Call) -> bool:
    return call.shapes[0][0] % call.ways == 0


@rule("native_group_norm_backward")
def _group_norm_backward(call: Call) -> Answer:
    cut = Shard(0) in call.placements[:2] and _in_even_samples(call)
    keep, summed = (Shard(0), Partial()) if cut else (R, R)
    return [keep] * 4 + [R] * (len(call.placements) - 4), [keep, summed, summed]


_REDUCTION = {"mse_loss": 2, "smooth_l1_loss": 2, "huber_loss": 2, "binary_cross_entropy": 3}
"""Losses of pairs of elements: where their reduction stands among the arguments."""
_NONE, _MEAN = 0, 1


@rule(*_REDUCTION)
def _elementwise_loss(call: Call) -> Answer:
    needs, out = pointwise(call)
    reduction = call.argument(_REDUCTION[call.name], "reduction", _MEAN)
    if not isinstance(out, Shard) or reduction == _NONE:
        return needs, out
    if reduction == _MEAN and call.shapes[0][out.dim] % call.ways:
        return replicate_all(call)
    return needs, Partial("avg" if reduction == _MEAN else "sum")


@rule(*(f"{name}_backward" for name in _REDUCTION))
def _elementwise_loss_backward(call: Call) -> Answer:
    reduction = call.argument(_REDUCTION[call.name.removesuffix("_backward")] + 1, "reduction", _MEAN)
    if reduction == _NONE:
        return pointwise(call)
    cut = [p for p in call.placements[1:] if isinstance(p, Shard)]
    # A part's mean divides by the part's elements: a term of the gradient makes up for it.
    own: Any = Partial() if reduction == _MEAN else R
    even = [p for p in cut if reduction != _MEAN or call.shapes[1][p.dim] % call.ways == 0]
    return call.cheapest([([own, *[p] * (len(call.placements) - 1)], p) for p in even])


@rule("nll_loss_forward", "nll_loss2d_forward")
def _nll_loss(call: Call) -> Answer:
    own, classes, rest = call.placements[0], _classes(call.shapes[0]), [R] * (len(call.placements) - 2)
    reduction = call.argument(3, "reduction", _MEAN)
    if not isinstance(own, Shard) or own.dim == classes:
        return [R, R, *rest], [R, R]
    target = _without(own, classes)
    if reduction == _NONE:
        return [own, target, *rest], [target, R]
    if reduction == _MEAN and call.shapes[0][own.dim] % call.ways:
        return [R, R, *rest], [R, R]
    # As in torch the mean is that of the parts' means, also where parts ignore different numbers of targets.
    return [own, target, *rest], [Partial("avg" if reduction == _MEAN else "sum"), Partial()]


@rule("nll_loss_backward", "nll_loss2d_backward")
def _nll_loss_backward(call: Call) -> Answer:
    _, own, _, *rest = call.placements
    classes, reduction = _classes(call.shapes[1]), call.argument(4, "reduction", _MEAN)
    if not isinstance(own, Shard) or own.dim == classes:
        return [R] * len(call.placements), R
    target = _without(own, classes)
    return [target if reduction == _NONE else R, own, target, *[R] * len(rest)], own


def _classes(shape: tuple[int, ...]) -> int:
    return 1 if len(shape) >= 2 else 0


def _without(own: Shard, dim: int) -> Shard:
    """Return a placement where a dimension is missing."""
    return Shard(own.dim - (dim < own.dim))


_ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"
_HEADS, _QUERIES = 1, 2


@rule(_ATTENTION, "scaled_dot_product_attention", "_fused_sdp_choice")
def _attention(call: Call) -> Answer:
    """Samples and heads are independent of each other, queries too where none is hidden from another by its place."""
    count = len(call.placements)
    heads = [call.shapes[i][_HEADS] for i in range(3)]
    cut = {p.dim for p in call.placements[:3] if isinstance(p, Shard)}
    choices: list[Answer] = []
    for dim in sorted(cut & {0, _HEADS}):
        if dim == _HEADS and (len(set(heads)) > 1 or heads[0] % call.ways):
            continue
        masks = [R if shape[dim - 4 if len(shape) == 4 else 0] == 1 or len(shape) < 4 else Shard(dim)
                 for shape in call.shapes[3:]]  # fmt: skip
        choices.append(([Shard(dim)] * 3 + masks, [Shard(dim)] * 2))
    causal = bool(call.argument(4, "is_causal", False))
    if _QUERIES in cut and call.placements[0] == Shard(_QUERIES) and not causal and count == 3:
        choices.append(([Shard(_QUERIES), R, R], [Shard(_QUERIES)] * 2))
    return call.cheapest(choices)


@rule(f"{_ATTENTION}_backward")
def _attention_backward(call: Call) -> Answer:
    """As forward, by samples and heads; all tensors have those first."""
    heads = call.shapes[1][_HEADS]
    cut = {p.dim for p in call.placements if isinstance(p, Shard)}
    fits = [dim for dim in sorted(cut & {0, _HEADS}) if (dim == 0 or heads % call.ways == 0) and len(call.shapes) == 6]
    alike = [dim for dim in fits if len({shape[dim] for shape in call.shapes}) == 1]
    return call.cheapest([([Shard(dim)] * 6, [Shard(dim)] * 3) for dim in alike])


@rule("convolution")
def _convolution(call: Call) -> Answer:
    keep = call.placements[0] if call.placements[0] == Shard(0) and not call.argument(6, "transposed", False) else R
    return [keep, *[R] * (len(call.placements) - 1)], keep


@rule("convolution_backward")
def _convolution_backward(call: Call) -> Answer:
    cut = [p for p in call.placements[:2] if p == Shard(0)]
    if not cut or call.argument(7, "transposed", False):
        return replicate_all(call)
    return [cut[0], cut[0], *[R] * (len(call.placements) - 2)], [cut[0], Partial(), Partial()]
