"""Elementwise arithmetic of two and three operands."""

from ..apart import ELEMENTWISE, PARTLY, Apart
from ..decomp import pointwise as composed
from ..decomp.alias import alias_of
from ..meta.pointwise import (
    FLOAT,
    add,
    addcdiv,
    clamp,
    clamp_max,
    clamp_min,
    heaviside,
    lerp,
    no_bool_sub,
    no_complex,
    placed,
    pointwise,
    reflected_sub,
    row_major,
    where,
)
from ..meta.support import BOOL_NAMES, COMPLEX, FLOATS, INTEGERS, limited
from ..table import CORE, op

TWO = pointwise(operands=(0, 1))
OTHER = ("other",)
SCALED = ("other", "alpha")
REMAINDER = limited(no_complex("remainder"), "remainder_cpu", BOOL_NAMES)
FMOD = limited(no_complex("fmod"), "fmod_cpu", BOOL_NAMES)
POW = limited(TWO, "pow", BOOL_NAMES)
POW_NUMBER = limited(pointwise(operands=(0, 1), numbers=False), "pow")

op("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", add, rounds=SCALED, tags={CORE})
op("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", add, rounds=SCALED)
op("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", no_bool_sub, rounds=SCALED, tags={CORE})
op("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", no_bool_sub, rounds=SCALED)
op(
    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    reflected_sub,
    rounds=SCALED,
    variants="function",
    inplace=False,
    out=False,
)
op(
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    reflected_sub,
    rounds=SCALED,
    variants="function",
    inplace=False,
    out=False,
)
op("mul.Tensor(Tensor self, Tensor other) -> Tensor", TWO, keeps=OTHER, tags={CORE})
op("mul.Scalar(Tensor self, Scalar other) -> Tensor", TWO)
op("div.Tensor(Tensor self, Tensor other) -> Tensor", pointwise(FLOAT), keeps=OTHER, tags={CORE})
op("div.Scalar(Tensor self, Scalar other) -> Tensor", pointwise(FLOAT))
op(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    composite=composed.div_mode,
    inplace=True,
    out=True,
    apart=ELEMENTWISE,
)
op(
    "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
    composite=composed.div_mode,
    inplace=True,
)
for _name in ("_div_floor", "_div_trunc"):
    op(
        f"{_name}.Tensor(Tensor self, Tensor other) -> Tensor",
        limited(TWO, f"{_name[1:]}_cpu", COMPLEX, BOOL_NAMES),
        keeps=OTHER,
        variants="",
    )
    op(
        f"{_name}.Scalar(Tensor self, Scalar other) -> Tensor",
        limited(TWO, f"{_name[1:]}_cpu", COMPLEX, BOOL_NAMES),
        variants="",
    )
