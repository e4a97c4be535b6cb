"""Activations and their gradients."""

from ..decomp import activation as composed
from ..meta import activation as rules
from ..table import CORE, op

op("relu(Tensor self) -> Tensor", rules.relu, tags={CORE}, out=False)
op(
    'gelu(Tensor self, *, str approximate="none") -> Tensor',
    rules.gelu(rules.floating("GeluKernelImpl")),
    variants="nn",
    tags={CORE},
)
op(
    'gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor',
    rules.gelu(rules.floating("GeluBackwardKernelImpl", 2, inplace=False)),
    variants="nn",
)
op("silu(Tensor self) -> Tensor", rules.floating("silu_cpu", complexes=True), variants="nn", tags={CORE})
op(
    "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    rules.floating("silu_backward_cpu", 2, inplace=False, complexes=True),
    variants="nn",
)
op("mish(Tensor self) -> Tensor", rules.floating("mish_cpu"), variants="nn")
op(
    "mish_backward(Tensor grad_output, Tensor self) -> Tensor",
    rules.floating("mish_backward_cpu", 2, inplace=False, out=False),
    variants="nn",
)
op(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    rules.floating("tanh_backward_cpu", 2, inplace=False, complexes=True),
    variants="nn",
)
op(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    rules.floating("sigmoid_backward_cpu", 2, inplace=False, complexes=True),
    variants="nn",
)
op(
    "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
    rules.floating("logit_backward_cpu", 2, inplace=False),
    variants="nn",
)
op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    rules.floating("leaky_relu_cpu"),
    variants="nn",
    tags={CORE},
)
op(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor",
    rules.leaky_relu_backward,
    variants="nn",
    static=("negative_slope",),
)
op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    rules.floating("elu_cpu"),
    variants="nn",
)
op(
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) "
    "-> Tensor",
    rules.elu_backward,
    variants="nn",
    static=("alpha",),
)
op("selu(Tensor self) -> Tensor", composite=composed.selu, variants="function")
op("selu_(Tensor(a!) self) -> Tensor(a!)", composite=composed.selu_, variants="function")
op("celu(Tensor self, Scalar alpha=1.) -> Tensor", composite=composed.celu, variants="function")
op("celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)", composite=composed.celu_, variants="function")
op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    rules.hardtanh,
    variants="nn",
    static=("min_val", "max_val"),
)
op(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    rules.floating("hardshrink_backward_cpu", 2, inplace=False),
    variants="nn",
)
op("relu6(Tensor self) -> Tensor", composite=composed.relu6, variants="nn")
op("relu6_(Tensor(a!) self) -> Tensor(a!)", composite=composed.relu6_, variants="nn")
op("hardswish(Tensor self) -> Tensor", rules.floating("hardswish_cpu"), variants="nn")
op(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    rules.floating("hardswish_backward_cpu", 2, inplace=False, out=False),
    variants="nn",
)
op("hardsigmoid(Tensor self) -> Tensor", rules.floating("hardsigmoid_cpu"), variants="nn")
op(
    "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    rules.floating("hardsigmoid_backward", 2, inplace=False),
    variants="nn",
)
op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    rules.floating("softplus_cpu", inplace=False),
    variants="nn",
)
op(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    rules.floating("softplus_backward_cpu", 2, inplace=False),
    variants="nn",
)
op("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", rules.softshrink, variants="nn", static=("lambd",))
op(
    "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
    rules.floating("shrink_backward_cpu", 2, inplace=False),
    variants="nn",
)
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    rules.floating("hardshrink_cpu", inplace=False),
    rounds=("lambd",),
)
op(
    "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
    rules.floating("shrink_backward_cpu", 2, inplace=False),
    variants="",
)
op("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", rules.threshold, variants="function")
op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    rules.threshold_backward,
    variants="",
)
op("log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", rules.log_sigmoid_forward, variants="")
op("log_sigmoid(Tensor self) -> Tensor", composite=composed.log_sigmoid, variants="nn", out=True)
op(
    "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    rules.floating("log_sigmoid_backward_cpu", 2, inplace=False),
    variants="nn",
)
op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    rules.floating("prelu_cpu", 2, inplace=False, out=False),
    variants="",
)
op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    rules.prelu_backward,
    variants="",
)
op("prelu(Tensor self, Tensor weight) -> Tensor", composite=composed.prelu)
op("glu(Tensor self, int dim=-1) -> Tensor", rules.glu, variants="nn")
op("glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", rules.glu_backward, variants="nn")
_RRELU = "Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None"
op(f"rrelu(Tensor self, {_RRELU}) -> Tensor", composite=composed.rrelu, variants="function")
op(f"rrelu_(Tensor(a!) self, {_RRELU}) -> Tensor(a!)", composite=composed.rrelu_, variants="function")
op(
    "_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    composite=composed.add_relu,
    variants="function",
    inplace=True,
    out="out",
)
op(
    "_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    composite=composed.add_relu,
    variants="function",
    inplace=True,
)
