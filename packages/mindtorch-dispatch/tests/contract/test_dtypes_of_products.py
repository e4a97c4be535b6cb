"""Products whose operands have different dtypes raise torch's errors, which name the operand that differs."""

from __future__ import annotations

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

BOTH = {
    "addmm, the first matrix": lambda t: t.addmm(t.ones(4).bfloat16(), t.ones(2, 3), t.ones(3, 4).bfloat16()),
    "addmm, the second matrix": lambda t: t.addmm(t.ones(4), t.ones(2, 3), t.ones(3, 4).bfloat16()),
    "addmm, the sum": lambda t: t.addmm(t.ones(4).bfloat16(), t.ones(2, 3), t.ones(3, 4)),
    "addbmm, the first": lambda t: t.addbmm(t.ones(4).bfloat16(), t.ones(1, 2, 3), t.ones(1, 3, 4).bfloat16()),
    "addbmm, the sum": lambda t: t.addbmm(t.ones(4).double(), t.ones(1, 2, 3), t.ones(1, 3, 4)),
    "linear, the input": lambda t: t.nn.functional.linear(t.ones(3), t.ones(4, 3).bfloat16(), t.ones(4).bfloat16()),
}


@pytest.mark.parametrize("name", BOTH)
def test_error_names_the_operand(name: str) -> None:
    assert_torch_error(lambda: BOTH[name](mt), lambda: BOTH[name](torch))
