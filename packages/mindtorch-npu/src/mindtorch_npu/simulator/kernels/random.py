"""Random numbers: a counter-based stream, a function of seed and offset alone as the chip's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def stream(seed: int, offset: int) -> np.random.Generator:
    """Return the numbers of a seed from an offset on."""
    counter = np.array([0, 0, offset & (2**64 - 1), 0], np.uint64)
    return np.random.Generator(np.random.Philox(counter=counter, key=seed & (2**64 - 1)))


def _chances(x: Any, prob: Any, seed: int, offset: int) -> Any:
    if offset % 4:
        raise ValueError("Bernoulli: the offset must be a multiple of 4")
    return stream(seed, offset).random(x.shape) < prob


def seeded_by_memory(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel whose last arguments are seed and first offset in memory, and the offset to add to that one."""

    def run(*given: Any) -> Any:
        *before, seed, first, offset = given
        return fn(*before, int(seed.item()), int(first.item()) + offset)

    return run


def _uniform(x: Array, low: float, high: float, seed: int, offset: int) -> Any:
    return stream(seed, offset).random(x.shape, np.float32) * (high - low) + low


def _integers(x: Array, low: int, high: int, seed: int, offset: int) -> Any:
    return stream(seed, offset).integers(low, high, x.shape)


def _normal(x: Array, mean: float, std: float, seed: int, offset: int) -> Any:
    return stream(seed, offset).standard_normal(x.shape) * std + mean


for _name, _fn in (("InplaceUniform", _uniform), ("InplaceNormal", _normal), ("InplaceRandom", _integers)):
    kernel(_name, _fn)
    kernel(f"{_name}Tensor", seeded_by_memory(_fn))
kernel("InplaceBernoulli", _chances)
kernel("InplaceBernoulliTensor", _chances)
kernel("Randperm", lambda n, seed, offset: stream(seed, offset).permutation(n), outputs=("out",))
kernel("Bernoulli", lambda x, prob, seed, offset: _chances(x, prob, seed, offset))
kernel("BernoulliTensor", lambda x, prob, seed, offset: _chances(x, prob, seed, offset))


def _chosen(weights: Any, count: int, replacement: bool, seed: int, offset: int) -> Any:
    numbers = stream(seed, offset)
    rows = np.atleast_2d(weights).astype(np.float64)
    picked = [numbers.choice(row.size, count, replacement, row / row.sum()) for row in rows]
    return np.reshape(picked, (*weights.shape[:-1], count))


kernel("Multinomial", _chosen, workspace=True)
kernel("MultinomialTensor", seeded_by_memory(_chosen), workspace=True)
