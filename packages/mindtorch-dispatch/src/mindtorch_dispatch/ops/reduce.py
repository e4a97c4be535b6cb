"""Reductions by sum, product and logic."""

from ..decomp import reduce as composed
from ..meta import reduce as rules
from ..table import CORE, op

op("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", rules.sum_all, tags={CORE}, out=False)
op(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    rules.sum_dims,
    tags={CORE},
)
op("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", rules.mean_all, tags={CORE})
op(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    rules.mean_dims,
    tags={CORE},
)
op("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", rules.sum_all, tags={CORE}, out=False)
op(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    rules.prod_dim,
    tags={CORE},
)
op(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    rules.nansum,
)
op(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    composite=composed.nanmean,
    out=True,
)
for _name in ("all", "any"):
    op(f"{_name}(Tensor self) -> Tensor", rules.logic_all(_name), tags={CORE})
    op(
        f"{_name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        rules.logic_dims(_name),
        tags={CORE},
    )
    op(f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", rules.logic_dims(_name), tags={CORE})
op("count_nonzero(Tensor self, int? dim=None) -> Tensor", rules.count_nonzero)
op("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", rules.count_nonzero)
op(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None)"
    " -> Tensor",
    rules.vector_norm,
    static=("ord",),
    variants="function",
    tags={CORE},
)
op(
    "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
    composite=composed.norm_dtype,
    out=True,
    variants="function",
)
op("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", composite=composed.norm, out=True, variants="function")
op(
    "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
    composite=composed.norm_dim,
    out=True,
    variants="function",
)
op(
    "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
    composite=composed.norm_dim,
    out=True,
    variants="function",
)
op("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", rules.dist, static=("p",))
op("hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor", rules.hash_tensor)
op("_is_all_true(Tensor self) -> Tensor", composite=composed.is_all_true)
op("_is_any_true(Tensor self) -> Tensor", composite=composed.is_any_true)
