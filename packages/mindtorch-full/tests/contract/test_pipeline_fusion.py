"""Fused chains: which calls run together, without memory of their own, and with the results of calls one by one."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt
from mindtorch.nn import functional as F
from mindtorch_dispatch.meta.rule import before_dim, before_kept_dims, every_dim
from mindtorch_dispatch.pipeline import blocks, fusion

LARGE = 400_000


def pointwise(x: Any) -> Any:
    for _ in range(4):
        x = ((x * 1.1 + 0.5).relu() - 0.25).tanh()
    return x


def bias_and_activation(x: Any) -> Any:
    return F.gelu(x + mt.linspace(-1, 1, x.shape[-1])) * x.sum(0, keepdim=True).sign()


def softmax_pattern(x: Any) -> Any:
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def softmax_ops(x: Any) -> Any:
    return F.softmax(x * 2 + 1, -1) * 3 + F.log_softmax(x + 1, -1)


def layer_norm_pattern(x: Any) -> Any:
    d = x - x.mean(-1, keepdim=True)
    return d * mt.rsqrt((d * d).mean(-1, keepdim=True) + 1e-5) * 2 + 1


def leading_reduction(x: Any) -> Any:
    return F.softmax(x * 2, 0) * 3 - x.amax(0, keepdim=True)


def written_in_the_chain(x: Any) -> Any:
    y = x * 2
    y.add_(1)
    z = y * y
    y.sub_(z)
    return y, z, y + z


def written_inputs(x: Any) -> Any:
    x = x.clone()
    alias = x.detach()
    y = x * 2
    alias.add_(1)
    z = x + y
    x.mul_(3)
    return x, y, z, alias + 1


def overlapping_views(x: Any) -> Any:
    x = x.clone()
    y = x[1:] * 2
    x[:-1].add_(1)
    z = x[1:] + y
    x[1:].copy_(x[:-1].clone())
    return x, y, z, x * 1


def turned_views(x: Any) -> Any:
    side = min(x.shape)
    x = x[:side, :side].clone()
    y = x.t() * 2
    x.add_(y)
    z = x.t() + y
    x.t().mul_(z)
    return x, y, z


def narrow_dtypes(x: Any) -> Any:
    y = x.to(mt.bfloat16) * 3 + 1
    return (y / 7).float() - 1, (x.half() + 1).exp().float()


def mixed_dtypes(x: Any) -> Any:
    n = (x * 10).long()
    return (n // 3) % 4 + x, mt.where(n > 0, x * 2, x - 1), x.masked_fill(n == 0, 5.0) + 1, (n > 2) & (x > 0)


def broadcast_rows(x: Any) -> Any:
    row, column = x[:1] * 3, x[:, :1] * 2
    return x * row + column, (column * row).tanh() + x


def turned_layout(x: Any) -> Any:
    y = x.t() * 2 + 1
    return y.t() - 1, y, x[::2, ::3] * 2 + 1


def kept_for_backward(x: Any) -> Any:
    w = x.clone().requires_grad_()
    y = (w * 2).sigmoid()
    z = (y * y + 1).tanh()
    z.sum().backward()
    return w.grad, z, y


def used_twice(x: Any) -> Any:
    y = x + 1
    return y * y - y, y.sub(y), mt.rsub(y + 1, y)


def draws_between(x: Any) -> Any:
    y = (x + 1) * 2
    y = y + mt.rand_like(y)
    return F.dropout(y * 2 - 1, 0.5) + 1


PROGRAMS = [
    value for value in list(globals().values()) if callable(value) and getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("shape", [(500, 800), (3, 50_000), (2, 3, 40_000), (400_000, 2)], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_values_as_one_by_one(program: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    if len(shape) != 2 and program in (turned_views, turned_layout):
        pytest.skip("needs a matrix")
    mt.manual_seed(0)
    x = mt.randn(*shape)
    mt.manual_seed(1)
    expected = program(x)
    mt.manual_seed(1)
    with mt.pipeline(fuse=True):
        found = program(x)
    many = isinstance(found, tuple)
    for one, other in zip(found if many else (found,), expected if many else (expected,), strict=True):
        assert (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride())
        rounding = mt.finfo(one.dtype).eps * 4 if one.dtype.is_floating_point else 0
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=rounding, atol=rounding)


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The ops of every group that ran together."""
    found: list[list[str]] = []

    class Watched(blocks.BlockRun):
        def __init__(self, steps: Any, *rest: Any) -> None:
            found.append([step.plan.row.name for step in steps])
            super().__init__(steps, *rest)

    monkeypatch.setattr(fusion, "BlockRun", Watched)
    return found


