"""Meta rules of operators that only Ascend chips have."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import float32, uint8
from mindtorch_storage.spec import Spec

from .checks import check, wrap_dim
from .rule import meta_rule

_BITS = 128
"""A mask has a bit for each element, of so many at a time."""


def _packed(spec: Spec, shape: Sequence[int] | None = None) -> Spec:
    return Spec.of(spec.dtype, spec.device, tuple(spec.shape if shape is None else shape))


@meta_rule()
def dropout(self: Spec, p: float) -> tuple[Spec, Spec]:
    """`_npu_dropout`: the result, and which elements were kept, as bits."""
    return _packed(self), Spec.of(uint8, self.device, ((self.numel + _BITS - 1) // _BITS * _BITS // 8,))


@meta_rule()
def dropout_backward(grad_output: Spec, mask: Spec, p: float) -> Spec:
    """`npu_dropout_backward`: as the gradient."""
    return _packed(grad_output)


def _root(self: Spec, gamma: Spec) -> Spec:
    first = self.ndim - gamma.ndim
    check(
        0 < gamma.ndim <= self.ndim and tuple(self.shape[first:]) == tuple(gamma.shape),
        lambda: f"gamma must have the last sizes of the input, but got {list(gamma.shape)} and {list(self.shape)}",
    )
    return Spec.of(float32, self.device, (*self.shape[:first], *([1] * gamma.ndim)))


@meta_rule()
def rms_norm(self: Spec, gamma: Spec, epsilon: float = 1e-6) -> tuple[Spec, Spec]:
    """`npu_rms_norm`: the result, and the reciprocal roots in float32."""
    return _packed(self), _root(self, gamma)


@meta_rule()
def rms_norm_backward(dy: Spec, self: Spec, gamma: Spec, rstd: Spec) -> tuple[Spec, Spec]:
    """`npu_rms_norm_backward`: as the input, and as `gamma` in float32."""
    return _packed(self), Spec.of(float32, gamma.device, tuple(gamma.shape))


@meta_rule()
def add_rms_norm(x1: Spec, x2: Spec, gamma: Spec, epsilon: float = 1e-6) -> tuple[Spec, Spec, Spec]:
    """`npu_add_rms_norm`: the result, the reciprocal roots in float32, and the sum."""
    check(
        tuple(x1.shape) == tuple(x2.shape),
        lambda: f"x1 and x2 must have one shape, but got {list(x1.shape)} and {list(x2.shape)}",
    )
    return _packed(x1), _root(x1, gamma), _packed(x1)


@meta_rule()
def swiglu(self: Spec, dim: int = -1) -> Spec:
    """`npu_swiglu`: half of the input along a dimension."""
    dim = wrap_dim(dim, self.ndim)
    shape = list(self.shape)
    check(
        self.ndim > 0 and shape[dim] % 2 == 0,
        lambda: f"the size of dimension {dim} must be even, but got {list(self.shape)}",
    )
    shape[dim] //= 2
    return _packed(self, shape)


@meta_rule()
def swiglu_backward(grad_output: Spec, self: Spec, dim: int = -1) -> Spec:
    """`npu_swiglu_backward`: as the input."""
    return _packed(self)


@meta_rule()
def rotary_mul(self: Spec, r1: Spec, r2: Spec, rotary_mode: str = "half") -> Spec:
    """`npu_rotary_mul`: as the input."""
    return _packed(self)


@meta_rule()
def rotary_mul_backward(
    grad: Spec, self: Spec, r1: Spec, r2: Spec, rotary_mode: str = "half"
) -> tuple[Spec, Spec, Spec]:
    """`npu_rotary_mul_backward`: as the input, the cosines and the sines."""
    return _packed(self), _packed(r1), _packed(r2)


@meta_rule()
def dropout_mask(
    like: Spec, numels: int, p: float, seed: int | None = None, offset: int | None = None, generator: object = None
) -> Spec:
    """`_npu_dropout_mask`: a bit for each element."""
    return Spec.of(uint8, like.device, ((numels + _BITS - 1) // _BITS * _BITS // 8,))


@meta_rule()
def attention(
    query: Spec, key: Spec, value: Spec, pse: Spec | None, hidden: Spec | None, kept: Spec | None, scale: float,
    keep_prob: float,
) -> tuple[Spec, Spec, Spec]:  # fmt: skip
    """`_npu_attention`: the result, each row's largest score and its sum, eight times each."""
    check(
        query.ndim == key.ndim == value.ndim == 4 and key.shape[1] > 0 and query.shape[1] % key.shape[1] == 0,
        lambda: (
            "query, key and value must be of batch, head, row and width, and the heads of keys must divide those of "
            f"queries, but got {list(query.shape)}, {list(key.shape)} and {list(value.shape)}"
        ),
    )
    rows = Spec.of(float32, query.device, (*query.shape[:3], 8))
    return _packed(query, (*query.shape[:3], value.shape[3])), rows, rows


