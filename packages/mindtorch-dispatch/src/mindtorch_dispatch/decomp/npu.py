"""Operators of Ascend chips, composed: for other devices, and for chips or operands for which there is no kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import float32, int32, uint8

from ..call import aten
from ..extend.overloads import namespace
from ..meta.checks import check
from ..typing import Tensor

npu = namespace("npu")
"""The operators by name."""


BITS = 128
"""A mask has a bit for each element, a multiple of so many, the first element's in the lowest place of the first byte."""


def _powers(like: Tensor) -> Any:
    return aten.pow(2, aten.arange(8, dtype=int32, device=like.device))


def dropout(self: Tensor, p: float) -> tuple[Any, Any]:
    """`_npu_dropout`: the result, and which elements were kept, as bits."""
    kept = aten.bernoulli_(aten.empty(self.shape, dtype=float32, device=self.device), 1 - p)
    count = self._sig.spec.numel
    bits = aten.constant_pad_nd(aten.to(aten.flatten(kept), int32), [0, -count % BITS])
    mask = aten.to(aten.sum(aten.mul(aten.reshape(bits, (-1, 8)), _powers(self)), [1]), uint8)
    return aten.mul(self, aten.to(aten.mul(kept, _scale(p)), self.dtype)), mask


def dropout_backward(grad_output: Tensor, mask: Tensor, p: float) -> Any:
    """`npu_dropout_backward`."""
    bits = aten.remainder(aten.floor_divide(aten.unsqueeze(aten.to(mask, int32), 1), _powers(mask)), 2)
    kept = aten.reshape(aten.slice(aten.flatten(bits), 0, 0, grad_output._sig.spec.numel), grad_output.shape)
    return aten.mul(grad_output, aten.mul(aten.to(kept, grad_output.dtype), _scale(p)))


def _scale(p: float) -> float:
    return 0.0 if p == 1 else 1.0 / (1.0 - p)


def _last(self: Tensor, gamma: Tensor) -> list[int]:
    return list(range(len(self.shape) - len(gamma.shape), len(self.shape)))


def reciprocal_root(self: Tensor, gamma: Tensor, epsilon: float) -> Any:
    """Return one over the root of the mean square, in float32, over the dimensions that `gamma` has."""
    wide = aten.to(self, float32)
    return aten.rsqrt(aten.add(aten.mean(aten.pow(wide, 2), _last(self, gamma), True), epsilon))


def rms_norm(self: Tensor, gamma: Tensor, epsilon: float) -> tuple[Any, Any]:
    """`npu_rms_norm`: the input over the root of its mean square, times `gamma`, and one over that root."""
    rstd = reciprocal_root(self, gamma, epsilon)
    return aten.mul(aten.to(aten.mul(aten.to(self, float32), rstd), self.dtype), gamma), rstd


def rms_norm_backward(dy: Tensor, self: Tensor, gamma: Tensor, rstd: Tensor) -> tuple[Any, Any]:
    """Gradients of `npu_rms_norm` for the input and, in float32, for `gamma`."""
    dims = _last(self, gamma)
    wide, standard = aten.to(dy, float32), aten.mul(aten.to(self, float32), rstd)
    weighted = aten.mul(wide, aten.to(gamma, float32))
    along = aten.mean(aten.mul(weighted, standard), dims, True)
    to_self = aten.mul(aten.sub(weighted, aten.mul(standard, along)), rstd)
    to_gamma = aten.mul(wide, standard)
    outer = list(range(dims[0]))
    return aten.to(to_self, self.dtype), aten.sum(to_gamma, outer) if outer else to_gamma


def add_rms_norm(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float) -> tuple[Any, Any, Any]:
    """`npu_rms_norm` of a sum, and the sum."""
    total = aten.add(x1, x2)
    return (*rms_norm(total, gamma, epsilon), total)


def swiglu(self: Tensor, dim: int) -> Any:
    """`npu_swiglu`: the first half along a dimension under `silu`, times the second."""
    first, second = aten.chunk(self, 2, dim)
    return aten.mul(aten.silu(first), second)


