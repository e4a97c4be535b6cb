"""Comparisons and logic: bool results."""

from ..decomp import comparison as composed
from ..decomp.alias import alias_of
from ..meta.comparison import logical, ordered
from ..meta.pointwise import BOOL, pointwise
from ..table import CORE, op

for _name in ("eq", "ne"):
    for _other in ("Tensor", "Scalar"):
        op(f"{_name}.{_other}(Tensor self, {_other} other) -> Tensor", pointwise(BOOL), rounds=("other",), tags={CORE})
for _name in ("lt", "le", "gt", "ge"):
    for _other in ("Tensor", "Scalar"):
        op(f"{_name}.{_other}(Tensor self, {_other} other) -> Tensor", ordered(_name), rounds=("other",), tags={CORE})
for _alias, _target in (
    ("not_equal", "ne"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("greater", "gt"),
    ("greater_equal", "ge"),
):
    for _other in ("Tensor", "Scalar"):
        op(
            f"{_alias}.{_other}(Tensor self, {_other} other) -> Tensor",
            composite=alias_of(_target),
            inplace=True,
            out=True,
        )
for _name in ("logical_and", "logical_or", "logical_xor"):
    op(f"{_name}(Tensor self, Tensor other) -> Tensor", logical(_name), tags={CORE})
op("logical_not(Tensor self) -> Tensor", logical("logical_not"), tags={CORE})
op("equal(Tensor self, Tensor other) -> bool", composite=composed.equal)
