"""Meta rules of activations: floating point only, the input's geometry."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import uint8
from mindtorch_storage.finfo import finfo
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_pair, broadcast_shapes, preserved_strides

from .checks import check, shape_text, wrap_dim
from .pointwise import DEFAULT, broadcast_spec, checked, pointwise, promoted
from .rule import MetaRule, Outputs, meta_rule
from .support import BOOL_NAMES, COMPLEX, INTEGERS, lacking, limited, require_floating


def floating(name: str, count: int = 1, *, inplace: bool = True, out: bool = True, complexes: bool = False) -> MetaRule:
    """Rule of an activation over its first `count` tensors; its kernel `name` has floats, and `complexes` where it says so."""

    def check_values(*values: object) -> None:
        compute = promoted(values[:count])
        if not (compute.is_floating_point or (complexes and compute.is_complex)):
            raise lacking(compute, name)

    return checked(pointwise(DEFAULT, operands=tuple(range(count)), inplace=inplace, out=out), check_values)


def gelu(rule: MetaRule) -> MetaRule:
    """Return `rule` with the check of the approximation's name, the last argument."""

    def check_values(*values: object) -> None:
        check(values[-1] in ("none", "tanh"), lambda: "approximate argument must be either none or tanh.")

    return checked(rule, check_values)


def _check_slope(name: str, slope: Any, hint: str = "") -> None:
    """Raise torch's error where the output does not tell what the input was."""
    check(
        slope >= 0,
        lambda: (
            f"In-place {name} backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version "
            f"instead.{hint}"
        ),
    )


def _check_leaky_relu_backward(grad_output: Spec, self: Spec, negative_slope: Any, self_is_result: bool) -> None:
    if self_is_result:
        _check_slope(
            "leakyReLu",
            negative_slope,
            " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu "
            "backward calculation with negative slope",
        )


leaky_relu_backward = checked(floating("leaky_relu_backward_cpu", 2, inplace=False), _check_leaky_relu_backward)
"""Gradient of `leaky_relu`; from the result only where the slope is not negative."""


def _check_elu_backward(grad_output: Spec, alpha: Any, *rest: Any) -> None:
    if rest[2]:  # is_result
        _check_slope("elu", alpha)


elu_backward = limited(
    checked(pointwise(DEFAULT, operands=(0, 5), inplace=False), _check_elu_backward),
    "elu_backward_cpu",
    COMPLEX,
    INTEGERS,
    BOOL_NAMES,
    INTEGERS,
    BOOL_NAMES,
)
"""Gradient of `elu`; from the result only where alpha is not negative."""


def _check_relu(self: Spec) -> None:
    check(self.dtype is not bool_dtype, lambda: "Boolean inputs not supported for relu")
    if self.dtype.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")


relu = limited(checked(pointwise(DEFAULT), _check_relu), "clamp_min_scalar_cpu")
"""`relu`: integers too, bool is refused."""


def _check_hardtanh(self: Spec, low: object, high: object) -> None:
    negative = self.dtype is uint8 and any(isinstance(limit, (int, float)) and limit < 0 for limit in (low, high))
    check(not negative, lambda: "cannot do hardtanh on an unsigned type with negative limits")
    check(self.dtype is not bool_dtype, lambda: "Bool inputs not supported for hardtanh")
    check(not self.dtype.is_complex, lambda: "clamp is not supported for complex types", NotImplementedError)


hardtanh = limited(checked(pointwise(DEFAULT, operands=(0,)), _check_hardtanh), "clamp_scalar_cpu")
"""`hardtanh`: integers too."""


threshold = limited(pointwise(DEFAULT, operands=(0,)), "threshold_cpu", COMPLEX, BOOL_NAMES)
"""`threshold`: integers too."""

threshold_backward = limited(pointwise(DEFAULT, operands=(1, 0), inplace=False), "threshold_cpu", COMPLEX, BOOL_NAMES)
"""`threshold_backward`: the operand comes before the gradient."""


def _check_softshrink(self: Spec, lambd: Any) -> None:
    require_floating(self, "softshrink_check")
    largest = finfo(self.dtype).max
    check(
        0 <= lambd <= largest,
        lambda: (
            f"lambda must be in range [0, {largest:g}] for input dtype {self.dtype.scalar_name}, but found {lambd:g}"
        ),
    )


softshrink = checked(pointwise(DEFAULT, operands=(0,), inplace=False), _check_softshrink)
"""`softshrink`: lambda is not negative."""


def _halved(self: Spec, dim: int) -> tuple[int, tuple[int, ...]]:
    """Return the dimension that `glu` halves, and the shape of a half."""
    check(self.ndim > 0, lambda: "glu does not support 0-dimensional tensors")
    wrapped = wrap_dim(dim, self.ndim)
    extent = self.shape[wrapped]
    check(
        extent % 2 == 0,
        lambda: f"Halving dimension must be even, but dimension {wrapped} is size {extent}",
    )
    return wrapped, (*self.shape[:wrapped], extent // 2, *self.shape[wrapped + 1 :])


@meta_rule(out=True)
def glu(self: Spec, dim: int = -1) -> Outputs:
    """`glu`: one half gated by the other."""
    wrapped, half = _halved(self, dim)
    require_floating(self, "glu_cpu")
    gate = Spec.of(self.dtype, self.device, half, self.stride)
    return Outputs(broadcast_spec([gate, gate], self.dtype), values=(self, wrapped))


@meta_rule(out=True)
def glu_backward(grad_output: Spec, self: Spec, dim: int) -> Outputs:
    """Gradient of `glu`."""
    wrapped, half = _halved(self, dim)
    made = tuple(broadcast_pair(half, grad_output.shape))
    check(
        made == half,
        lambda: f"output with shape {shape_text(half)} doesn't match the broadcast shape {shape_text(made)}",
    )
    return Outputs(self.contiguous(), values=(grad_output, self, wrapped))


@meta_rule()
def prelu_backward(grad_output: Spec, self: Spec, weight: Spec) -> tuple[Spec, Spec]:
    """Gradients of `_prelu_kernel`. Where a batch of gradients meets one input, they have the batch's shape."""
    shape = broadcast_shapes(grad_output.shape, self.shape, weight.shape)
    stride = preserved_strides(shape, self.stride) if shape == self.shape else None
    result = Spec.of(self.dtype, self.device, shape, stride)
    return result, result


@meta_rule()
def log_sigmoid_forward(self: Spec) -> tuple[Spec, Spec]:
    """`log_sigmoid` and an unused buffer."""
    require_floating(self, "log_sigmoid_cpu")
    return self.contiguous(), Spec.of(self.dtype, self.device, (0,))
