"""What is a view of something else, and what is not: only the latter may be written to wherever gradients are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
Lib = Any

CASES: dict[str, Callable[[Lib, Any], Any]] = {
    **{
        f"sum_to_size {size}": (lambda w, x, size=size: x.sum_to_size(size))
        for size in ((3, 4), (1, 4), (1, 1), (4,), ())
    },
    **{f"rot90 {turns}": (lambda w, x, turns=turns: x.rot90(turns)) for turns in range(4)},
    **{f"stack {dim}": (lambda w, x, dim=dim: w.stack([x, x], dim)) for dim in (0, 1, -1)},
    "stack of one": lambda w, x: w.stack([x]),
    "vector by matrix": lambda w, x: w.ones(3) @ x,
    "matrix by vector": lambda w, x: x @ w.ones(4),
    "vector by matrices": lambda w, x: w.matmul(w.ones(3), x.expand(2, 3, 4)),
    "matrices by vector": lambda w, x: w.matmul(x.expand(2, 3, 4), w.ones(4)),
    "linear of a vector": lambda w, x: w.nn.functional.linear(w.ones(4), x),
    "linear of a vector with bias": lambda w, x: w.nn.functional.linear(w.ones(4), x, w.ones(3)),
    "max_pool1d": lambda w, x: w.nn.functional.max_pool1d(x[None], 2),
    "max_pool1d of planes": lambda w, x: w.nn.functional.max_pool1d(x, 2),
    "avg_pool1d": lambda w, x: w.nn.functional.avg_pool1d(x, 2),
    "hstack": lambda w, x: w.hstack([x, x]),
    "column_stack": lambda w, x: w.column_stack([x[0], x[1]]),
    "tensordot": lambda w, x: w.tensordot(x, x, 2),
    "einsum": lambda w, x: w.einsum("ij->ji", x),
    "outer": lambda w, x: w.outer(x[0], x[1]),
}


def _facts(lib: Lib, case: Callable[[Lib, Any], Any], tracked: bool) -> tuple[Any, ...]:
    x = lib.arange(12.0).reshape(3, 4).requires_grad_(tracked)
    found = case(lib, x)
    node = None if found.grad_fn is None else found.grad_fn.name().rstrip("0123456789")
    return found._is_view(), found._base is None, found is x, found.tolist(), node


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_views_are_those_of_torch(name: str, tracked: bool) -> None:
    assert _facts(mt, CASES[name], tracked) == _facts(torch, CASES[name], tracked)


@pytest.mark.parametrize("lib", [mt, torch], ids=["mindtorch", "torch"])
def test_a_product_without_history_can_take_part_in_gradients_later(lib: Lib) -> None:
    with lib.no_grad():
        y = lib.ones(3) @ lib.ones(3, 4)
    p = lib.ones(4, requires_grad=True)
    y.add_(p).sum().backward()
    assert p.grad.tolist() == [1.0] * 4
