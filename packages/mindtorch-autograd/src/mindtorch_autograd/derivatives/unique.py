"""Distinct values: torch has no derivatives for them."""

from ..derivative import derivative
from .numbers import not_implemented

derivative("_unique2", self=not_implemented("_unique2"))
for _name in ("unique_dim", "unique_consecutive", "unique_dim_consecutive"):
    derivative(_name, self=not_implemented(_name))
