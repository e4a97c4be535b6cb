"""Elementwise ops: examples are broadcast against each other, so their ranks are made equal."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import front, is_tensor, padded, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...batching.wrapper import example_spec
from ...meta.pointwise import promoted
from ...table import OpRow
from .table import Rule, families, find_rule, rule

_UNPROMOTED = ("condition", "mask")
"""Operands that take no part in type promotion."""


def aligned(row: OpRow, values: list[Any], dims: list[Any], wanted: int) -> list[Any]:
    """Return the operands with the batch dimension first and examples of `wanted` dimensions.

    An example of no dimensions weighs less in type promotion than one with some; a batch of them would not, so it is
    converted here.
    """
    made = []
    compute: Any = None
    for number, (value, dim) in enumerate(zip(values, dims, strict=True)):
        if dim is None:
            made.append(value)
            continue
        value = front(value, dim)
        if value.dim() == 1 and wanted and row.schema.arguments[number].name not in _UNPROMOTED:
            compute = compute or _computed(row, values, dims)
            if value.dtype is not compute:
                value = aten.to.dtype(value, compute)
        made.append(padded(value, wanted))
    return made


def _of_one_dtype(row: OpRow, values: list[Any], dims: list[Any]) -> list[Any]:
    """Return the operands of a binary op, both in the dtype that two examples of no dimensions are promoted to.

    One of them is not batched. It would weigh less in type promotion than the batch of the other.
    """
    compute = _computed(row, values, dims)
    pair = [value if value.dtype is compute else aten.to.dtype(value, compute) for value in values[:2]]
    return [*pair, *values[2:]]


def _computed(row: OpRow, values: list[Any], dims: list[Any]) -> Any:
    operands = [
        example_spec(value, dim) if is_tensor(value) else value
        for value, dim, argument in zip(values, dims, row.schema.arguments, strict=False)
        if argument.name not in _UNPROMOTED
        and not argument.kwarg_only  # `alpha` of `add`, `value` of `addcmul`
        and (is_tensor(value) or (argument.type.kind in ("Scalar", "Tensor") and value is not None))
    ]
    return promoted(operands)


def highest_rank(values: list[Any], dims: list[Any]) -> int:
    """Return the number of dimensions of the largest example."""
    return max(rank(value, dim) for value, dim in zip(values, dims, strict=True) if is_tensor(value))


@rule(
    "logical_and", "logical_or", "logical_xor", "logical_not", "angle", "signbit", "isposinf", "isneginf", "complex",
    "polar", "polygamma", "mvlgamma", "frexp.Tensor", "_prelu_kernel_backward", "log_sigmoid_forward",
)  # fmt: skip
def pointwise(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Elementwise ops."""
    wanted = highest_rank(values, dims)
    if not wanted and row.call_form[0] == 2 and is_tensor(values[0]) and is_tensor(values[1]) and None in dims[:2]:
        values = _of_one_dtype(row, values, dims)
    result = invoke(row, aligned(row, values, dims, wanted))
    return result, [0] * len(result) if isinstance(result, (tuple, list)) else 0


def pointwise_inplace(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Elementwise ops that write their first operand."""
    if all(dim is None for dim in dims):
        return invoke(row, values), None
    target = front(values[0], dims[0])
    own = target.dim() - 1
    rest = []
    for value, dim in zip(values[1:], dims[1:], strict=True):
        if dim is None:
            rest.append(value)
            continue
        value = front(value, dim)
        while row.packet == "copy_" and value.dim() - 1 > own and value.shape[1] == 1:
            value = aten.squeeze(value, 1)
        rest.append(padded(value, own))
    invoke(row, [target, *rest])
    return values[0], dims[0]


def inplace(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """In-place forms of ops that are not elementwise: the functional result, written to the target."""
    if all(dim is None if not isinstance(dim, list) else all(d is None for d in dim) for dim in dims):
        return invoke(row, values), None
    rule = None if row.base is None else find_rule(row.base)
    assert row.base is not None, row.name
    assert rule is not None, "the table gives this rule to rows whose functional form has one"
    result, dim = rule.fn(row.base, batch, values, dims)
    target = front(values[0], dims[0])
    aten.copy_(target, result if dim is None else front(result, dim))
    return values[0], dims[0]


@rule("masked_fill.Tensor")
def masked_fill(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`masked_fill` by a tensor's value, which may be an example's own."""
    self, mask, value = values
    if dims[2] is None:
        return pointwise(row, batch, values, dims)
    ndim = max(rank(self, dims[0]), rank(mask, dims[1]))
    made = aligned(row, [self, mask], dims[:2], ndim)
    fill = padded(aten.to.dtype(front(value, dims[2]), self.dtype), ndim)
    return aten.where(made[1], fill, made[0]), 0


families["pointwise"] = Rule(pointwise)
families["pointwise_"] = Rule(pointwise_inplace)
families["inplace"] = Rule(inplace)


@rule("clone", "_to_copy", "empty_like", "zeros_like", "ones_like", "full_like")
def same_layout(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Copies and factories of a tensor's geometry: formats are those of an example, so it is laid out as asked."""
    result = invoke(row, [front(values[0], dims[0]), *values[1:]])
    return result, 0