@meta_rule()
def infer_attention(
    query: Spec, key: Spec, value: Spec, pse: Spec | None, mask: Spec | None, lengths: Sequence[int] | None,
    key_lengths: Sequence[int] | None, table: Spec | None, heads: int, key_heads: int, scale: float, before: int,
    after: int, layout: str, mode: int, block_size: int, logsumexp: bool,
) -> tuple[Spec, Spec]:  # fmt: skip
    """`_npu_infer_attention`: in the layout of the query, and a number for every row and head, or one that is 0."""
    shape: tuple[int, ...]
    sums: tuple[int, ...]
    joined = layout == "BSH" or (table is not None and value.ndim == 3)
    width = value.shape[-1] // key_heads if joined else value.shape[-1]
    if layout == "BSH":
        batch, rows = query.shape[:2]
        shape, sums = (batch, rows, heads * width), (batch, heads, rows, 1)
    elif layout == "TND":
        shape, sums = (*query.shape[:2], width), (*query.shape[:2], 1)
    else:
        batch, first, second, _ = query.shape
        rows = first if layout == "BSND" else second
        shape = (batch, second, first, width) if layout == "BNSD_BSND" else (batch, first, second, width)
        sums = (batch, heads, rows, 1)
    return _packed(query, shape), Spec.of(float32, query.device, sums if logsumexp else (1,))


@meta_rule()
def attention_backward(
    grad: Spec, query: Spec, key: Spec, value: Spec, pse: Spec | None, hidden: Spec | None, kept: Spec | None,
    largest: Spec, sums: Spec, out: Spec, scale: float, keep_prob: float,
) -> tuple[Spec, Spec, Spec]:  # fmt: skip
    """`_npu_attention_backward`: as the query, the key and the value."""
    return _packed(query), _packed(key), _packed(value)


@meta_rule()
def grouped_product(x: Spec, weight: Spec, group_list: Spec, group_type: int, group_list_type: int) -> Spec:
    """`_npu_grouped_product`: rows with a matrix of their group each, or a matrix of each group's rows of both."""
    check(x.ndim == 2 and group_list.ndim == 1, lambda: "groups are of the rows of a matrix, and said by a vector")
    if group_type == 0:
        check(
            weight.ndim == 3 and x.shape[1] == weight.shape[1] and weight.shape[0] == group_list.shape[0],
            lambda: f"{group_list.shape[0]} matrices of {x.shape[1]} rows are needed, but got {list(weight.shape)}",
        )
        return _packed(x, (x.shape[0], weight.shape[2]))
    check(
        weight.ndim == 2 and x.shape[0] == weight.shape[0],
        lambda: f"two matrices of as many rows are needed, but got {list(x.shape)} and {list(weight.shape)}",
    )
    return _packed(x, (group_list.shape[0], x.shape[1], weight.shape[1]))