def swiglu_backward(grad_output: Tensor, self: Tensor, dim: int) -> Any:
    """Gradient of `npu_swiglu`."""
    first, second = aten.chunk(self, 2, dim)
    chance = aten.sigmoid(first)
    steep = aten.mul(chance, aten.add(aten.mul(first, aten.rsub(chance, 1)), 1))
    return aten.cat(
        (aten.mul(aten.mul(grad_output, second), steep), aten.mul(grad_output, aten.mul(first, chance))), dim
    )


HALF, INTERLEAVE = ("half", "0"), ("interleave", "1")


def _turned(x: Any, mode: str, back: bool = False) -> Any:
    """Return what the sine is multiplied by: each pair (a, b) as (-b, a), and as (b, -a) on the way `back`."""
    if mode in HALF:
        first, second = aten.chunk(x, 2, -1)
    elif mode in INTERLEAVE:
        first, second = aten.slice(x, -1, 0, None, 2), aten.slice(x, -1, 1, None, 2)
    else:
        raise ValueError(f"rotary_mode must be 'half' or 'interleave', but got {mode!r}")
    pair = (second, aten.neg(first)) if back else (aten.neg(second), first)
    return aten.cat(pair, -1) if mode in HALF else aten.flatten(aten.stack(pair, -1), -2)


def rotary_mul(self: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str) -> Any:
    """`npu_rotary_mul`: positions turned into a tensor of heads, `r1` the cosines and `r2` the sines."""
    return aten.add(aten.mul(self, r1), aten.mul(_turned(self, rotary_mode), r2))


def _summed(value: Tensor, like: Tensor) -> Any:
    first = len(value.shape) - len(like.shape)
    pairs: Sequence[tuple[int, int]] = list(zip(value.shape[first:], like.shape, strict=True))
    dims = [*range(first), *(first + at for at, (long, short) in enumerate(pairs) if short == 1 != long)]
    return aten.reshape(aten.sum(value, dims, True), like.shape) if dims else value


def rotary_mul_backward(grad: Tensor, self: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str) -> tuple[Any, Any, Any]:
    """Gradients of `npu_rotary_mul` for the input, the cosines and the sines."""
    to_self = aten.add(aten.mul(grad, r1), _turned(aten.mul(grad, r2), rotary_mode, back=True))
    return to_self, _summed(aten.mul(grad, self), r1), _summed(aten.mul(grad, _turned(self, rotary_mode)), r2)


def dropout_mask(like: Tensor, numels: int, p: float, seed: int | None, offset: int | None, generator: object) -> Any:
    """`_npu_dropout_mask`: which of so many elements are kept, as bits."""
    check(seed is None, lambda: "masks of a seed and an offset need aclnnDropoutGenMask")
    kept = aten.bernoulli_(aten.empty((numels,), dtype=float32, device=like.device), 1 - p, generator=generator)
    bits = aten.constant_pad_nd(aten.to(kept, int32), [0, -numels % BITS])
    return aten.to(aten.sum(aten.mul(aten.reshape(bits, (-1, 8)), _powers(like)), [1]), uint8)


def _bits(mask: Tensor, shape: Sequence[int], keep_prob: float) -> Any:
    """Return what a mask's bits multiply with: 0, or one over the probability to be kept."""
    bits = aten.remainder(aten.floor_divide(aten.unsqueeze(aten.to(mask, int32), 1), _powers(mask)), 2)
    kept = aten.reshape(aten.slice(aten.flatten(bits), 0, 0, math.prod(shape)), shape)
    return aten.mul(aten.to(kept, float32), _scale(1 - keep_prob))


