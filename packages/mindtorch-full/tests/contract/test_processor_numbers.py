"""A device `cpu:1` is the processor: tensors made on it are on `cpu`, as torch's are, and meet others there."""

import numpy as np
import pytest

import mindtorch

torch = pytest.importorskip("torch", reason="oracle")

WAYS = {
    "zeros": lambda T, d: T.zeros(2, device=d),
    "by a text": lambda T, d: T.zeros(2, device=str(d)),
    "randint": lambda T, d: T.randint(0, 3, (2,), device=d),
    "of values": lambda T, d: T.tensor([1.0], device=d),
    "of an array": lambda T, d: T.as_tensor(np.ones(2), device=d),
    "moved": lambda T, d: T.ones(2).to(d),
    "like another": lambda T, d: T.empty_like(T.ones(2), device=d),
    "new": lambda T, d: T.ones(2).new_zeros(3, device=d),
    "strided": lambda T, d: T.empty_strided((2,), (1,), device=d),
    "arange": lambda T, d: T.arange(3, device=d),
    "a layer": lambda T, d: T.nn.Linear(2, 2, device=d).weight,
    "a layer that had no memory": lambda T, d: T.nn.Linear(2, 2, device="meta").to_empty(device=d).weight,
    "a sum": lambda T, d: T.ones(2, device=d) + T.ones(2),
    "complex": lambda T, d: T.zeros(2, dtype=T.complex64, device=d),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("number", [0, 1, 7])
def test_tensors_are_on_the_processor(way, number):
    ours, theirs = (WAYS[way](T, T.device("cpu", number)) for T in (mindtorch, torch))
    assert str(ours.device) == str(theirs.device) == "cpu"
    assert ours.device == mindtorch.device("cpu") != mindtorch.device("cpu", number)


def test_a_default_device_is_one_too():
    with mindtorch.device("cpu:1"):
        assert str(mindtorch.ones(2).device) == "cpu"
