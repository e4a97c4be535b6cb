"""Meta rules of elementwise ops: broadcasting, type promotion, output strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.promotion import number_dtype, result_type
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes, elementwise_strides

from ..defaults import get_default_dtype
from .rule import MetaRule, Outputs

DEFAULT = "default"
"""The result has the promoted dtype of the operands."""
FLOAT = "float"
"""Integral operands become the default float dtype."""
BOOL = "bool"
"""Operands are promoted with each other; the result is bool."""
REAL = "real"
"""As DEFAULT, but a complex operand gives a real result (`abs`)."""
SAME = "same"
"""The first tensor's dtype, whatever the others are."""


def promoted(values: Sequence[Any]) -> Dtype:
    """Return the dtype in which tensors (as specs) and Python numbers among `values` are computed together."""
    dims, zero_dims, numbers = [], [], []
    default = get_default_dtype()
    for value in values:
        if isinstance(value, Spec):
            (dims if value.ndim else zero_dims).append(value.dtype)
        elif isinstance(value, (bool, int, float, complex)):
            numbers.append(number_dtype(type(value), default))
    found = result_type(dims, zero_dims, numbers)
    if found is None:
        raise RuntimeError("an elementwise op needs at least one operand")
    return found


def broadcast_spec(operands: Sequence[Spec], dtype: Dtype) -> Spec:
    """Return the spec of an elementwise result over `operands`, with TensorIterator's strides."""
    first = operands[0]
    device = next((operand.device for operand in operands if operand.device.type != "cpu"), first.device)
    if all(operand.shape == first.shape and operand.stride == first.stride for operand in operands[1:]) and (
        first.is_contiguous
    ):
        return Spec.of(dtype, device, first.shape)
    shape = broadcast_shapes(*[operand.shape for operand in operands])
    stride = elementwise_strides(shape, [(operand.shape, operand.stride) for operand in operands])
    return Spec.of(dtype, device, shape, stride)


def pointwise(
    promotion: str = DEFAULT, *, operands: Sequence[int] | None = None, inplace: bool = True, out: bool = True
) -> MetaRule:
    """Return the rule of an elementwise op.

    Args:
        promotion: one of DEFAULT, FLOAT, BOOL, REAL, SAME above.
        operands: indices of the arguments that broadcast and promote; default: every tensor, and every number that
            stands at a `Scalar`/`Tensor` place before the first keyword-only argument is passed by the caller.
    """

    def rule(*values: Any) -> Outputs:
        chosen = values if operands is None else [values[index] for index in operands]
        specs = [value for value in chosen if isinstance(value, Spec)]
        if promotion == SAME:
            compute = specs[0].dtype
        else:
            compute = promoted(chosen)
        if promotion == FLOAT and not (compute.is_floating_point or compute.is_complex):
            compute = get_default_dtype()
        dtype = bool_dtype if promotion == BOOL else compute.to_real() if promotion == REAL else compute
        return Outputs(broadcast_spec(specs, dtype), cast=compute)

    return MetaRule(rule, inplace=inplace, out=out, aliases_ok=True)


def int_or_bool_to_long(dtype: Dtype) -> Dtype:
    """Return int64 for integral dtypes and bool (what `sum` accumulates in), else `dtype`."""
    return dtype if dtype.is_floating_point or dtype.is_complex else int64


def checked(rule: MetaRule, check_values: Callable[..., None]) -> MetaRule:
    """Return `rule` with a check of the values ahead of it."""

    def with_check(*values: Any) -> Outputs:
        check_values(*values)
        return rule(*values)

    return MetaRule(
        with_check,
        inplace=rule.inplace,
        out=rule.out,
        aliases_ok=rule.aliases_ok,
        exact=rule.exact,
        adopts=rule.adopts,
    )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, Spec) and value.dtype is bool_dtype)


def _check_sub(self: Any, other: Any, alpha: Any = 1) -> None:
    if _is_bool(self) and _is_bool(other):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if _is_bool(self) or _is_bool(other):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )
    _check_alpha(self, other, alpha)


def _check_alpha(self: Any, other: Any, alpha: Any = 1) -> None:
    compute = promoted((self, other))
    if isinstance(alpha, bool) and compute is not bool_dtype:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not (compute.is_floating_point or compute.is_complex):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not compute.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


no_bool_sub = checked(pointwise(operands=(0, 1)), _check_sub)
"""`sub`: refuses bool operands."""

add = checked(pointwise(operands=(0, 1)), _check_alpha)
"""`add`: checks the kind of alpha."""


def no_complex(name: str, complex_text: bool = False) -> MetaRule:
    """Return the two-operand rule that refuses complex operands (`maximum`) or has no complex kernel (`remainder`)."""

    def check_values(self: Any, other: Any) -> None:
        compute = promoted((self, other))
        if compute.is_complex:
            if complex_text:
                raise RuntimeError(f"{name} not implemented for complex tensors.")
            raise NotImplementedError(f'"{name}_cpu" not implemented for \'{compute.scalar_name}\'')

    return checked(pointwise(operands=(0, 1)), check_values)


def _clamp(self: Spec, low: Any = None, high: Any = None) -> Outputs:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    compute = promoted([value for value in (self, low, high) if value is not None])
    if compute.is_complex:
        raise RuntimeError("clamp is not supported for complex types")
    specs = [value for value in (self, low, high) if isinstance(value, Spec)]
    return Outputs(broadcast_spec(specs, compute), cast=compute)


clamp = MetaRule(_clamp, inplace=True, out=True, aliases_ok=True)
"""`clamp` with numbers or tensors."""


def _where(condition: Spec, self: Any, other: Any) -> Outputs:
    if condition.dtype is not bool_dtype and condition.dtype.name != "uint8":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.scalar_name}"
        )
    compute = promoted((self, other))
    specs = [value for value in (condition, self, other) if isinstance(value, Spec)]
    return Outputs(broadcast_spec(specs, compute), cast={1: compute, 2: compute})


where = MetaRule(_where, out=True)
"""`where`: two branches promote with each other, the condition does not take part."""
