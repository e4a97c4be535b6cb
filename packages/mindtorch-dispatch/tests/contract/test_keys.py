"""Key order and key-set algebra that other code relies on."""

import random

import pytest

from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet

CONTRACTUAL = [DispatchKey.Pipeline, DispatchKey.Autograd, DispatchKey.Meta, DispatchKey.NPU, DispatchKey.CPU]


def test_iteration_is_by_falling_priority():
    assert list(DispatchKeySet(reversed(CONTRACTUAL))) == CONTRACTUAL
    assert next(iter(DispatchKeySet(DispatchKey))) is DispatchKey.Python


def test_algebra_agrees_with_python_sets():
    rng = random.Random(0)
    keys = list(DispatchKey)
    for _ in range(300):
        left, right = (set(rng.sample(keys, rng.randrange(len(keys)))) for _ in range(2))
        a, b = DispatchKeySet(left), DispatchKeySet(right)
        assert set(a | b) == left | right
        assert set(a & b) == left & right
        assert set(a - b) == left - right
        assert set(a ^ b) == left ^ right
        assert (a <= b) == (left <= right)
        assert len(a) == len(left)
        assert bool(a) == bool(left)
        for key in keys:
            assert (key in a) == (key in left)
            assert set(a.without(key)) == left - {key}
            assert set(a.add(key)) == left | {key}
        assert a.highest() == (max(left) if left else None)
        assert hash(a) == hash(DispatchKeySet(left))


def test_key_sets_are_immutable():
    keys = DispatchKeySet([DispatchKey.CPU])
    with pytest.raises(AttributeError, match="immutable"):
        keys.mask = 0


class Device:
    def __init__(self, type):
        self.type = type


class Operand:
    def __init__(self, device, requires_grad):
        self.device = Device(device)
        self.requires_grad = requires_grad


@pytest.mark.parametrize("grad_enabled", [False, True])
@pytest.mark.parametrize("pipeline_enabled", [False, True])
def test_from_tensors(grad_enabled, pipeline_enabled):
    keys = DispatchKeySet.from_tensors(
        [Operand("cpu", False), Operand("npu", True)], grad_enabled=grad_enabled, pipeline_enabled=pipeline_enabled
    )
    expected = [DispatchKey.NPU, DispatchKey.CPU]
    if grad_enabled:
        expected.insert(0, DispatchKey.Autograd)
    if pipeline_enabled:
        expected.insert(0, DispatchKey.Pipeline)
    assert list(keys) == expected
