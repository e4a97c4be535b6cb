"""Meta rules of comparisons."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.spec import Spec

from .pointwise import BOOL, broadcast_spec, checked, pointwise, promoted
from .rule import MetaRule, Outputs


def ordered(name: str) -> MetaRule:
    """Rule of `lt`, `le`, `gt`, `ge`: no order on complex numbers."""

    def check_values(self: Any, other: Any) -> None:
        compute = promoted((self, other))
        if compute.is_complex:
            raise NotImplementedError(f'"{name}_cpu" not implemented for \'{compute.scalar_name}\'')

    return checked(pointwise(BOOL), check_values)


def _logical(*values: Any) -> Outputs:
    specs = [value for value in values if isinstance(value, Spec)]
    return Outputs(broadcast_spec(specs, bool_dtype))


logical = MetaRule(_logical, inplace=True, out=True)
"""Truth values of any dtypes."""
