"""Numbers far too large, which torch answers or refuses at once."""

from __future__ import annotations

import pytest

from .expressions import agrees

POLYNOMIALS = [
    *(
        f"t.special.{prefix}chebyshev_polynomial_{kind}(t.tensor([{x}, 1.1]), t.tensor([2**62, 9]))"
        for kind in "tuvw"
        for prefix in ("", "shifted_")
        for x in ("3.0", "1.0", "-3.0", "float('inf')")
    ),
    *(
        f"t.special.{name}(t.tensor([3.0, 2.0]), t.tensor([{degree}, 7]))"
        for name in ("hermite_polynomial_h", "hermite_polynomial_he", "legendre_polynomial_p")
        for degree in ("2**62", "200", "5")
    ),
    *(f"t.special.{name}(t.tensor([0.5]), 2**63 - 1)" for name in ("legendre_polynomial_p", "laguerre_polynomial_l")),
    *(f"t.special.legendre_polynomial_p({x}, t.tensor([2**53, -2**63, -3, 2**31, 3, 2]))" for x in ("1.0", "-1.0")),
    "t.special.laguerre_polynomial_l(0.0, t.tensor([2**53, -2**63, -3, 2**31, 3, 2]))",
    "t.special.laguerre_polynomial_l(t.tensor([300.0, 2.0]), t.tensor([2000, 7]))",
    "t.polygamma(2**31, z)",
    "t.polygamma(200, v)",
]

TRIANGLES = [
    *(
        f"t.{name}({rows}, {columns}, {offset})"
        for name in ("tril_indices", "triu_indices")
        for rows, columns in ((5, 4), (4, 5), (0, 3), (3, 0))
        for offset in (-7, -2, -1, 0, 1, 2, 7, 2**62, -(2**62))
    ),
    "t.triu_indices(2**31, 1)",
    "t.triu_indices(2**40, 3, -1)",
    "t.tril_indices(2**40, 3, -2**40 + 2)",
]

OTHERS = [
    "[len(v.tensor_split(20000))]",
    "v.tensor_split(2**62)",
    "v.tensor_split(t.tensor(2**62))",
    "t.combinations(v, 300)",
    "t.combinations(v, 3)",
    "t.combinations(v, 3, True)",
    "t.combinations(e, 3)",
    "t.bincount(t.tensor([2**63 - 1]))",
    "t.bincount(t.tensor([3, -1]))",
    "t.lgamma(t.tensor([-float('inf'), float('inf'), float('nan'), 0.0, -1.0, 1e30, -1e30]))",
    "t.lgamma(t.tensor(-float('inf'), dtype=t.float16))",
    "t.lgamma(t.tensor([5e-324, 1e-310, -5e-324, 2.3e-308, 0.0], dtype=t.float64))",
    "t.lgamma(t.tensor([1e-45, 1e-40, -1e-45, 1.2e-38]))",
    "t._standard_gamma_grad(t.tensor([0.0, 0.5, 2.0, 1e-3]), t.zeros(4))",
    *(
        f"t.linalg.vector_norm(t.tensor([[float('inf'), -0.0, 1e30, -3.0]]), {order}, dim=0)"
        for order in ("0", "1", "2", "3", "0.5", "-1", "float('inf')", "-float('inf')")
    ),
    "t.norm(t.tensor(1e300, dtype=t.float64))",
    "(t.manual_seed(3), t._standard_gamma(t.tensor([2.0, -0.2, -1e30, -1.0, 0.0, float('inf'), float('nan'), 3.0])))[1]",
    "(t.manual_seed(3), t._sample_dirichlet(t.tensor([[1.5, 0.0, 4.0], [0.0, -1.0, -1.0]])))[1]",
    "t.tensor(5).addcmul_(t.tensor(-2), t.tensor(5), value=-0.5)",
    *(
        f"t.{name}(t.ones({shape}), dim={dim})"
        for name in ("trapezoid", "cumulative_trapezoid")
        for shape in ((0,), (1,), (0, 2), (2, 0))
        for dim in (0, -1)
    ),
    "t.special.laguerre_polynomial_l(t.ones([0] + [1] * 58), 0.0).shape",
    "t.special.shifted_chebyshev_polynomial_t(t.ones([1] * 58), t.tensor(3.0))",
    *(f"t.tensor([0.0, 1j, 0.0]).to(t.complex32).{name}" for name in ("any(0)", "all(0)", "any()", "count_nonzero()")),
    "t.special.airy_ai(t.tensor([1e30, float('inf'), -float('inf'), 104.0, 103.0]))",
]

CONVOLUTIONS = [
    "t.nn.functional.conv2d(t.ones(1, 3, 8, 8), t.ones(6, 3, 3, 3), stride=2**63 - 1)",
    "t.nn.functional.conv2d(t.ones(1, 3, 8, 8), t.ones(6, 3, 3, 3), stride=(2**62, 1))",
    "t.nn.functional.conv2d(t.ones(1, 3, 8, 8), t.ones(6, 3, 3, 3), padding=2**63 - 1)",
    "t.nn.functional.conv2d(t.ones(1, 3, 8, 8), t.ones(6, 3, 1, 3), dilation=(2**62, 2))",
    "t.nn.functional.conv1d(t.ones(1, 3, 8), t.ones(6, 3, 3), stride=2**62)",
    "t.nn.functional.conv3d(t.ones(1, 1, 3, 3, 3), t.ones(1, 1, 3, 3, 3), stride=2**63 - 1)",
    "t.autograd.functional.vjp(lambda x: t.nn.functional.conv2d(x, t.ones(6, 3, 3, 3), stride=2**62).sum(), "
    "t.ones(1, 3, 8, 8))",
]

LOSSES = [
    f"t.ops.aten.{name}_backward({gradient}, {operands}, {reduction}{bound})"
    for name, bound in (
        ("mse_loss", ""),
        ("smooth_l1_loss", ", 1.0"),
        ("smooth_l1_loss", ", -1.0"),
        ("smooth_l1_loss", ", 0.0"),
        ("huber_loss", ", 1.0"),
    )
    for reduction in (0, 1, 2)
    for gradient in ("t.tensor(1.0)", "t.ones(3, 1)")
    for operands in ("t.tensor(2.0), t.tensor([0.0, 1.0])", "t.tensor([2.0, 1.0]), t.tensor(1.0)")
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("expression", [*POLYNOMIALS, *TRIANGLES, *OTHERS, *CONVOLUTIONS, *LOSSES])
def test_like_torch(expression: str) -> None:
    agrees(expression)
