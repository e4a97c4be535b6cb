"""What `vmap` refuses, in torch's words."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_dispatch.batching import fallback

from .sides import Scenarios, assert_same_results, torch

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def batch(T: Any) -> Any:
    return T.arange(6.0).reshape(2, 3)


VALUES = {
    "item": lambda T, x: x.sum().item(),
    "int": lambda T, x: int(x.sum()),
    "float": lambda T, x: float(x.sum()),
    "if": lambda T, x: x if x.sum() > 0 else -x,
    "while": lambda T, x: x.sum() and x,
    "is_nonzero": lambda T, x: T.is_nonzero(x[0]),
    "index": lambda T, x: [1, 2, 3][x.long()[0]],
    "contains": lambda T, x: 1.0 in x,
    "tolist": lambda T, x: x.tolist(),
    "numpy": lambda T, x: x.numpy(),
    "data_ptr": lambda T, x: x.data_ptr(),
    "storage": lambda T, x: x.untyped_storage(),
    "format": lambda T, x: f"{x.sum():.2f}",
    "data": lambda T, x: x.data,
    "equal": lambda T, x: T.equal(x, x),
    "allclose": lambda T, x: T.allclose(x, x),
    "nonzero": lambda T, x: x.nonzero(),
    "where": lambda T, x: T.where(x > 0),
    "unique": lambda T, x: x.unique(),
    "unique_consecutive": lambda T, x: x.unique_consecutive(),
    "unique_rows": lambda T, x: x.unique(dim=0),
    "masked_select": lambda T, x: x.masked_select(x > 0),
    "masked_index": lambda T, x: x[x > 0],
    "requires_grad_": lambda T, x: x.requires_grad_(),
    "backward": lambda T, x: x.sum().backward(),
    "gradient": lambda T, x: T.autograd.grad(x.sum(), x)[0],
    "retain_grad": lambda T, x: x.retain_grad(),
    "out": lambda T, x: T.add(x, x, out=T.zeros(3)),
    "random": lambda T, x: T.randn(3) + x,
    "random_like": lambda T, x: T.rand_like(x),
    "dropout": lambda T, x: T.nn.functional.dropout(x),
    "bernoulli": lambda T, x: T.bernoulli(x.sigmoid()),
    "normal": lambda T, x: T.normal(x, 1.0),
    "bad_dim": lambda T, x: x.sum(4),
    "bad_permute": lambda T, x: x.permute(1, 0),
}


@scenarios.each(**VALUES)
def values_of_examples(T: Any, case: Any) -> Any:
    return T.func.vmap(lambda x: case(T, x))(batch(T))


WRITES = {
    "add_": lambda T, x: T.zeros(3).add_(x),
    "mul_": lambda T, x: T.zeros(3).mul_(x),
    "copy_": lambda T, x: T.zeros(3).copy_(x),
    "masked_fill_": lambda T, x: T.zeros(3).masked_fill_(x > 0, 1.0),
    "index_put_": lambda T, x: T.zeros(3).index_put_((T.tensor([0, 1, 2]),), x),
    "setitem": lambda T, x: T.zeros(3).__setitem__(0, x[0]),
    "scatter_": lambda T, x: T.zeros(3).scatter_(0, T.tensor([0, 1, 2]), x),
    "addcmul_": lambda T, x: T.zeros(3).addcmul_(x, x),
    "fill_": lambda T, x: T.zeros(3).fill_(x[0]),
    "clamp_": lambda T, x: T.zeros(3).clamp_(x),
}


@scenarios.each(**WRITES)
def writes_to_shared_tensors(T: Any, case: Any) -> Any:
    return T.func.vmap(lambda x: case(T, x))(batch(T))


RANDOM = {
    "shared_in_place": ("different", lambda T, x: T.zeros(3).normal_() + x),
    "same_of_batched": ("same", lambda T, x: T.bernoulli(x.sigmoid())),
    "same_multinomial": ("same", lambda T, x: T.multinomial(x + 1, 2)),
}


@scenarios.each(**RANDOM)
def random(T: Any, case: Any) -> Any:
    kind, run = case
    return T.func.vmap(lambda x: run(T, x), randomness=kind)(batch(T))


OUTPUTS = {
    "number": lambda T: T.func.vmap(lambda x: 3)(batch(T)),
    "partial": lambda T: T.func.vmap(functools.partial(lambda x, y: 3, y=1))(batch(T)),
    "batched_where_none": lambda T: T.func.vmap(lambda x: x, out_dims=None)(batch(T)),
    "shared_where_none": lambda T: T.func.vmap(lambda x: T.ones(2), out_dims=None)(batch(T)),
    "structure": lambda T: T.func.vmap(lambda x: (x, x), out_dims=(0, 0, 0))(batch(T)),
    "dict": lambda T: T.func.vmap(lambda x: {"a": x}, out_dims={"a": 1})(batch(T)),
    "range": lambda T: T.func.vmap(lambda x: x, out_dims=3)(batch(T)),
    "escaped": lambda T: _escaped(T) + 1,
    "nested_number": lambda T: T.func.vmap(T.func.vmap(lambda x: 2))(batch(T)),
    "sizes_in_structure": lambda T: T.func.vmap(lambda d: d["a"] + d["b"])({"a": batch(T), "b": T.ones(3)}),
    "empty_gradients": lambda T: T.autograd.grad(
        *(lambda x: (x * x, x))(T.ones(3, requires_grad=True)), T.zeros(0, 3), is_grads_batched=True
    ),
}


def _escaped(T: Any) -> Any:
    kept = []
    T.func.vmap(lambda x: (kept.append(x), x)[1])(batch(T))
    return kept[0]


@scenarios.each(**OUTPUTS)
def outputs(T: Any, case: Any) -> Any:
    return case(T)


INSIDE_GRAD = {
    "requires_grad_": lambda T: T.func.grad(lambda x: x.requires_grad_().sum())(batch(T)),
    "backward": lambda T: T.func.grad(lambda x: x.sum().backward())(batch(T)),
    "backward_in_vjp": lambda T: T.func.vjp(lambda x: x.sum().backward(), batch(T)),
    "requires_grad_in_jacrev": lambda T: T.func.jacrev(lambda x: x.requires_grad_())(batch(T)),
}


@scenarios.each(**INSIDE_GRAD)
def inside_grad(T: Any, case: Any) -> Any:
    return case(T)


def test_a_loop_over_slices_is_told_once() -> None:
    def told(T: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            T.func.vmap(lambda x: T.histc(x, 4))(batch(T))
        return [str(one.message).split(" (Triggered")[0] for one in caught]

    fallback.warnings_shown().ops.clear()
    assert told(mt) == told(torch) != []
    assert told(mt) == []
