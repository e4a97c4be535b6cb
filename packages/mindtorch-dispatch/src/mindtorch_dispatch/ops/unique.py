"""Distinct values."""

from ..decomp import unique as composed
from ..meta import unique as rules
from ..table import DYNAMIC, op

_THREE = "(Tensor, Tensor, Tensor)"
_WHAT = "bool return_inverse=False, bool return_counts=False"
op(
    "_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)",
    composite=composed.unique_pair,
    variants="function",
)
op(f"_unique2(Tensor self, bool sorted=True, {_WHAT}) -> {_THREE}", rules.unique, variants="function", tags={DYNAMIC})
op(
    f"unique_dim(Tensor self, int dim, bool sorted=True, {_WHAT}) -> {_THREE}",
    composite=composed.unique_dim,
    variants="function",
)
op(
    f"unique_consecutive(Tensor self, {_WHAT}, int? dim=None) -> {_THREE}",
    composite=composed.unique_consecutive,
    variants="function",
)
op(
    f"unique_dim_consecutive(Tensor self, int dim, {_WHAT}) -> {_THREE}",
    composite=composed.unique_dim_consecutive,
    variants="function",
)
op(f"_unique_runs(Tensor self, {_WHAT}) -> {_THREE}", rules.unique_runs, variants="", tags={DYNAMIC})
op(f"_unique_rows(Tensor self, bool consecutive) -> {_THREE}", rules.unique_rows, variants="", tags={DYNAMIC})
