"""What the drivers of least squares make of a large `rcond`, beside torch."""

from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value

torch = pytest.importorskip("torch", reason="oracle")


@pytest.mark.parametrize("rcond", [None, -1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("driver", ["gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 2), (2, 3), (2, 3, 2)])
def test_solution_and_rank(shape, driver, rcond):
    def solve(T: Any) -> Any:
        count = int(T.Size(shape).numel())
        a = T.linspace(0.3, 2, count, dtype=T.float64).reshape(shape) ** 2
        b = T.linspace(-1, 1.3, count, dtype=T.float64).reshape(shape)[..., :1]
        found = T.linalg.lstsq(a, b, rcond=rcond, driver=driver)
        return found.solution, found.rank, found.singular_values

    assert_same_value(lambda: solve(mt), lambda: solve(torch), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rcond", [0.5, 1.5])
def test_a_factorization_with_pivots_keeps_a_rank_of_one(rcond):
    a = mt.tensor([[0.3, 2.0], [1.0, 4.0]], dtype=mt.float64)
    found = mt.linalg.lstsq(a, mt.ones(2, 1, dtype=mt.float64), rcond=rcond, driver="gelsy")
    assert (found.rank.item(), found.singular_values.numel()) == (1, 0)
