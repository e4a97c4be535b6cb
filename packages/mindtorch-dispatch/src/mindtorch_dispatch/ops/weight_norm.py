"""Weights as length times direction."""

from ..decomp import weight_norm as composed
from ..table import op

op(
    "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    composite=composed.norm_except_dim,
    variants="function",
)
op("_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", composite=composed.weight_norm, variants="function")
