"""`topk` names the same ones of equal elements as torch, and without an order it gives them in torch's."""

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch_cpu import native

pytestmark = pytest.mark.skipif(native.module is None, reason="numpy's kernel takes any of equal elements")


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8"]
)
def test_places_of_equal_elements(dtype: str) -> None:
    random = np.random.default_rng(3)
    for size in (1, 2, 5, 13, 40, 64, 65, 300, 1000, 5000):
        for many in sorted({1, min(2, size), min(7, size), min(60, size), min(300, size), size}):
            numbers = random.integers(0, random.choice([2, 5, 50]), size).astype(np.float64)
            if dtype in ("float32", "float64") and size > 5:
                numbers[random.integers(0, size, 3)] = np.nan
            theirs = torch.tensor(numbers).to(getattr(torch, dtype))
            ours = mindtorch.tensor(numbers.tolist(), dtype=mindtorch.float64).to(getattr(mindtorch, dtype))
            for largest in (True, False):
                for ordered in (True, False):
                    found = ours.topk(many, largest=largest, sorted=ordered)
                    wanted = theirs.topk(many, largest=largest, sorted=ordered)
                    assert found.indices.tolist() == wanted.indices.tolist(), (size, many, largest, ordered)
                    np.testing.assert_array_equal(found.values.double().numpy(), wanted.values.double().numpy())


def test_other_dimensions() -> None:
    x = torch.arange(4 * 90 * 3).mul(7919).remainder(13).reshape(4, 90, 3)
    for dim in (0, 1, 2):
        found = mindtorch.tensor(x.tolist()).topk(3, dim)
        assert found.indices.tolist() == x.topk(3, dim).indices.tolist()
