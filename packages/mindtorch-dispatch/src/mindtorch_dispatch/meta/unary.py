"""Meta rules of elementwise functions of one operand that differ from the plain ones."""

from __future__ import annotations

from typing import cast

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.spec import Spec

from ..apart import ELEMENTWISE
from .checks import check
from .pointwise import DEFAULT, REAL, SAME, checked, pointwise
from .rule import MetaRule, Outputs, every_dim
from .support import BOOL_NAMES, COMPLEX, INTEGERS, limited, refuse


def rounding(name: str) -> MetaRule:
    """Rule of `floor` and its like: complex and bool are refused."""

    def check_values(self: Spec) -> None:
        if self.dtype.is_complex and name != "round":
            raise NotImplementedError(f"{name} is not supported for complex inputs")
        refuse(self, f"{name}_vml_cpu", COMPLEX | BOOL_NAMES)

    return checked(pointwise(SAME, operands=(0,)), check_values)


def _round_decimals(self: Spec, decimals: int) -> Outputs:
    refuse(self, "round_cpu" if decimals else "round_vml_cpu", COMPLEX | BOOL_NAMES | INTEGERS)
    return cast(Outputs, pointwise(SAME, operands=(0,))(self))


round_decimals = MetaRule(_round_decimals, inplace=True, out=True, aliases_ok=True, leading=every_dim)
"""`round` to decimals: floating point only."""

frac = limited(pointwise(SAME), "frac_cpu", COMPLEX, INTEGERS, BOOL_NAMES)
"""`frac`: floating point only."""


def _check_neg(self: Spec) -> None:
    check(
        self.dtype is not bool_dtype,
        lambda: (
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        ),
    )


neg = limited(checked(pointwise(DEFAULT), _check_neg), "neg_cpu")
"""`neg`: refuses bool."""


def _check_sign(self: Spec) -> None:
    check(
        not self.dtype.is_complex,
        lambda: "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
        NotImplementedError,
    )


sign = limited(checked(pointwise(SAME), _check_sign), "sign_cpu")
"""`sign`: refuses complex."""

abs_ = limited(pointwise(REAL), "abs_cpu", BOOL_NAMES)
"""`abs`: complex gives real."""


def _angle(self: Spec) -> Outputs:
    if self.dtype.is_complex or self.dtype.is_floating_point:
        return cast(Outputs, pointwise(REAL)(self))
    return cast(Outputs, pointwise("float")(self))


angle = MetaRule(_angle, out=True, apart=ELEMENTWISE)
"""`angle`."""


def _signbit(self: Spec) -> Outputs:
    check(not self.dtype.is_complex, lambda: "signbit is not implemented for complex tensors.", NotImplementedError)
    return cast(Outputs, pointwise("bool")(self))


signbit = MetaRule(
    _signbit,
    out=True,
    exact=lambda spec, given: "signbit does not support non-boolean outputs.",
    apart=ELEMENTWISE,
)
"""`signbit`: refuses complex."""


def infinite(name: str) -> MetaRule:
    """Rule of `isposinf` and `isneginf`: complex is refused."""

    def rule(self: Spec) -> Outputs:
        check(not self.dtype.is_complex, lambda: f"{name} does not support complex inputs.")
        return cast(Outputs, pointwise("bool")(self))

    return MetaRule(
        rule,
        out=True,
        exact=lambda spec, given: f"{name} does not support non-boolean outputs.",
        apart=ELEMENTWISE,
    )
