"""Meta rules of bitwise logic: integers and bool only."""

from __future__ import annotations

from mindtorch_storage.dtype import bool as bool_dtype

from .pointwise import checked, pointwise, promoted
from .rule import MetaRule
from .support import lacking, limited


def bitwise(name: str) -> MetaRule:
    """Rule of `bitwise_and` and its like."""
    kernel = f"{name}_cpu"

    def check_values(*values: object) -> None:
        compute = promoted(values)
        if compute.is_floating_point or compute.is_complex:
            raise lacking(compute, kernel)

    return checked(pointwise(), check_values)


bitwise_not = limited(bitwise("bitwise_not"), "bitwise_not_cpu")
"""`bitwise_not`."""


def shift(name: str) -> MetaRule:
    """Rule of shifts: bool is refused too."""
    kernel = {"bitwise_left_shift": "lshift_cpu", "bitwise_right_shift": "rshift_cpu"}[name]

    def check_values(*values: object) -> None:
        compute = promoted(values)
        if compute.is_floating_point or compute.is_complex or compute is bool_dtype:
            raise lacking(compute, kernel)

    return limited(checked(pointwise(), check_values), kernel)
