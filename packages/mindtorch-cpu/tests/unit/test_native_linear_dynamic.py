"""Linear layers of weights with eight bits: the native kernel has the bits of numpy's, by every set of instructions."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import quantized

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

ROW = "quantized::_linear_dynamic"
SIZES = [(1, 1, 1), (2, 17, 9), (3, 64, 16), (5, 30, 50), (12, 100, 33), (13, 256, 32), (40, 515, 70), (130, 96, 96)]


def packed(weight: Any) -> tuple[Any, Any]:
    """Return panels of 16 rows in words of four elements, and the sums of the rows."""
    rows, depth = weight.shape
    padded = np.pad(weight, ((0, -rows % 16), (0, -depth % 4)))
    panels = np.ascontiguousarray(padded.reshape(-1, 16, padded.shape[1] // 4, 4).transpose(0, 2, 1, 3))
    return panels, padded.sum(1, dtype=np.int32)


def operands(rows: int, depth: int, columns: int, bias: bool = True) -> tuple[Any, ...]:
    rng = np.random.default_rng(7)
    x = (rng.standard_normal((rows, depth)) * 3 + 1).astype("f4")
    weight = rng.integers(-128, 128, (columns, depth)).astype("i1")
    return x, *packed(weight), rng.standard_normal(columns).astype("f4") if bias else None, columns


def both(*values: Any) -> tuple[Any, Any]:
    outs = [np.full((*values[0].shape[:-1], values[4]), np.nan, "f4") for _ in "mw"]
    native_kernel(ROW)(outs[0], *values)
    quantized.linear_dynamic(outs[1], *values)
    return outs[0], outs[1]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("zero_point", [0, 5])
@pytest.mark.parametrize("size", SIZES)
def test_the_bits_of_numpys_kernel(size: Any, zero_point: int, bias: bool, threads: int) -> None:
    ours, want = both(*operands(*size, bias), 0.0123, zero_point)
    np.testing.assert_array_equal(ours, want)


@pytest.mark.parametrize("scale", [1e-3, 1e-4, 1e-6, 1e-30, 0, 1e30])
@pytest.mark.parametrize("shift", [-3, 0, 3])
def test_any_range(scale: float, shift: float) -> None:
    x, *rest = operands(6, 51, 20)
    ours, want = both(((x + np.float32(shift * 5)) * np.float32(scale)).astype("f4"), *rest, 0.5, 0)
    np.testing.assert_array_equal(ours, want)


def test_sums_beyond_floats_and_batches() -> None:
    _, panels, sums, bias, columns = operands(4, 4096, 16)
    panels[:] = -128
    x = np.ones((2, 2, 4096), "f4")
    x[:, 0, 0] = -0.01
    ours, want = both(x, panels, (sums * 0 - 128 * 4096).astype("i4"), bias, columns, 0.25, 0)
    np.testing.assert_array_equal(ours, want)
    strided = np.asfortranarray(x.reshape(4, -1))
    ours, want = both(strided, panels, (sums * 0 - 128 * 4096).astype("i4"), bias, columns, 0.25, 0)
    np.testing.assert_array_equal(ours, want)


def test_what_is_not_finite_is_numpys() -> None:
    x, *rest = operands(3, 20, 5)
    x[1, 2] = np.nan
    with pytest.raises(AssertionError, match="left this to numpy's"):
        native_kernel(ROW)(np.zeros((3, 5), "f4"), x, *rest, 0.5, 0)
    out = np.zeros((3, 5), "f4")
    quantized.linear_dynamic(out, x, *rest, 0.5, 0)
    assert np.isfinite(out).all()  # torch takes a nan for the largest number
    x[:] = np.nan
    with pytest.raises(RuntimeError, match="min should be less than or equal to max"):
        quantized.linear_dynamic(out, x, *rest, 0.5, 0)


PROGRAM = """
import hashlib
import numpy as np
import mindtorch_cpu.ops
from mindtorch_dispatch.table import kernels
random, digest = np.random.default_rng(5), hashlib.sha256()
for rows, depth, columns in {sizes!r}:
    x = random.standard_normal((rows, depth)).astype("f4")
    panels = random.integers(-128, 128, (-(-columns // 16), -(-depth // 4), 16, 4)).astype("i1")
    if depth % 4:
        panels[:, -1, :, depth % 4:] = 0
    sums = panels.sum((1, 3), dtype="i4").ravel()
    out = np.empty((rows, columns), "f4")
    kernels["cpu"]["quantized::_linear_dynamic"].fn(out, x, panels, sums, None, columns, 0.01, 0)
    digest.update(out.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_same_bits_by_every_set() -> None:
    program = PROGRAM.format(sizes=SIZES)
    found = set()
    for name in ("", *native.SETS):
        environment = {**os.environ, "MINDTORCH_INSTRUCTIONS": name, "MINDTORCH_NATIVE": "1"}
        command = [sys.executable, "-c", program]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1
