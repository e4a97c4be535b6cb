"""Meta rules of elementwise ops: broadcasting, type promotion, output strides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.promotion import number_dtype, result_type
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes, contiguous_strides, elementwise_strides, preserved_strides

from ..apart import ELEMENTWISE
from ..defaults import get_default_dtype
from ..typing import Scalar
from .checks import c_type
from .rule import MetaRule, Outputs, every_dim
from .support import BOOL_NAMES, COMPLEX, INTEGERS, lacking, limited

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
    first = values[0] if values else None
    if isinstance(first, Spec):
        dtype = first.dtype
        if all(isinstance(value, Spec) and value.dtype is dtype for value in values):
            return dtype
    dims: list[Dtype] = []
    zero_dims: list[Dtype] = []
    numbers: list[Any] = []
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


def broadcast_spec(operands: Sequence[Spec], dtype: Dtype, *, numbers: bool = False) -> Spec:
    """Return the spec of an elementwise result over `operands`, with TensorIterator's strides.

    `numbers`: numbers are operands, too. They count as tensors without dimensions, by which a geometry whose strides
    leave the order of dimensions open comes out another one.
    """
    first = operands[0]
    device = next((operand.device for operand in operands if operand.device.type != "cpu"), first.device)
    if all(operand.shape == first.shape and operand.stride == first.stride for operand in operands[1:]) and (
        first.is_contiguous if not numbers else first.numel and first.stride == contiguous_strides(first.shape)
    ):
        return Spec.of(dtype, device, first.shape)
    shape = broadcast_shapes(*[operand.shape for operand in operands])
    geometries: list[tuple[Sequence[int], Sequence[int]]] = [(one.shape, one.stride) for one in operands]
    if numbers:
        geometries.append(((), ()))
    stride = elementwise_strides(shape, geometries)
    return Spec.of(dtype, device, shape, stride)


def pointwise(
    promotion: str = DEFAULT,
    *,
    operands: Sequence[int] | None = None,
    numbers: bool = True,
    inplace: bool = True,
    out: bool = True,
) -> MetaRule:
    """Return the rule of an elementwise op.

    Args:
        promotion: one of DEFAULT, FLOAT, BOOL, REAL, SAME above.
        operands: indices of the arguments that broadcast and promote; default: every tensor, and every number that
            stands at a `Scalar`/`Tensor` place before the first keyword-only argument is passed by the caller.
        numbers: whether a number among the operands counts as a tensor where strides are decided.
    """

    def rule(*values: Any) -> Outputs:
        chosen = values if operands is None else [values[index] for index in operands]
        specs = [value for value in chosen if isinstance(value, Spec)]
        compute = specs[0].dtype if promotion == SAME else promoted(chosen)
        if promotion == FLOAT and not (compute.is_floating_point or compute.is_complex):
            compute = get_default_dtype()
        dtype = bool_dtype if promotion == BOOL else compute.to_real() if promotion == REAL else compute
        counts = numbers and any(one is not None and not isinstance(one, Spec) for one in chosen)
        return Outputs(broadcast_spec(specs, dtype, numbers=counts), cast=compute)

    return MetaRule(rule, inplace=inplace, out=out, aliases_ok=True, leading=every_dim)


def placed(rule: MetaRule, place: Callable[[Spec], Sequence[int]]) -> MetaRule:
    """Return `rule` of one tensor with a result whose strides `place` finds, from those of the operand."""

    def answer(*values: Any) -> Outputs:
        found: Outputs = rule(*values)
        (operand,) = (value for value in values if isinstance(value, Spec))
        return Outputs(found.specs.with_(stride=tuple(place(operand))), cast=found.cast)

    return rule.with_function(answer)


def row_major(operand: Spec) -> Sequence[int]:
    """Strides of a result in row-major order, whatever the order of the operand."""
    return contiguous_strides(operand.shape)


def preserved(operand: Spec) -> Sequence[int]:
    """Strides of a result that is made like the operand."""
    return preserved_strides(operand.shape, operand.stride)


def int_or_bool_to_long(dtype: Dtype) -> Dtype:
    """Return int64 for integral dtypes and bool (what `sum` accumulates in), else `dtype`."""
    return dtype if dtype.is_floating_point or dtype.is_complex else int64


def checked(rule: MetaRule, check_values: Callable[..., None]) -> MetaRule:
    """Return `rule` with a check of the values ahead of it.

    That a kernel lacks a dtype, as `lacking` says it, is told after what is wrong with shapes, and not of the meta device.
    """

    unchecked = rule.fn

    def with_check(*values: object) -> Outputs:
        refused = None
        try:
            check_values(*values)
        except NotImplementedError as error:
            if not str(error).startswith('"'):
                raise
            refused = error
        found: Outputs = unchecked(*values)
        if refused is not None:
            found.refused = refused
        return found

    return rule.with_function(with_check)


def _is_bool(value: Scalar | Spec) -> bool:
    return isinstance(value, bool) or (isinstance(value, Spec) and value.dtype is bool_dtype)


def refuse_bool_sub(self: Scalar | Spec, other: Scalar | Spec) -> None:
    """Raise torch's error for a subtraction in which an operand is bool."""
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


def _check_sub(self: Spec, other: Scalar | Spec, alpha: int = 1) -> None:
    refuse_bool_sub(self, other)
    _check_alpha(self, other, alpha)


def check_integral_number(compute: Dtype, name: str, number: object) -> None:
    """Raise torch's error where a factor is no element of an op that computes in a dtype of whole numbers, or is a bool."""
    if isinstance(number, bool) and compute is not bool_dtype:
        raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    if isinstance(number, (float, complex)) and not (compute.is_floating_point or compute.is_complex):
        raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")


