"""Integers that stand for numbers: the native kernels have the bits of numpy's, in every layout and by every set."""

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
from .test_native_linear_dynamic import packed

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

SIZES = [(1,), (63,), (64,), (5, 201), (2, 3, 40000)]


def laid_out(values: Any, last: bool) -> Any:
    """Return an array as it is, or with its second dimension last in memory."""
    return np.ascontiguousarray(np.moveaxis(values, 1, -1)).transpose(0, 3, 1, 2) if last else values


def same(name: str, numpys: Any, out: Any, *values: Any) -> None:
    want = np.empty_like(out)
    numpys(want, *values)
    native_kernel(name)(out, *values)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("kind", "zero_point"), [("u1", 128), ("u1", 0), ("i1", -7), ("i4", 12)])
@pytest.mark.parametrize("scale", [0.05, 1e-30, 7.0])
def test_numbers_and_back(kind: str, zero_point: int, scale: float, last: bool, threads: int) -> None:
    values = (np.random.default_rng(3).standard_normal((3, 20, 33, 17)) * 4).astype("f4")
    values.flat[:5] = np.nan, np.inf, -np.inf, scale / 2, -scale / 2
    values = laid_out(values, last)
    levels = np.empty_like(values, dtype=kind)
    same("quantized::_levels", quantized.levels, levels, values, scale, zero_point)
    same("quantized::_numbers", quantized.numbers, np.empty_like(values), levels, scale, zero_point)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("kind", ["u1", "i1"])
@pytest.mark.parametrize("size", SIZES)
def test_sums_and_products(size: Any, kind: str, relu: bool, threads: int) -> None:
    rng, limits = np.random.default_rng(4), np.iinfo(kind)
    a, b = (rng.integers(limits.min, limits.max + 1, size).astype(kind) for _ in "ab")
    out = np.empty_like(a)
    for part in (0, 1, 50, 64, 200, a.size):
        same("quantized::_add", quantized.add, out, a, b, 0.05, 3, 0.07, 100, 0.11, 5, relu, part)
    same("quantized::_mul", quantized.mul, out, a, b, 0.013, 3, 100, 5, relu)
    for least, most in ((3, 90), (50, 20), (limits.min, 0)):
        same("quantized::_clamp", quantized.clamp, out, a, least, most)


def test_sums_go_through_memory_in_its_order() -> None:
    rng = np.random.default_rng(5)
    a, b = (laid_out(rng.integers(0, 256, (2, 6, 9, 11)).astype("u1"), True) for _ in "ab")
    for part in (0, 130, a.size):
        same("quantized::_add", quantized.add, np.empty_like(a), a, b, 0.05, 3, 0.07, 100, 0.11, 5, False, part)


@pytest.mark.parametrize("weight_zero", [0, 5])
@pytest.mark.parametrize("size", [(1, 1, 1), (2, 17, 9), (5, 30, 50), (13, 256, 32), (40, 515, 70), (130, 96, 96)])
def test_products_of_levels(size: Any, weight_zero: int, threads: int) -> None:
    rows, depth, columns = size
    rng = np.random.default_rng(6)
    x = rng.integers(0, 256, (rows, depth)).astype("u1")
    x[-1], weight = 255, rng.integers(-128, 128, (columns, depth)).astype("i1")
    weight[-1] = 127
    out = np.empty((rows, columns), "f4")
    same("quantized::_linear_sums", quantized.linear_sums, out, x, *packed(weight), columns, 101, weight_zero)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("scaled_bias", [False, True])
@pytest.mark.parametrize(("channels", "bias"), [(True, True), (False, False), (False, True)])
def test_sums_become_levels(channels: bool, bias: bool, scaled_bias: bool, relu: bool, threads: int) -> None:
    rng = np.random.default_rng(7)
    sums = rng.integers(-90000, 90000, (7, 60, 50)).astype("f4")
    scales = rng.uniform(1e-3, 1e-2, 50 if channels else 1).astype("f4")
    added = rng.standard_normal(50).astype("f4") if bias else None
    for kind, zero_point in (("u1", 101), ("i1", -3)):
        out = np.empty(sums.shape, kind)
        values = (sums, scales, added, 0.05, 0.3, zero_point, scaled_bias, relu)
        same("quantized::_requantize", quantized.requantize, out, *values)


def test_what_does_not_fit_is_numpys() -> None:
    a, out = np.zeros(5, "u1"), np.empty(5, "u1")
    refused = pytest.raises(AssertionError, match="left this to numpy's")
    with refused:
        native_kernel("quantized::_mul")(out, a, a.astype("i1"), 0.1, 0, 0, 0, False)
    with refused:
        native_kernel("quantized::_add")(out, a, a, 0.1, 300, 0.1, 0, 0.1, 0, False, 0)
    with refused:
        native_kernel("quantized::_levels")(out, a.astype("f8"), 0.1, 0)
    panels, sums = packed(np.zeros((3, 5), "i1"))
    with refused:
        native_kernel("quantized::_linear_sums")(np.empty((1, 3), "f4"), np.zeros((1, 9), "u1"), panels, sums, 3, 0, 0)


PROGRAM = """
import hashlib
import numpy as np
import mindtorch_cpu.ops
from mindtorch_dispatch.table import kernels
random, digest = np.random.default_rng(5), hashlib.sha256()
def run(name, out, *values):
    kernels["cpu"]["quantized::" + name].fn(out, *values)
    digest.update(out.tobytes())
for rows, depth, columns in ((1, 17, 9), (13, 300, 40), (30, 64, 33)):
    x = random.integers(0, 256, (rows, depth)).astype("u1")
    panels = random.integers(-128, 128, (-(-columns // 16), -(-depth // 4), 16, 4)).astype("i1")
    if depth % 4:
        panels[:, -1, :, depth % 4:] = 0
    run("_linear_sums", np.empty((rows, columns), "f4"), x, panels, panels.sum((1, 3), dtype="i4").ravel(), columns, 9, 2)
    numbers = (random.standard_normal((rows, depth)) * 9).astype("f4")
    run("_levels", np.empty((rows, depth), "u1"), numbers, 0.05, 128)
    run("_levels", np.empty((rows, depth), "i4"), numbers, 0.05, 128)
    run("_add", np.empty_like(x), x, x[::-1].copy(), 0.05, 3, 0.07, 100, 0.11, 5, False, 70)
    run("_mul", np.empty_like(x), x, x[::-1].copy(), 0.013, 3, 100, 5, True)
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_the_same_bits_by_every_set() -> None:
    found = set()
    for name in ("", *native.SETS):
        environment = {**os.environ, "MINDTORCH_INSTRUCTIONS": name, "MINDTORCH_NATIVE": "1"}
        command = [sys.executable, "-c", PROGRAM]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1