def _scores(query: Tensor, key: Tensor, pse: Tensor | None, hidden: Tensor | None, scale: float) -> Any:
    """Return the scores in float32, and the keys as often as queries share them."""
    share = query.shape[1] // key.shape[1]
    keys = aten.to(key, float32) if share == 1 else aten.repeat_interleave(aten.to(key, float32), share, 1)
    scores = aten.matmul(aten.to(query, float32), aten.transpose(keys, -2, -1))
    scores = aten.mul(scores if pse is None else aten.add(scores, aten.to(pse, float32)), scale)
    if hidden is not None:
        scores = aten.masked_fill(scores, aten.to(hidden, bool_dtype), -math.inf)
    return scores, keys, share


def attention(
    query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, hidden: Tensor | None, kept: Tensor | None,
    scale: float, keep_prob: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """`_npu_attention`: the result, each row's largest score and its sum, eight times each."""
    scores, _, share = _scores(query, key, pse, hidden, scale)
    largest = aten.amax(scores, [-1], True)
    largest = aten.masked_fill(largest, aten.isneginf(largest), 0.0)
    weights = aten.exp(aten.sub(scores, largest))
    sums = aten.sum(weights, [-1], True)
    weights = aten.div(weights, aten.masked_fill(sums, aten.eq(sums, 0), 1.0))
    if kept is not None:
        weights = aten.mul(weights, _bits(kept, weights.shape, keep_prob))
    values = aten.to(value, float32)
    out = aten.matmul(weights, values if share == 1 else aten.repeat_interleave(values, share, 1))
    eight = [*query.shape[:3], 8]
    pair = (aten.contiguous(aten.expand(one, eight)) for one in (largest, sums))
    return aten.to(out, query.dtype), *pair


def attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, hidden: Tensor | None,
    kept: Tensor | None, largest: Tensor, sums: Tensor, out: Tensor, scale: float, keep_prob: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradients of `_npu_attention` for the query, the key and the value."""
    scores, keys, share = _scores(query, key, pse, hidden, scale)
    total = aten.slice(sums, 3, 0, 1)
    weights = aten.div(
        aten.exp(aten.sub(scores, aten.slice(largest, 3, 0, 1))), aten.masked_fill(total, aten.eq(total, 0), 1.0)
    )
    back, values = aten.to(grad, float32), aten.to(value, float32)
    values = values if share == 1 else aten.repeat_interleave(values, share, 1)
    inner, dropped = aten.matmul(back, aten.transpose(values, -2, -1)), weights
    if kept is not None:
        bits = _bits(kept, weights.shape, keep_prob)
        inner, dropped = aten.mul(inner, bits), aten.mul(weights, bits)
    row = aten.sum(aten.mul(back, aten.to(out, float32)), [-1], True)
    inner = aten.mul(aten.mul(weights, aten.sub(inner, row)), scale)
    to_key = aten.matmul(aten.transpose(inner, -2, -1), aten.to(query, float32))
    to_value = aten.matmul(aten.transpose(dropped, -2, -1), back)
    if share > 1:
        to_key, to_value = (
            aten.sum(aten.reshape(one, (one.shape[0], -1, share, *one.shape[2:])), [2]) for one in (to_key, to_value)
        )
    given = ((aten.matmul(inner, keys), query), (to_key, key), (to_value, value))
    first, second, third = (aten.to(one, like.dtype) for one, like in given)
    return first, second, third


def grouped_product(x: Tensor, weight: Tensor, group_list: Tensor, group_type: int, group_list_type: int) -> Any:
    """`_npu_grouped_product`; rows behind the last group give zeros."""
    ends = group_list if group_list_type == 0 else aten.cumsum(group_list, 0)
    places = [0, *ends.tolist()]
    parts = list(pairwise(places))
    if group_type == 0:
        made = [
            aten.mm(aten.slice(x, 0, begin, end), aten.select(weight, 0, group))
            for group, (begin, end) in enumerate(parts)
        ]
        rest = aten.new_zeros(x, [x.shape[0] - places[-1], weight.shape[2]])
        return aten.cat([*made, rest])
    return aten.stack(
        [aten.mm(aten.t(aten.slice(x, 0, begin, end)), aten.slice(weight, 0, begin, end)) for begin, end in parts]
    )
