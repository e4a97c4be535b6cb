"""Native products of bfloat16 against float64: sizes around the tiles, strides, batches, one thread and several."""

from __future__ import annotations

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from mindtorch_cpu import native

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")
BRAIN = ml_dtypes.bfloat16
SIZES = (
    (1, 1, 1), (1, 70, 33), (1, 9, 64), (3, 65, 130), (8, 17, 9), (9, 9, 9), (12, 32, 16), (13, 33, 401), (25, 70, 5),
    (70, 4, 51), (200, 100, 390), (5, 1, 700), (1, 1, 1000), (40, 1100, 20), (30, 40, 1601), (800, 40, 900),
    (0, 3, 2), (3, 4, 0),
)  # fmt: skip


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(BRAIN)


def layouts(values: np.ndarray) -> list[np.ndarray]:
    """The same values: dense, transposed in memory, every second of a wider array, backwards."""
    wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
    wide[..., ::2] = values
    return [
        np.ascontiguousarray(values),
        np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2),
        wide[..., ::2],
        np.ascontiguousarray(values[..., ::-1])[..., ::-1],
    ]


def check(out: np.ndarray, left: np.ndarray, right: np.ndarray, more: float | np.ndarray = 0, alpha: float = 1) -> None:
    """One rounding to eight bits, and the sum's error in float."""
    left, right = left.astype("f8"), right.astype("f8")
    want = alpha * (left @ right) + more
    size = abs(alpha) * (np.abs(left) @ np.abs(right)) + np.abs(more)
    assert np.all(np.abs(out.astype("f8") - want) <= 2.0**-8 * np.abs(want) + 1e-5 * size + 1e-30)


@pytest.mark.parametrize("size", SIZES)
def test_every_layout(size: tuple[int, int, int], threads: int) -> None:
    rows, columns, depth = size
    left, right = drawn(rows, depth), drawn(depth, columns, seed=1)
    for a in layouts(left):
        for b in layouts(right):
            out, flipped = np.zeros((rows, columns), BRAIN), np.zeros((columns, rows), BRAIN).T
            native_kernel("mm")(out, a, b)
            native_kernel("mm")(flipped, a, b)
            check(out, left, right)
            check(flipped, left, right)


def test_addends_are_scaled_and_rounded_with_the_sum(threads: int) -> None:
    left, right = drawn(50, 70), drawn(70, 45, seed=1)
    for few in (left, left[:3]):
        for b in layouts(right):
            for addend in (drawn(45, seed=2), drawn(len(few), 45, seed=2), drawn(len(few), 1, seed=2)):
                out = np.zeros((len(few), 45), BRAIN)
                native_kernel("addmm")(out, addend, few, b, 0.5, 2)
                check(out, few, right, 0.5 * addend.astype("f8"), 2)
    out = drawn(50, 45, seed=3)
    before = out.astype("f8")
    native_kernel("addmm")(out, out, left, right, 1, 1)
    check(out, left, right, before)


def test_batches_and_vectors(threads: int) -> None:
    left, right = drawn(5, 20, 33), drawn(5, 33, 40, seed=1)
    for a in layouts(left):
        for b in layouts(right):
            out = np.zeros((5, 20, 40), BRAIN)
            native_kernel("mm")(out, a, b)
            check(out, left, right)
    vector = drawn(33, seed=2)
    out, single = np.zeros(20, BRAIN), np.zeros((), BRAIN)
    native_kernel("mm")(out, left[0], vector)
    check(out, left[0], vector)
    native_kernel("mm")(single, vector, vector)
    check(single, vector, vector)


def test_special_values_and_threads(threads: int) -> None:
    left, right = drawn(150, 200), drawn(200, 170, seed=1)
    left[3, 5], left[70, 6], right[9, 40] = np.nan, np.inf, -np.inf
    out = np.zeros((150, 170), BRAIN)
    native_kernel("mm")(out, left, right)
    with np.errstate(invalid="ignore"):
        want = left.astype("f8") @ right.astype("f8")
    np.testing.assert_array_equal(np.isnan(out.astype("f4")), np.isnan(want))
    np.testing.assert_array_equal(out.astype("f8")[np.isinf(want)], want[np.isinf(want)])
    native.module.set_thread_count(2)
    again = np.zeros_like(out)
    native_kernel("mm")(again, left, right)
    np.testing.assert_array_equal(again.astype("f4"), out.astype("f4"))


PROGRAM = """
import ml_dtypes, numpy as np
import mindtorch_cpu.ops
from mindtorch_cpu import native
random = np.random.default_rng(5)
for rows, columns, depth in ((40, 70, 33), (3, 17, 65), (13, 40, 900)):
    left = random.standard_normal((rows, depth)).astype(ml_dtypes.bfloat16)
    for right in (random.standard_normal((depth, columns)), random.standard_normal((columns, depth)).T):
        right = right.astype(ml_dtypes.bfloat16, order="K")
        out = np.zeros((rows, columns), ml_dtypes.bfloat16)
        fallback = None
        native.module.kernel("mm", fallback)(out, left, right)
        want = left.astype("f8") @ right.astype("f8")
        size = np.abs(left.astype("f8")) @ np.abs(right.astype("f8"))
        assert np.all(np.abs(out.astype("f8") - want) <= 2.0**-8 * np.abs(want) + 1e-5 * size)
print("right")
"""


@pytest.mark.parametrize("instructions", native.SETS)
def test_every_build_is_right(instructions: str) -> None:
    settings = {**os.environ, "MINDTORCH_NATIVE": "1", "MINDTORCH_INSTRUCTIONS": instructions}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=settings, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["right"], ran.stderr
