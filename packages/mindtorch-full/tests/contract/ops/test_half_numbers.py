"""Numbers beside tensors of half precision: which are rounded to it first, and which keep their digits, bit by bit."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import mindtorch

NUMBERS = (0.1, -2, 3, 1.7, 257, 1000.3, 1 / 3, 70000.0)

OPS = {
    "add": lambda T, x, n: x + n,
    "sub": lambda T, x, n: x - n,
    "rsub": lambda T, x, n: n - x,
    "add_": lambda T, x, n: x.clone().add_(n),
    "mul": lambda T, x, n: x * n,
    "div": lambda T, x, n: x / n,
    "rdiv": lambda T, x, n: n / x,
    "remainder": lambda T, x, n: x % n,
    "rremainder": lambda T, x, n: T.remainder(n, x),
    "fmod": lambda T, x, n: T.fmod(x, n),
    "trunc": lambda T, x, n: T.div(x, n, rounding_mode="trunc"),
    "floor": lambda T, x, n: T.div(x, n, rounding_mode="floor"),
    "eq": lambda T, x, n: x == n,
    "of_itself": lambda T, x, n: T.full_like(x, n) == n,
    "lt": lambda T, x, n: x < n,
    "ge_": lambda T, x, n: x.clone().ge_(n),
    "clamp": lambda T, x, n: x.clamp(-abs(n), abs(n) / 2),
    "hardshrink": lambda T, x, n: T.nn.functional.hardshrink(x, abs(n)),
    "leaky_relu": lambda T, x, n: T.nn.functional.leaky_relu(x, n),
    "pow": lambda T, x, n: x.abs() ** 1.7,
    "rpow": lambda T, x, n: abs(n) ** x,
}


def bits(T, dtype, name):
    r = np.random.default_rng(0)
    values = np.concatenate([r.standard_normal(300) * 3, r.standard_normal(70) * 100, [0.0, -0.0, np.inf, np.nan]])
    x = T.from_numpy(values.astype("f4")).to(getattr(T, dtype))
    results = []
    for number in NUMBERS:
        if dtype == "float16" and number == 70000.0 and name in ("of_itself", "clamp", "hardshrink"):
            continue  # torch refuses it there: see test_numbers_that_do_not_fit.py
        for one in (x, T.stack([x, x], 1)[:, 0]):
            results.append(OPS[name](T, one, number).float().numpy())
    return np.stack(results)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", OPS)
def test_as_torch(name: str, dtype: str) -> None:
    np.testing.assert_array_equal(bits(mindtorch, dtype, name), bits(torch, dtype, name))


def test_in_a_pipeline() -> None:
    x = mindtorch.tensor([0.1, 1.0, 3.0], dtype=mindtorch.bfloat16)
    with mindtorch.pipeline(fuse=True):
        y = (x + 0.1) * 0.3 - 1.7
    assert mindtorch.equal(y, (x + 0.1) * 0.3 - 1.7)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_index_reduce_rounds_after_every_row(dtype: str) -> None:
    generator = torch.Generator().manual_seed(3)
    index = torch.randint(0, 3, (7,), generator=generator)
    for reduce, include_self in itertools.product(("mean", "prod", "amin", "amax"), (True, False)):
        self, source = (torch.rand(rows, 4, generator=generator) * 18 - 9 for rows in (3, 7))

        def reduced(m: Any, self: Any = self, source: Any = source, how: Any = (reduce, include_self)) -> Any:
            made, given = (m.tensor(one.tolist()).to(getattr(m, dtype)) for one in (self, source))
            return made.index_reduce(0, m.tensor(index.tolist()), given, how[0], include_self=how[1])

        assert reduced(mindtorch).double().tolist() == reduced(torch).double().tolist(), (reduce, include_self)
