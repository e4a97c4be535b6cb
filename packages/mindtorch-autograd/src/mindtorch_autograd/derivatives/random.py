"""Derivatives of random ops: what a fill overwrites has gradient zero."""

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import NON_DIFFERENTIABLE, derivative


def _zeros(grad: Tensor) -> Any:
    return aten.zeros_like(grad)


derivative("uniform_ normal_ exponential_ geometric_ cauchy_ log_normal_", self=_zeros)
derivative("random_.from", self=_zeros)
derivative("random_.to", self=_zeros, node="RandomBackward1")
derivative("random_", self=_zeros, node="RandomBackward2")
derivative("bernoulli_.Tensor", self=_zeros, p=lambda grad, p: aten.zeros_like(p), node="BernoulliBackward1")
derivative("bernoulli_.float", self=_zeros, node="BernoulliBackward2")
derivative("bernoulli", self=_zeros)
derivative("poisson", self=_zeros)
derivative("_standard_gamma", self=lambda grad, self, result: grad * aten._standard_gamma_grad(self, result))
derivative("multinomial", NON_DIFFERENTIABLE)
derivative(
    "rand_like rand_like.generator randn_like randn_like.generator randint_like randint_like.low_dtype "
    "randint_like.generator randint_like.low_generator_dtype",
    NON_DIFFERENTIABLE,
)
derivative("normal.Tensor_float", mean=_zeros, node="NormalBackward1")
derivative("normal.float_Tensor", std=_zeros, node="NormalBackward2")
derivative("normal.Tensor_Tensor", mean=_zeros, std=_zeros, node="NormalBackward3")
derivative(
    "native_dropout",
    input=lambda grad, result1, p, train: aten.native_dropout_backward(
        grad, result1, 1.0 if train is False else (0.0 if p == 1 else 1.0 / (1.0 - p))
    ),
    outputs=(0,),
)
derivative(
    "native_dropout_backward",
    grad_output=lambda grad, mask, scale: aten.native_dropout_backward(grad, mask, scale),
)
