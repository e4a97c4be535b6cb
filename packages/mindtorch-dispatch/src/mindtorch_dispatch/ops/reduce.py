"""Reductions."""

from ..meta import reduce as rules
from ..table import CORE, op

op("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", rules.full_reduction(rules.sum_dtype), tags={CORE}, out=False)
op(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    rules.dims_reduction(rules.sum_dtype),
    tags={CORE},
)
