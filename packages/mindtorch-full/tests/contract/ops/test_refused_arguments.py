"""Arguments that torch refuses: numbers that do not fit, lists for star arguments, results that do not fit their target."""

from __future__ import annotations

import pytest

from .expressions import agrees

NUMBERS = ("1j", "1e300", "2 + 0j", "0.5")

WITH_NUMBERS = [
    "t.nn.functional.hardtanh(v, 0, {})",
    "t.nn.functional.hardtanh(i, 0, {})",
    "t.threshold(v, {}, 2)",
    "t.threshold(v, 1, {})",
    "v.hardshrink({})",
    "t.nn.functional.elu(v, {})",
    "t.nn.functional.softplus(v, {})",
    "t.ops.aten.leaky_relu(v, {})",
    "t.ops.aten.leaky_relu_backward(v, v, {}, False)",
    "t.ops.aten.hardshrink_backward(v, v, {})",
    "t.ops.aten.softshrink_backward(v, v, {})",
    "t.ops.aten.threshold_backward(v, v, {})",
    "t.ops.aten.hardtanh_backward(v, v, {}, 9)",
    "t.ops.aten.softplus_backward(v, v, 1, {})",
    "t.ops.aten.elu_backward(v, 1, {}, 1, False, v)",
]

STARS = [
    f"t.{name}({given})"
    for name in ("block_diag", "broadcast_tensors", "cartesian_prod")
    for given in ("[v]", "(v, v)", "v, None", "v, [1.0]", "3", "v, v")
]

RESULTS = [
    "t.nn.functional.relu6(c)",
    "t.nn.functional.hardtanh(c)",
    "i.polygamma_(1)",
    "v.polygamma_(1)",
    "t.float_power(v, 2, out=t.ones(2))",
    "t.float_power(v, v, out=t.ones(2))",
    "t.float_power(2, v, out=t.ones(2))",
    "t.float_power(2, v, out=t.ones(4, dtype=t.float64))",
    "v.fill_(v)",
    "v.fill_(z)",
    "t.fill(v, e)",
    "t._fft_c2r(v, [0], 0, 2)",
    "t.isposinf(v, out=t.ones(4))",
    "t.isneginf(v, out=t.ones(4, dtype=t.int64))",
    "t.isneginf(v, out=t.ones(4, dtype=t.bool))",
    "t.logsumexp(v, [])",
    "t.logsumexp(v, [], keepdim=True)",
    "t.logsumexp(n, [])",
    "t.logsumexp(z, [])",
    "t.logsumexp(e, [])",
    "t.binary_cross_entropy_with_logits(v, z)",
    "t.binary_cross_entropy_with_logits(z, v)",
    "t.binary_cross_entropy_with_logits(v, t.ones(4, 1))",
    "t.binary_cross_entropy_with_logits(v, t.ones(4, dtype=t.int64))",
]

POSITIONS = [
    "(lambda j: (t.gather(t.tensor([5, 6, 7]), 0, j, out=j), j))(t.tensor([2, 1, 0]))",
    "(lambda j: t.gather(j, 0, j, out=j))(t.tensor([2, 1, 0]))",
    "(lambda j: t.gather(t.tensor([5, 6, 7]), 0, j[:2], out=j[1:]))(t.tensor([2, 1, 0]))",
    "t.gather(v, 2**63 - 1, t.tensor([0]))",
    "v.topk(1, 2**63 - 1)",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("expression", WITH_NUMBERS)
def test_numbers(expression: str, number: str) -> None:
    """A number of an argument is one of the elements' type."""
    agrees(expression.format(number))


@pytest.mark.parametrize("expression", STARS + RESULTS + POSITIONS)
def test_arguments(expression: str) -> None:
    """What is refused, and what is beside it and is not."""
    agrees(expression)