def _check_alpha(self: Spec, other: Scalar | Spec, alpha: object = 1) -> None:
    compute = promoted((self, other))
    check_integral_number(compute, "alpha", alpha)
    if isinstance(alpha, complex) and not compute.is_complex:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


no_bool_sub = limited(checked(pointwise(operands=(0, 1)), _check_sub), "add_stub")
"""`sub`: refuses bool operands."""

reflected_sub = limited(checked(pointwise(operands=(1, 0)), _check_sub), "add_stub")
"""`rsub`: the second operand comes first, also where strides are decided."""

add = limited(checked(pointwise(operands=(0, 1)), _check_alpha), "add_stub")
"""`add`: checks the kind of alpha."""


def no_complex(name: str, complex_text: bool = False) -> MetaRule:
    """Return the two-operand rule that refuses complex operands (`maximum`) or has no complex kernel (`remainder`)."""

    def check_values(self: Spec, other: Spec | float) -> None:
        compute = promoted((self, other))
        if compute.is_complex:
            if complex_text:
                raise RuntimeError(f"{name} not implemented for complex tensors.")
            raise lacking(compute, f"{name}_cpu")

    return checked(pointwise(operands=(0, 1)), check_values)


def _clamp_kernel(self: Spec, low: object = None, high: object = None) -> str:
    tensors = isinstance(low, Spec) or isinstance(high, Spec)
    if low is None or high is None:
        return extreme_kernel("min" if high is None else "max")(self, high if low is None else low)
    return "clamp_cpu" if tensors else "clamp_scalar_cpu"


def extreme_kernel(which: str) -> Callable[..., str]:
    """Return the name of the kernel behind `clamp_min` or `clamp_max`, by whether the bound is a tensor."""
    tensor = "maximum_cpu" if which == "min" else "minimum_cpu"
    return lambda self, bound: tensor if isinstance(bound, Spec) else f"clamp_{which}_scalar_cpu"


def _refuse_complex_clamp(compute: Dtype, *bounds: object) -> None:
    if compute.is_complex and (
        (len(bounds) == 2 and None not in bounds) or not any(isinstance(one, Spec) for one in bounds)
    ):
        raise NotImplementedError("clamp is not supported for complex types")


def _clamp(self: Spec, low: Any = None, high: Any = None) -> Outputs:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    compute = promoted([value for value in (self, low, high) if value is not None])
    _refuse_complex_clamp(compute, low, high)
    specs = [value for value in (self, low, high) if isinstance(value, Spec)]
    return Outputs(broadcast_spec(specs, compute), cast=compute)


def _scalar_without_bool(rule: MetaRule, kernel: Callable[..., str]) -> MetaRule:
    """`rule` refusing what the clamp kernels lack; bool is missing where the bounds are numbers or both are given."""
    complex_checked = limited(rule, kernel, COMPLEX)

    def check_values(self: Spec, *bounds: object) -> None:
        compute = promoted([value for value in (self, *bounds) if value is not None])
        _refuse_complex_clamp(compute, *bounds)
        if compute is bool_dtype and ((None not in bounds and len(bounds) == 2) or not isinstance(bounds[0], Spec)):
            raise lacking(compute, kernel(self, *bounds))

    return checked(complex_checked, check_values)


clamp = _scalar_without_bool(
    MetaRule(_clamp, inplace=True, out=True, aliases_ok=True, leading=every_dim), _clamp_kernel
)
"""`clamp` with numbers or tensors."""

clamp_min = _scalar_without_bool(pointwise(operands=(0, 1), numbers=False), extreme_kernel("min"))
"""`clamp_min`."""

clamp_max = _scalar_without_bool(pointwise(operands=(0, 1), numbers=False), extreme_kernel("max"))
"""`clamp_max`."""


def _check_addcdiv(self: Spec, tensor1: Spec, tensor2: Spec, value: int = 1) -> None:
    if all(not (one.dtype.is_floating_point or one.dtype.is_complex) for one in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true "
            "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
            "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* "
            "tensor1 / tensor2), for all dtypes."
        )


addcdiv = checked(pointwise(operands=(0, 1, 2)), _check_addcdiv)
"""`addcdiv`."""


def _check_lerp(self: Spec, end: Spec, weight: Any) -> None:
    for name, value in (("end", end), ("weight", weight)):
        fits = not isinstance(value, Spec) or value.dtype is self.dtype or (name == "weight" and value.ndim == 0)
        if not fits:
            raise RuntimeError(f"expected dtype {c_type(self.dtype)} for `{name}` but got dtype {c_type(value.dtype)}")


def lerp(operands: Sequence[int]) -> MetaRule:
    """Rule of `lerp`: one dtype for all, and no integers."""
    rule = checked(pointwise(operands=operands), _check_lerp)
    return limited(rule, "lerp_kernel_scalar" if len(operands) == 2 else "lerp_kernel_tensor", INTEGERS, BOOL_NAMES)


def _check_heaviside(self: Spec, values: Spec) -> None:
    if self.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


heaviside = limited(checked(pointwise(operands=(0, 1)), _check_heaviside), "heaviside_cpu")
"""`heaviside`."""


def _where(condition: Spec, self: Any, other: Any) -> Outputs:
    if condition.dtype is not bool_dtype and condition.dtype.name != "uint8":
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    compute = promoted((self, other))
    specs = [value for value in (condition, self, other) if isinstance(value, Spec)]
    return Outputs(broadcast_spec(specs, compute, numbers=len(specs) < 3), cast={1: compute, 2: compute})


where = MetaRule(_where, out=True, leading=every_dim, apart=ELEMENTWISE)
"""`where`: two branches promote with each other, the condition does not take part."""
