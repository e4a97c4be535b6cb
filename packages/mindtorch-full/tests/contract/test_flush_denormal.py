"""`torch.set_flush_denormal` beside torch: what becomes of numbers below the least normal one, and of what is no bool."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

import mindtorch
from mindtorch_cpu import native

SWITCHED = native.module is not None


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    torch.set_flush_denormal(False)
    mindtorch.set_flush_denormal(False)


def answers(library: ModuleType) -> list[list[float]]:
    x = library.tensor([1e-40, 1e-39, 1.0])
    return [(x * 1).tolist(), (x + x).tolist(), (x - 0.5 * x).tolist(), (x == 0).tolist(), x.sqrt().tolist()]


@pytest.mark.skipif(not SWITCHED, reason="without native code there is no switch")
def test_operands_and_results() -> None:
    for flush in (True, False, True):
        assert mindtorch.set_flush_denormal(flush) is torch.set_flush_denormal(flush) is True
        assert answers(mindtorch) == answers(torch)


@pytest.mark.skipif(not SWITCHED, reason="without native code there is no switch")
def test_threads_of_pool_compute_as_their_caller() -> None:
    # torch's own threads do not: half of its result is denormal.
    x = mindtorch.full((1 << 20,), 1e-40)
    assert (x + x).count_nonzero().item() == 1 << 20
    mindtorch.set_flush_denormal(True)
    doubled = x + x
    mindtorch.set_flush_denormal(False)
    assert doubled.count_nonzero().item() == 0
    assert (x + x).count_nonzero().item() == 1 << 20


@pytest.mark.skipif(SWITCHED, reason="native code has the switch")
def test_without_native_code() -> None:
    assert mindtorch.set_flush_denormal(True) is False
    assert (mindtorch.tensor([1e-40]) * 1).item() > 0


@pytest.mark.parametrize("mode", [1, "on", None])
def test_refusals(mode: object) -> None:
    texts = []
    for library in (torch, mindtorch):
        with pytest.raises(RuntimeError) as caught:
            library.set_flush_denormal(mode)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
