"""Covariances and correlations."""

from ..decomp import covariance as composed
from ..table import op

op(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    composite=composed.cov,
)
op("corrcoef(Tensor self) -> Tensor", composite=composed.corrcoef)
