"""Native kernels that read and write bfloat16: as numpy's kernel in float32, rounded once."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native, reduced
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
NUMBERS = {
    "gelu": ("none",), "gelu_backward": ("none",), "leaky_relu": (0.1,), "elu": (1.0, 1.0, 1),
    "softplus": (1.0, 20.0), "softplus_backward": (1.0, 20.0), "hardtanh": (-1, 1), "threshold_backward": (0.5,),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("row", sorted(reduced.NAMES))
def test_halves(row, dtype):
    kernel = kernels["cpu"][row]
    assert not kernel.upcast
    count = 2 if row.endswith("_backward") else 1
    whole = [np.random.default_rng(seed).standard_normal((40, 33)).astype(dtype) for seed in range(count)]
    for values in (whole, [one.T for one in whole], [one[:, ::2] for one in whole], [one[0, 0] for one in whole]):
        values = [np.asarray(one) for one in values]
        ours, expected = np.empty(values[0].shape, dtype), np.empty(values[0].shape, dtype)
        with np.errstate(all="ignore"):
            kernel.fn(ours, *values, *NUMBERS.get(row, ()))
            kernel.fn.numpy(expected, *values, *NUMBERS.get(row, ()))
        np.testing.assert_allclose(ours.astype(np.float32), expected.astype(np.float32), rtol=0.008, atol=1e-6)


def test_rounding_is_to_the_nearest_even():
    x = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    ours = np.empty_like(x)
    with np.errstate(all="ignore"):
        kernels["cpu"]["sqrt"].fn(ours, x)
        expected = np.sqrt(x.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(ours.astype(np.float32), expected.astype(np.float32))