op(
    "floor_divide(Tensor self, Tensor other) -> Tensor",
    limited(TWO, "div_floor_cpu", COMPLEX, BOOL_NAMES),
    keeps=OTHER,
)
op("remainder.Tensor(Tensor self, Tensor other) -> Tensor", REMAINDER, rounds=OTHER)
op("remainder.Scalar(Tensor self, Scalar other) -> Tensor", REMAINDER, rounds=OTHER)
op(
    "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    REMAINDER,
    rounds=("self",),
    variants="function",
    inplace=False,
    out=False,
)
op("fmod.Tensor(Tensor self, Tensor other) -> Tensor", FMOD, rounds=OTHER)
op("fmod.Scalar(Tensor self, Scalar other) -> Tensor", FMOD, rounds=OTHER)
op("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", POW, tags={CORE})
op("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", POW_NUMBER, rounds=("exponent",), tags={CORE})
op(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    placed(POW_NUMBER, row_major),
    rounds=("self",),
    variants="function",
    inplace=False,
)
op(
    "maximum(Tensor self, Tensor other) -> Tensor",
    limited(no_complex("maximum", complex_text=True), "maximum_cpu"),
    inplace=False,
    tags={CORE},
)
op(
    "minimum(Tensor self, Tensor other) -> Tensor",
    limited(no_complex("minimum", complex_text=True), "minimum_cpu"),
    inplace=False,
    tags={CORE},
)
op(
    "fmax(Tensor self, Tensor other) -> Tensor",
    limited(no_complex("fmax", complex_text=True), "maximum_cpu"),
    inplace=False,
)
op(
    "fmin(Tensor self, Tensor other) -> Tensor",
    limited(no_complex("fmin", complex_text=True), "minimum_cpu"),
    inplace=False,
)
op("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", clamp, tags={CORE})
op("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", clamp, tags={CORE})
op("clamp_min(Tensor self, Scalar min) -> Tensor", clamp_min)
op("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", clamp_min)
op("clamp_max(Tensor self, Scalar max) -> Tensor", clamp_max)
op("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", clamp_max)
op(
    "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    composite=alias_of("clamp"),
    inplace=True,
    out=True,
)
op(
    "clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    composite=alias_of("clamp"),
    inplace=True,
    out=True,
)
op(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    limited(pointwise(operands=(0, 1, 2)), "addcmul_cpu_out", BOOL_NAMES),
)
op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor", addcdiv)
op("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor", lerp((0, 1)))
op("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", lerp((0, 1, 2)))
op("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", where, tags={CORE})
op("where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", where, variants="function", out=False)
op("where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", where, out=False)
op("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", where, variants="function", out=False)
op("atan2(Tensor self, Tensor other) -> Tensor", limited(pointwise(FLOAT), "atan2_cpu", COMPLEX))
op("arctan2(Tensor self, Tensor other) -> Tensor", composite=alias_of("atan2"), inplace=True, out=True)
op("copysign.Tensor(Tensor self, Tensor other) -> Tensor", limited(pointwise(FLOAT), "copysign_cpu", COMPLEX))
op("copysign.Scalar(Tensor self, Scalar other) -> Tensor", limited(pointwise(FLOAT), "copysign_cpu", COMPLEX))
op("hypot(Tensor self, Tensor other) -> Tensor", limited(TWO, "hypot_cpu", COMPLEX, INTEGERS, BOOL_NAMES))
op("nextafter(Tensor self, Tensor other) -> Tensor", limited(TWO, "nextafter_cpu", COMPLEX, INTEGERS, BOOL_NAMES))
op("logaddexp(Tensor self, Tensor other) -> Tensor", limited(TWO, "logaddexp_cpu", INTEGERS, BOOL_NAMES), inplace=False)
op(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    limited(TWO, "logaddexp2_cpu", COMPLEX, INTEGERS, BOOL_NAMES),
    inplace=False,
)
op("xlogy.Tensor(Tensor self, Tensor other) -> Tensor", limited(pointwise(FLOAT), "xlogy_cpu", COMPLEX))
op("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", limited(pointwise(FLOAT), "xlogy_cpu", COMPLEX))
op(
    "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    limited(pointwise(FLOAT), "xlogy_cpu", COMPLEX),
    variants="function",
    inplace=False,
)
op("heaviside(Tensor self, Tensor values) -> Tensor", heaviside)
op("gcd(Tensor self, Tensor other) -> Tensor", limited(TWO, "gcd_cpu", COMPLEX, FLOATS, BOOL_NAMES))
op("lcm(Tensor self, Tensor other) -> Tensor", limited(TWO, "lcm_cpu", COMPLEX, FLOATS, BOOL_NAMES))
op(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    composite=composed.ldexp,
    inplace=True,
    out=True,
    apart=Apart("", {0: PARTLY}),
)
op(
    "float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    composite=composed.float_power,
    out=True,
)
op(
    "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    composite=composed.float_power,
    variants="function",
    out=True,
)
op(
    "float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    composite=composed.float_power,
    out=True,
)
op(
    "float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)",
    composite=composed.float_power_,
    variants="method",
)
op(
    "float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)",
    composite=composed.float_power_,
    variants="method",
)
for _alias, _target in (("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("true_divide", "div")):
    _alpha = ", *, Scalar alpha=1" if _target == "sub" else ""
    op(
        f"{_alias}.Tensor(Tensor self, Tensor other{_alpha}) -> Tensor",
        composite=alias_of(_target),
        inplace=True,
        out=True,
    )
op(
    "subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    composite=alias_of("sub"),
    inplace=True,
)
op(
    "divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    composite=composed.div_mode,
    inplace=True,
    out=True,
    apart=ELEMENTWISE,
)
op(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    composite=composed.isclose,
)
op(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    composite=composed.allclose,
)
