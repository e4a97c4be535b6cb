"""Meta rules of comparisons."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.spec import Spec

from ..apart import ELEMENTWISE
from .pointwise import BOOL, broadcast_spec, checked, pointwise, promoted
from .rule import MetaRule, Outputs
from .support import WIDE_UNSIGNED, lacking, limited


def ordered(name: str) -> MetaRule:
    """Rule of `lt`, `le`, `gt`, `ge`: no order on complex numbers."""

    def check_values(self: Spec, other: Spec | float) -> None:
        compute = promoted((self, other))
        if compute.is_complex:
            raise lacking(compute, f"{name}_cpu")

    return limited(checked(pointwise(BOOL), check_values), f"{name}_cpu")


def logical(name: str) -> MetaRule:
    """Rule of truth values of any dtypes."""

    def rule(*values: Any) -> Outputs:
        specs = [value for value in values if isinstance(value, Spec)]
        compute = promoted(values)
        answer = Outputs(broadcast_spec(specs, bool_dtype))
        if compute.name in WIDE_UNSIGNED:
            answer.refused = lacking(compute, f"{name}_cpu")
        return answer

    return MetaRule(rule, inplace=True, out=True, apart=ELEMENTWISE)
