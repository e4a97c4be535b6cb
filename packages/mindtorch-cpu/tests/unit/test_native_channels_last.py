"""Native kernels of planes and volumes whose channels lie side by side, against numpy's on dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


def last(array: Any) -> Any:
    """Return the same numbers with channels side by side."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def normal(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def numpys(row: str) -> Any:
    return kernels["cpu"][row].fn.numpy


@pytest.mark.parametrize("channels", [2, 16, 19, 64])
@pytest.mark.parametrize(
    ("extents", "kernel", "stride", "padding", "dilation"),
    [
        ((9, 12), (2, 2), (2, 2), (0, 0), (1, 1)),
        ((11, 10), (3, 3), (2, 1), (1, 1), (1, 1)),
        ((8, 13), (3, 2), (1, 3), (1, 1), (2, 3)),
        ((5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 0), (1, 1, 2)),
    ],
)
def test_largest_of_windows(
    channels: int, extents: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, threads: int
) -> None:
    x = np.random.default_rng(1).integers(-4, 4, (2, channels, *extents)).astype("f4")
    x[0, 0, :2], x[1, 1, 1, 2:4] = np.nan, -np.inf
    size = tuple(
        (e + 2 * p - d * (k - 1) - 1) // s + 1
        for e, k, s, p, d in zip(extents, kernel, stride, padding, dilation, strict=True)
    )
    row, how = (
        f"max_pool{len(extents)}d_with_indices",
        (list(kernel), list(stride), list(padding), list(dilation), False),
    )
    want = np.zeros((2, channels, *size), "f4"), np.zeros((2, channels, *size), "i8")
    got = last(np.full_like(want[0], 7)), last(np.full_like(want[1], -1))
    numpys(row)(want, x, *how)
    native_kernel(row)(got, last(x), *how)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("channels", "features", "groups", "kernel", "stride", "padding", "dilation"),
    [
        (6, 5, 1, (1, 1), (1, 1), (0, 0), (1, 1)),
        (64, 33, 1, (1, 1), (2, 3), (0, 0), (1, 1)),
        (48, 48, 48, (3, 3), (1, 1), (1, 1), (1, 1)),
        (35, 35, 35, (3, 5), (2, 1), (0, 2), (1, 2)),
        (16, 16, 16, (7, 7), (1, 2), (3, 3), (2, 1)),
    ],
)
def test_convolutions(
    bias: bool, channels: int, features: int, groups: int, kernel: Any, stride: Any, padding: Any, dilation: Any,
    threads: int,
) -> None:  # fmt: skip
    x, weight = normal(3, channels, 11, 14), normal(features, channels // groups, *kernel, seed=1)
    addend = normal(features, seed=2) if bias else None
    how = ([*stride], [*padding], [*dilation], False, [0, 0], groups)
    size = [
        (e + 2 * p - d * (k - 1) - 1) // s + 1
        for e, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    ]
    want = np.zeros((3, features, *size), "f4")
    numpys("convolution")(want, x, weight, addend, *how)
    for weights in (weight, last(weight)):
        got = last(np.full_like(want, np.nan))
        native_kernel("convolution")(got, last(x), weights, addend, *how)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 6, 5, 7), (2, 70, 3, 3), (2, 5, 3, 4, 2)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape: Any, training: bool, threads: int) -> None:
    x, grad, channels = normal(*shape) * 2 + 1, normal(*shape, seed=1), shape[1]
    weight, bias, mean = (normal(channels, seed=seed) for seed in (2, 3, 4))
    found = []
    for function, lay in ((numpys, np.array), (native_kernel, last)):
        saved = [np.zeros(channels if training else 0, "f4") for _ in "mi"]
        running = mean.copy(), np.abs(mean) + np.float32(0.1)
        out, in_grad = lay(np.zeros_like(x)), lay(np.zeros_like(x))
        given = lay(x)
        function("native_batch_norm")((out, *saved), given, weight, bias, *running, training, 0.1, 1e-5)
        grads = [np.zeros(channels, "f4") for _ in "wb"]
        values = (lay(grad), given, weight, *running, *saved, training, 1e-5, [True] * 3)
        function("native_batch_norm_backward")((in_grad, *grads), *values)
        found.append([out, *saved, *running, in_grad, *grads])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4)
