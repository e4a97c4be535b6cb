"""Native batch norm, group norm, softmax over any dimension and logsumexp against numpy's kernels."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SHAPES = [(4, 6, 5, 7), (3, 4, 16), (20, 6), (130, 300), (2, 6, 1, 1), (5, 2, 40, 33)]


def kernel(row):
    return kernels["cpu"][row].fn


def normal(shape, seed=0, scale=1.0):
    return np.asarray((np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32))


def agree(row, outs, values, atol=2e-5, written=()):
    """Both kernels fill outputs like `outs`, and the values at `written`, alike but for rounding."""
    made = []
    for function in (kernel(row), kernel(row).numpy):
        fresh = tuple(None if one is None else np.full_like(one, 1) for one in outs)
        given = [
            value.copy() if place in written and value is not None else value for place, value in enumerate(values)
        ]
        with np.errstate(all="ignore"):
            function(fresh[0] if len(fresh) == 1 else fresh, *given)
        made.append((*fresh, *(given[place] for place in written)))
    for ours, expected in zip(*made, strict=True):
        if expected is not None:
            np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=atol)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [(True, True, True), (True, False, False), (False, False, True)])
def test_batch_norm(shape, given):
    x, grad, channels = normal(shape, 0, 2) + 1, normal(shape, 1), shape[1]
    weight = normal(channels, 2) if given[0] else None
    bias = normal(channels, 3) if given[1] else None
    running = (normal(channels, 4), np.abs(normal(channels, 5)) + 0.1) if given[2] else (None, None)
    mean = np.empty(channels, np.float32)
    agree("native_batch_norm", (x, mean, mean), (x, weight, bias, *running, True, 0.1, 1e-5), written=(3, 4))
    fresh = np.empty_like(x), np.empty_like(mean), np.empty_like(mean)
    kernel("native_batch_norm")(fresh, x, weight, bias, None, None, True, 0.1, 1e-5)
    for train in (True, False) if given[2] else (True,):
        backward = (grad, x, weight, *running, fresh[1], fresh[2], train, 1e-5, None)
        agree("native_batch_norm_backward", (x, mean, mean), backward, 5e-4)
        agree("native_batch_norm_backward", (x, None, None), backward, 5e-4)
    if given[2]:
        none = np.empty(0, np.float32)
        agree("native_batch_norm", (x, none, none), (x, weight, bias, *running, False, 0.1, 1e-5))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("given", [(True, True), (False, False)])
def test_group_norm(shape, given):
    x, grad, channels = normal(shape, 0, 2) + 1, normal(shape, 1), shape[1]
    positions = int(np.prod(shape[2:]))
    weight, bias = (normal(channels, 2 + place) if wanted else None for place, wanted in enumerate(given))
    for group in (1, 2):
        if channels // group * positions == 1:
            continue
        mean = np.empty((shape[0], group), np.float32)
        sizes = (shape[0], channels, positions, group)
        agree("native_group_norm", (x, mean, mean), (x, weight, bias, *sizes, 1e-5))
        outs = np.empty_like(x), np.empty_like(mean), np.empty_like(mean)
        kernel("native_group_norm")(outs, x, weight, bias, *sizes, 1e-5)
        channel = np.empty(channels, np.float32)
        scale = max(1.0, float(outs[2].max()))
        agree(
            "native_group_norm_backward",
            (x, channel, channel),
            (grad, x, outs[1], outs[2], weight, *sizes, None),
            5e-4 * scale,
        )


@pytest.mark.parametrize("row", ["_softmax", "_log_softmax"])
@pytest.mark.parametrize("shape", [(5, 3), (70, 130), (4, 9, 33), (3, 130, 17), (2, 5, 1, 4)])
def test_softmax_over_any_dimension(row, shape):
    x, grad = normal(shape, 0, 4), normal(shape, 1)
    for dim in range(len(shape)):
        agree(row, (x,), (x, dim, False))
        share = np.empty_like(x)
        kernel(row)(share, x, dim, False)
        agree(f"{row}_backward_data", (x,), (grad, share, dim, None))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_softmax_of_columns_with_special_numbers(value):
    x = normal((7, 21))
    x[1, 1], x[:, 2], x[3, -1] = value, value, value
    for row in ("_softmax", "_log_softmax"):
        agree(row, (x,), (x, 0, False))
    agree("logsumexp", (np.empty(7, np.float32),), (x, (1,), False))
    agree("logsumexp", (np.empty(7, np.float32),), (np.full_like(x, value), (1,), False))


def test_logarithms_of_sums():
    x = normal((6, 5, 33), 0, 5)
    agree("logsumexp", (np.empty((6, 5), np.float32),), (x, (2,), False))
    agree("logsumexp", (np.empty((6, 1, 1), np.float32),), (x, (1, 2), True))
    agree("logsumexp", (np.empty((5, 33), np.float32),), (x, (0,), False))
