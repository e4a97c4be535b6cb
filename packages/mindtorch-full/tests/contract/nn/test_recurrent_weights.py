"""Recurrent layers whose weights others stand in for."""

from __future__ import annotations

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_a_call_with_other_weights_leaves_the_layer_its_own(name: str) -> None:
    for lib in (torch, mt):
        module = getattr(lib.nn, name)(2, 3)
        value = lib.ones(4, 1, 2)
        before = module(value)[0]
        zeros = {key: one.detach() * 0 for key, one in module.named_parameters()}
        assert not lib.func.functional_call(module, zeros, (value,))[0].equal(before)
        assert module(value)[0].equal(before)
        lib.func.functional_call(module, zeros, (value,))
        assert set(module.__getstate__()) == set(getattr(lib.nn, name)(2, 3).__getstate__())
