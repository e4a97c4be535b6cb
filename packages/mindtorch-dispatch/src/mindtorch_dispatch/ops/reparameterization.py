"""Rows of the derivatives of drawn numbers by the parameters of their law."""

from ..meta.pointwise import checked, pointwise
from ..meta.random import same_single_or_double
from ..table import op

op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    checked(pointwise(inplace=False), same_single_or_double("_standard_gamma_grad_cpu")),
    variants="function",
)
op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    checked(pointwise(inplace=False), same_single_or_double("_dirichlet_grad_cpu")),
    variants="function",
)
