"""Variance, order statistics, the most frequent value."""

from ..decomp import statistics as composed
from ..meta import statistics as rules
from ..meta.packs import pack
from ..table import CORE, op

for _name in ("std", "var", "std_mean", "var_mean"):
    _pair = _name.endswith("_mean")
    _variants = "function" if _pair else "function, method"
    _result = "(Tensor, Tensor)" if _pair else "Tensor"
    op(
        f"{_name}.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> {_result}",
        composite=composed.spread_dim(_name),
        variants=_variants,
        out=not _pair,
    )
    op(
        f"{_name}.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)"
        f" -> {_result}",
        rules.moments(_name) if _pair else rules.spread(_name),
        variants=_variants,
        out=not _pair,
        static=("correction",),
        tags={CORE},
    )
    op(
        f"{_name}(Tensor self, bool unbiased=True) -> {_result}",
        composite=composed.spread_all(_name),
        variants=_variants,
    )
for _name in ("median", "nanmedian"):
    op(f"{_name}(Tensor self) -> Tensor", rules.median_all)
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        rules.median_dim,
        pack=pack(_name, "values indices"),
    )
op(
    "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    rules.mode,
    pack=pack("mode", "values indices"),
)
op(
    "kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    rules.kthvalue,
    pack=pack("kthvalue", "values indices"),
)
for _name in ("quantile", "nanquantile"):
    op(
        f'{_name}(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation="linear") -> Tensor',
        composite=composed.quantile(_name),
        out=True,
    )
    op(
        f"{_name}.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, "
        'str interpolation="linear") -> Tensor',
        composite=composed.quantile_scalar(_name),
        out=True,
    )
op(
    "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    composite=composed.cov,
)
op("corrcoef(Tensor self) -> Tensor", composite=composed.corrcoef)
