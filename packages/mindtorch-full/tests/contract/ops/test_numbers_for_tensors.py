"""Python numbers where functions of two operands take tensors, and the defaults that only Python's functions have."""

from __future__ import annotations

import pytest

import mindtorch

from .expressions import agrees

SECOND = [
    *(f"t.{name}(7, i)" for name in "add sub mul div true_divide floor_divide multiply subtract divide rsub".split()),
    *(f"t.{name}(7, v)" for name in "remainder fmod pow float_power atan2 eq lt greater xlogy bitwise_and".split()),
    *(f"t.{name}(7, v)" for name in "maximum fmax logical_and copysign hypot ldexp nextafter logaddexp".split()),
    *(
        f"t.{name}({number}, {operand}, rounding_mode={mode!r})"
        for name in ("div", "divide")
        for number in ("7", "-7.5", "True")
        for operand in ("v", "i + 9", "h", "t.tensor(2, dtype=t.int8)", "t.tensor([2, 3], dtype=t.int8)")
        for mode in (None, "floor", "trunc")
    ),
    "t.div(1j, v, rounding_mode='floor')",
    "t.div(7, v, rounding_mode='x')",
    "t.div(7, v, rounding_mode='floor', out=t.empty(4))",
    "t.div(7, t.tensor([2, 0]), rounding_mode='floor')",
    "t.ops.aten.div.Tensor_mode(7, v, rounding_mode='floor')",
]

BOTH = [
    *(
        f"t.{name}({one}, {other})"
        for name in "add sub mul div true_divide floor_divide multiply subtract divide".split()
        for one, other in (
            ("0.0", "2"),
            ("3", "2"),
            ("True", "2"),
            ("True", "False"),
            ("1j", "2.5"),
            ("1e300", "1e300"),
        )
    ),
    "t.div(7, 2, rounding_mode='floor')",
    "t.sub(0.0, 2, alpha=2)",
    "t.add(2**63 - 1, 1)",
    "t.add(2**64, 1)",
    "t.add(1, 2, out=t.empty(()))",
    "t.add(1.5, 2, out=t.empty((), dtype=t.int64))",
    "t.floor_divide(7, 0)",
    "t.add('a', 2)",
    "t.maximum(1, 2)",
    *(f"t.{name}(3)" for name in "is_nonzero numel is_floating_point is_complex is_signed is_inference".split()),
]

LOSSES = [
    "t.kl_div(-v, v)",
    "t.kl_div(-v, v, 1)",
    "t.kl_div(-v, v, reduction=2)",
    "t.kl_div(-v, v, -1)",
    "t.kl_div(-v, v.long())",
    "t.margin_ranking_loss(v, v * 2, -v)",
    "t.margin_ranking_loss(v.long(), v.long() * 2, -v.long())",
    "t.hinge_embedding_loss(v, v)",
    "t.hinge_embedding_loss(v, t.tensor([1, -1, 1, -1]), 2.5, 7)",
    "t.hinge_embedding_loss(v.long(), t.tensor([1, -1, 1, -1]))",
    "t.cosine_embedding_loss(n[0], n[1], t.tensor([1.0, -1.0]))",
    "t.triplet_margin_loss(n[0], n[1], n[2])",
    "t._C._nn.mse_loss(v, v * 2)",
    "t._C._nn.nll_loss(t.ones(2, 3), t.tensor([1, 2]))",
    "t._C._nn.cross_entropy_loss(t.ones(2, 3), t.tensor([1, 2]))",
    "t._C._nn.multi_margin_loss(t.ones(2, 3), t.tensor([1, 2]))",
    "t._C._nn.multi_margin_loss(t.ones(2, 3), t.tensor([1, 2]), reduction=9)",
    "t._C._nn.huber_loss(v, v * 2, 9)",
    "t.ops.aten.mse_loss(v, v * 2)",
    "t.ops.aten.kl_div(-v, v)",
    "t.nn.functional.mse_loss(v, v * 2, size_average=False)",
    "t.nn.functional.l1_loss(v, v * 2, size_average=False, reduce=False)",
]


@pytest.mark.parametrize("expression", [*SECOND, *BOTH, *LOSSES])
def test_like_torch(expression: str) -> None:
    agrees(expression)


def test_numbers_of_every_call() -> None:
    assert [mindtorch.add(value, 0.5).item() for value in range(3)] == [0.5, 1.5, 2.5]
    assert [mindtorch.add(value, 2).item() for value in range(3)] == [2, 3, 4]
