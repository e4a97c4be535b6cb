"""Orthogonal polynomials of a degree given per element."""

from ..meta import special as rules
from ..table import op

_NAMES = [
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]
for _name in _NAMES:
    for _x, _n, _overload in (
        ("Tensor", "Tensor", ""),
        ("Scalar", "Tensor", ".x_scalar"),
        ("Tensor", "Scalar", ".n_scalar"),
    ):
        op(
            f"special_{_name}{_overload}({_x} x, {_n} n) -> Tensor",
            rules.real_only(f"{_name}_cpu", half=False),
            variants="function",
            inplace=False,
        )
