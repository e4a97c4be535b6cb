"""Elementwise functions of one operand."""

from ..apart import ELEMENTWISE
from ..decomp import unary as composed
from ..decomp.alias import alias_of
from ..meta import unary as rules
from ..meta.pointwise import BOOL, FLOAT, SAME, placed, pointwise, preserved
from ..meta.support import COMPLEX, limited
from ..table import CORE, op

_FLOAT = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "i0",
]
_REAL_KERNELS = {
    "digamma": "digamma", "erf": "erf_vml_cpu", "erfc": "erfc_vml_cpu", "erfinv": "erfinv_vml_cpu", "i0": "i0_vml_cpu",
    "lgamma": "lgamma_vml_cpu",
}  # fmt: skip
for _name in _FLOAT:
    _rule = limited(pointwise(FLOAT), _REAL_KERNELS[_name], COMPLEX) if _name in _REAL_KERNELS else pointwise(FLOAT)
    op(f"{_name}(Tensor self) -> Tensor", _rule, tags={CORE})
for _name in ("ceil", "floor", "trunc", "round"):
    op(f"{_name}(Tensor self) -> Tensor", rules.rounding(_name), tags={CORE})
op("round.decimals(Tensor self, *, int decimals) -> Tensor", rules.round_decimals)
op("frac(Tensor self) -> Tensor", rules.frac)
op("neg(Tensor self) -> Tensor", rules.neg, tags={CORE})
op("abs(Tensor self) -> Tensor", rules.abs_, tags={CORE})
op("sign(Tensor self) -> Tensor", rules.sign, tags={CORE})
op("sgn(Tensor self) -> Tensor", limited(pointwise(SAME), "sign_cpu"), tags={CORE})
op("angle(Tensor self) -> Tensor", rules.angle)
op("signbit(Tensor self) -> Tensor", rules.signbit, inplace=False)
op("logit(Tensor self, float? eps=None) -> Tensor", limited(pointwise(FLOAT, operands=(0,)), "logit_cpu", COMPLEX))
op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    placed(pointwise(SAME, operands=(0,)), preserved),
)
op("isnan(Tensor self) -> Tensor", pointwise(BOOL, inplace=False, out=False))
op("isinf(Tensor self) -> Tensor", pointwise(BOOL, inplace=False, out=False))
op("isfinite(Tensor self) -> Tensor", pointwise(BOOL, inplace=False, out=False))
op("isposinf(Tensor self) -> Tensor", rules.infinite("isposinf"), inplace=False)
op("isneginf(Tensor self) -> Tensor", rules.infinite("isneginf"), inplace=False)
op("isreal(Tensor self) -> Tensor", composite=composed.isreal)
op("conj_physical(Tensor self) -> Tensor", pointwise(SAME), tags={CORE})
op("conj(Tensor(a) self) -> Tensor(a)", composite=composed.conj)
op("positive(Tensor(a) self) -> Tensor(a)", composite=composed.positive)
op("square(Tensor self) -> Tensor", composite=composed.square, inplace=True, out=True, apart=ELEMENTWISE)
op("deg2rad(Tensor self) -> Tensor", composite=composed.deg2rad, inplace=True, out=True, apart=ELEMENTWISE)
op("rad2deg(Tensor self) -> Tensor", composite=composed.rad2deg, inplace=True, out=True, apart=ELEMENTWISE)
for _alias, _target in (
    ("absolute", "abs"),
    ("negative", "neg"),
    ("fix", "trunc"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctanh", "atanh"),
):
    op(f"{_alias}(Tensor self) -> Tensor", composite=alias_of(_target), inplace=True, out=True)
_SPECIAL = {
    "special_exp2": "exp2", "special_expm1": "expm1", "special_log1p": "log1p", "special_expit": "sigmoid",
    "special_erf": "erf", "special_erfc": "erfc", "special_erfinv": "erfinv", "special_gammaln": "lgamma",
    "special_digamma": "digamma", "special_psi": "digamma", "special_i0": "i0", "special_sinc": "sinc",
}  # fmt: skip
for _alias, _target in _SPECIAL.items():
    op(f"{_alias}(Tensor self) -> Tensor", composite=alias_of(_target), out=True, variants="function")
