"""Optimizers and the clipping of gradients: as many launches for twenty parameters as for one, and the CPU's numbers."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu.backend import launches  # noqa: E402
from mindtorch_npu.simulator import libraries  # noqa: E402

MOST = {
    "AdamW": ({}, 8),
    "Adam": ({"weight_decay": 0.1, "amsgrad": True}, 9),
    "SGD": ({"momentum": 0.9, "nesterov": True}, 4),
    "RMSprop": ({"centered": True, "momentum": 0.5}, 9),
    "NAdam": ({}, 10),
    "RAdam": ({}, 12),
}


def draw(*shape, seed):
    return mindtorch.randn(shape, generator=mindtorch.Generator().manual_seed(seed))


def parameters(device, count):
    made = [mindtorch.nn.Parameter(draw(*((3, 2 + i) if i else ()), seed=i).to(device)) for i in range(count)]
    for number, one in enumerate(made):
        one.grad = draw(*one.shape, seed=100 + number).to(device)
    return made


def counted(call):
    before = sum(launches.values())
    call()
    return sum(launches.values()) - before


@pytest.mark.parametrize("kind", MOST)
def test_a_step_takes_few_launches_and_has_the_cpus_numbers(npu, kind):
    options, most = MOST[kind]
    found = {}
    for device in ("cpu", "npu"):
        given = parameters(device, 20)
        optimizer = getattr(mindtorch.optim, kind)(given, lr=1e-2, **options)
        for _ in range(7):
            optimizer.step()
        found[device] = [p.detach().cpu() for p in given]
        versions = [p._version for p in given]
        if device == "npu":
            assert counted(optimizer.step) <= most
            assert all(p._version > before for p, before in zip(given, versions, strict=True))
    for one, other in zip(found["npu"], found["cpu"], strict=True):
        assert mindtorch.allclose(one, other, atol=1e-6)


def test_parameters_of_two_types_are_updated_one_by_one(npu):
    given = parameters("npu", 2)
    given[1] = mindtorch.nn.Parameter(given[1].detach().half())
    given[1].grad = mindtorch.ones_like(given[1])
    before = given[1].detach().clone()
    mindtorch.optim.SGD(given, lr=0.5).step()
    assert mindtorch.allclose((before - given[1].detach()).float().cpu(), mindtorch.full(before.shape, 0.5), atol=2e-3)


@pytest.mark.parametrize("order", [1.0, 2.0, float("inf")])
def test_clipping_takes_few_launches(npu, order):
    found = {}
    for device in ("cpu", "npu"):
        given = parameters(device, 20)
        norm = mindtorch.nn.utils.clip_grad_norm_(given, 1.0, order)
        found[device] = [norm.cpu(), *(p.grad.cpu() for p in given)]
    for one, other in zip(found["npu"], found["cpu"], strict=True):
        assert mindtorch.allclose(one, other, atol=1e-5)
    if order != float("inf"):
        assert counted(lambda: mindtorch.nn.utils.clip_grad_norm_(given, 1.0, order)) <= 8


def test_chips_without_operators_over_lists_go_one_by_one(monkeypatch):
    from ..simulated import simulated

    with simulated(monkeypatch, "Ascend910A:1,memory=256MiB"):
        given = parameters("npu", 3)
        mindtorch.optim.SGD(given, lr=0.1).step()
        assert not any(name.startswith("aclnnForeach") for name in libraries().launches)
