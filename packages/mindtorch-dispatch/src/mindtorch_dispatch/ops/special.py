"""Special functions: gamma, error function, zeta and their like."""

from ..apart import ELEMENTWISE
from ..decomp import special as composed
from ..decomp.alias import alias_of
from ..meta import special as rules
from ..meta.packs import pack
from ..table import op

# Name, the parameter's name, whether half precision has a kernel.
_UNARY = (
    ("entr", "self", True),
    ("erfcx", "self", False),
    ("i0e", "self", True),
    ("i1", "self", True),
    ("i1e", "self", True),
    ("log_ndtr", "self", False),
    ("ndtri", "self", False),
    ("airy_ai", "x", False),
    ("bessel_j0", "self", False),
    ("bessel_j1", "self", False),
    ("bessel_y0", "self", False),
    ("bessel_y1", "self", False),
    ("modified_bessel_i0", "self", False),
    ("modified_bessel_i1", "self", False),
    ("modified_bessel_k0", "self", False),
    ("modified_bessel_k1", "self", False),
    ("scaled_modified_bessel_k0", "x", False),
    ("scaled_modified_bessel_k1", "x", False),
    ("spherical_bessel_j0", "x", False),
)
for _name, _parameter, _half in _UNARY:
    op(
        f"special_{_name}(Tensor {_parameter}) -> Tensor",
        rules.real_only(f"{_name}_cpu", half=_half),
        variants="function",
    )
op("special_ndtr(Tensor self) -> Tensor", composite=composed.ndtr, variants="function", out=True)
for _name, _half in (("xlog1py", True), ("zeta", False)):
    for _first, _second, _overload in (
        ("Tensor", "Tensor", ""),
        ("Scalar", "Tensor", ".self_scalar"),
        ("Tensor", "Scalar", ".other_scalar"),
    ):
        op(
            f"special_{_name}{_overload}({_first} self, {_second} other) -> Tensor",
            rules.real_only(f"{_name}_cpu", half=_half),
            variants="function",
            inplace=False,
        )
for _first, _second, _overload in (
    ("Tensor", "Tensor", ""),
    ("Scalar", "Tensor", ".self_scalar"),
    ("Tensor", "Scalar", ".other_scalar"),
):
    op(
        f"special_xlogy{_overload}({_first} self, {_second} other) -> Tensor",
        composite=composed.xlogy,
        variants="function",
        out=True,
        apart=ELEMENTWISE,
    )
for _name, _alias in (("igamma", "special_gammainc"), ("igammac", "special_gammaincc")):
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", rules.incomplete_gamma(f"{_name}_cpu"))
    op(
        f"{_alias}(Tensor self, Tensor other) -> Tensor",
        composite=alias_of(_name),
        variants="function",
        out=True,
    )
op("polygamma(int n, Tensor self) -> Tensor", rules.polygamma)
op("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", composite=composed.polygamma_, variants="method")
op(
    "special_polygamma(int n, Tensor self) -> Tensor",
    composite=alias_of("polygamma"),
    variants="function",
    out=True,
)
op("mvlgamma(Tensor self, int p) -> Tensor", rules.mvlgamma)
op(
    "special_multigammaln(Tensor self, int p) -> Tensor",
    composite=alias_of("mvlgamma"),
    variants="function",
    out=True,
)
op(
    "special_logit(Tensor self, float? eps=None) -> Tensor",
    composite=alias_of("logit"),
    variants="function",
    out=True,
)
op(
    "special_round(Tensor self, *, int decimals=0) -> Tensor",
    composite=composed.round_decimals,
    variants="function",
    out=True,
    apart=ELEMENTWISE,
)
op(
    "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    rules.frexp,
    pack=pack("frexp", "mantissa exponent"),
)
