"""Factors of symmetric matrices: torch has no derivatives either."""

from ..derivative import derivative
from .numbers import not_implemented

derivative("linalg_ldl_factor_ex", self=not_implemented("linalg_ldl_factor_ex"), outputs=(0,))
derivative("linalg_ldl_solve", B=not_implemented("linalg_ldl_solve"))