def together(program: Callable[[], Any]) -> Any:
    with mt.pipeline(fuse=True):
        return program()


def test_a_chain_is_one_group(groups: list[list[str]]) -> None:
    x = mt.ones(LARGE)
    together(lambda: pointwise(x))
    assert [len(group) for group in groups] == [20]


def test_softmax_and_bias_patterns_are_one_group(groups: list[list[str]]) -> None:
    x, bias = mt.randn(500, 800), mt.randn(800)
    together(lambda: softmax_pattern(x))
    together(lambda: F.gelu(x + bias))
    together(lambda: layer_norm_pattern(x))
    together(lambda: F.softmax(x * 2, -1) + 1)
    assert groups[0] == ["amax", "sub.Tensor", "exp", "sum.dim_IntList", "div.Tensor"]
    assert groups[1] == ["add.Tensor", "gelu"]
    assert groups[3] == ["mul.Tensor", "_softmax", "add.Tensor"]
    assert len(groups) == 4


def test_what_ends_a_group(groups: list[list[str]]) -> None:
    x, other = mt.randn(500, 800), mt.randn(2, 250, 800)
    together(lambda: ((x + 1) * 2 + x.sum() + (x * 2)) * 3)  # a sum over everything
    together(lambda: (x * 2 + 1).view(2, 250, 800) * other + 1)  # a view of what the group makes
    together(lambda: mt.rand_like(x * 2 + 1) * 2 + 1)  # a draw
    together(lambda: F.softmax(x * 2 + 1, 0) * 2 + 1)  # works along the first dimension
    assert [len(group) for group in groups] == [2, 4, 2, 2, 2, 2, 2, 2]


def test_small_chains_run_one_by_one(groups: list[list[str]]) -> None:
    together(lambda: pointwise(mt.ones(100)))
    assert groups == []


def test_memory_of_a_chain_is_that_of_its_result() -> None:
    x = mt.ones(4_000_000)
    together(lambda: pointwise(x))
    tracemalloc.start()
    try:
        result = together(lambda: pointwise(x))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    nbytes = result.numel() * 4
    assert nbytes <= peak < nbytes * 1.2


def test_values_that_the_program_holds_are_made() -> None:
    x, held = mt.ones(LARGE), []

    def program() -> Any:
        y = x + 1
        held.append(y * 2)
        z = held[0] + y
        held.append(z.detach())
        return z * 2

    result = together(program)
    assert [one[0].item() for one in (*held, result)] == [4, 6, 12]


def test_a_block_covers_every_element_once() -> None:
    for shape, cut in (((7, 11, 13), 3), ((7, 11, 13), 1), ((1, 100_000), 2), ((5, 3, 70_000), 2), ((200_001,), 1)):
        seen = np.zeros(shape, int)
        dim, size = blocks.block_dim(shape, cut)
        for block in blocks.blocks(shape, dim, size):
            seen[block] += 1
            assert dim < cut or cut == len(shape)
        assert seen.min() == seen.max() == 1


def test_where_ops_may_be_cut() -> None:
    assert every_dim(3, ()) == 3
    assert [before_dim(1)(3, (None, dim)) for dim in (0, 2)] == [0, 2]
    assert [before_kept_dims(3, (None, *rest)) for rest in (((1, 2), True), ((2,), False), ((), True))] == [1, 0, 3]
