"""Native convolutions and their gradients against the numpy kernels in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import conv as numpy_kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


# batch, input channels, features, groups, extents, kernel, stride, padding, dilation
CASES = [
    (2, 3, 5, 1, (7, 9), (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 4, 6, 2, (12, 11), (3, 2), (2, 1), (0, 1), (1, 2)),
    (2, 8, 16, 1, (9, 9), (1, 1), (1, 1), (0, 0), (1, 1)),
    (1, 8, 4, 4, (5, 40), (1, 1), (2, 3), (0, 0), (1, 1)),
    (2, 6, 6, 6, (10, 21), (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 5, 5, 5, (13, 12), (5, 3), (2, 2), (2, 3), (1, 2)),
    (1, 4, 8, 4, (8, 8), (3, 3), (1, 1), (3, 4), (1, 1)),
    (2, 3, 7, 1, (32, 32), (16, 16), (16, 16), (0, 0), (1, 1)),
    (1, 60, 30, 1, (24, 25), (3, 3), (1, 1), (1, 1), (1, 1)),
    (3, 5, 4, 1, (50,), (4,), (1,), (2,), (1,)),
    (1, 4, 13, 1, (33,), (3,), (2,), (0,), (3,)),
    (2, 2, 2, 2, (1,), (1,), (1,), (3,), (1,)),
    (2, 6, 6, 6, (14, 14), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 3, 3, 3, (9, 30), (7, 7), (1, 1), (3, 3), (1, 1)),
    (1, 2, 2, 2, (6, 101), (3, 3), (2, 2), (1, 1), (1, 1)),
    (1, 2, 2, 2, (11, 150), (3, 5), (3, 3), (2, 4), (2, 2)),
    (1, 2, 2, 2, (5, 41), (1, 3), (1, 1), (0, 5), (1, 1)),
    (2, 3, 13, 1, (40, 83), (7, 7), (2, 2), (3, 3), (1, 1)),
    (1, 50, 5, 1, (20, 21), (3, 3), (2, 2), (1, 1), (1, 1)),
    (2, 3, 7, 1, (17, 33), (4, 4), (4, 4), (0, 0), (1, 1)),
    (1, 3, 7, 1, (24, 26), (8, 6), (8, 8), (0, 0), (1, 1)),
    (1, 3, 7, 1, (24, 26), (3, 3), (4, 4), (1, 1), (2, 2)),
    (1, 9, 7, 1, (21, 26), (1, 1), (2, 2), (0, 0), (1, 1)),
    (1, 9, 7, 1, (21, 26), (1, 1), (3, 2), (1, 1), (1, 1)),
    (2, 3, 7, 1, (5, 6, 7), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (1, 4, 6, 2, (7, 6, 9), (3, 2, 1), (2, 1, 3), (0, 1, 0), (2, 1, 1)),
    (2, 40, 13, 1, (4, 9, 9), (3, 3, 3), (1, 2, 2), (2, 1, 1), (1, 1, 1)),
    (2, 6, 5, 1, (4, 5, 5), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    (1, 3, 3, 3, (4, 5, 6), (2, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
    (1, 2, 2, 2, (6, 5, 6), (2, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)),
    (1, 2, 2, 2, (9, 10), (1, 2), (1, 1), (2, 3), (1, 1)),
    # By minimal filtering: odd extents, images that share a block, groups, and every padding of 3 by 3.
    (2, 25, 37, 1, (13, 21), (3, 3), (1, 1), (1, 1), (1, 1)),
    (7, 48, 24, 1, (7, 6), (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 60, 72, 2, (16, 37), (3, 3), (1, 1), (0, 2), (1, 1)),
    (1, 24, 24, 1, (34, 70), (3, 3), (1, 1), (2, 0), (1, 1)),
]


def extents(case: Any) -> tuple[int, ...]:
    *_, spatial, kernel, stride, padding, dilation = case
    return tuple(
        (e + 2 * p - d * (k - 1) - 1) // s + 1
        for e, k, s, p, d in zip(spatial, kernel, stride, padding, dilation, strict=True)
    )


def operands(case: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    batch, channels, features, groups, spatial, kernel = case[:6]
    rng = np.random.default_rng(0)
    shapes = (
        (batch, channels, *spatial), (features, channels // groups, *kernel), (features,), (batch, features, *extents(case)),
    )  # fmt: skip
    x, weight, bias, grad = (rng.standard_normal(shape).astype("f4") for shape in shapes)
    return x, weight, bias, grad


@pytest.mark.parametrize("case", CASES)
def test_forward(case: Any, threads: int) -> None:
    x, weight, bias, grad = operands(case)
    groups, stride, padding, dilation = case[3], *case[6:]
    run = native_kernel("convolution")
    for added in (None, bias):
        want, out = np.empty(grad.shape), np.full_like(grad, np.nan)
        wide = None if added is None else added.astype("f8")
        how = (stride, padding, dilation, False, (0,) * len(stride), groups)
        numpy_kernels.convolution(want, x.astype("f8"), weight.astype("f8"), wide, *how)
        run(out, x, weight, added, *(list(o) if isinstance(o, tuple) else o for o in how))
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=3e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "wanted", [(True, True, True), (True, False, False), (False, True, False), (False, False, True)]
)
def test_backward(case: Any, wanted: tuple[bool, bool, bool], threads: int) -> None:
    x, weight, bias, grad = operands(case)
    groups, stride, padding, dilation = case[3], *case[6:]
    how = (list(bias.shape), stride, padding, dilation, False, (0,) * len(stride), groups, list(wanted))
    want = tuple(np.empty(a.shape) if w else None for a, w in zip((x, weight, bias), wanted, strict=True))
    outs = tuple(np.full_like(a, np.nan) if w else None for a, w in zip((x, weight, bias), wanted, strict=True))
    numpy_kernels.convolution_backward(want, grad.astype("f8"), x.astype("f8"), weight.astype("f8"), *how)
    native_kernel("convolution_backward")(outs, grad, x, weight, *how)
    for one, other in zip(outs, want, strict=True):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_transposed(case: Any, threads: int) -> None:
    """What a convolution makes of `grad` where it is transposed, and the gradients of that."""
    x, weight, _, grad = operands(case)
    groups, stride, padding, dilation = case[3], *case[6:]
    rng = np.random.default_rng(1)
    bias, slopes = rng.standard_normal(x.shape[1]).astype("f4"), rng.standard_normal(x.shape).astype("f4")
    for added in (None, bias):
        how = (stride, padding, dilation, True, (0,) * len(stride), groups)
        want, out = np.empty(x.shape), np.full_like(x, np.nan)
        wide = None if added is None else added.astype("f8")
        numpy_kernels.convolution(want, grad.astype("f8"), weight.astype("f8"), wide, *how)
        native_kernel("convolution")(out, grad, weight, added, *how)
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=3e-5)
    wants, outs = (tuple(np.full(a.shape, np.nan, kind) for a in (grad, weight, bias)) for kind in ("f8", "f4"))
    how = ([len(bias)], *how, [True] * 3)
    doubles = (a.astype("f8") for a in (slopes, grad, weight))
    numpy_kernels.convolution_backward(wants, *doubles, *how)
    native_kernel("convolution_backward")(outs, slopes, grad, weight, *how)
    for one, other in zip(outs, wants, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_what_is_left_to_numpy() -> None:
    taken: list[str] = []
    run = native.module.kernel("convolution", lambda out, *values: taken.append("numpy"))
    x, weight, _bias, grad = operands(CASES[0])
    run(grad.astype("f8"), x.astype("f8"), weight.astype("f8"), None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    turned = x.astype("f8").transpose(0, 1, 3, 2)
    run(grad.astype("f8"), turned, weight.astype("f8"), None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    assert taken == ["numpy"] * 2


def channels_last(array: Any) -> Any:
    """The same elements, laid out with the channels as the last dimension."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)).transpose(0, 3, 1, 2)


def test_arrays_of_any_layout_give_what_dense_ones_do() -> None:
    x, weight, bias, grad = operands(CASES[0])
    how = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    want, out = np.empty_like(grad), channels_last(np.full_like(grad, np.nan))
    native_kernel("convolution")(want, x, weight, bias, *how)
    native_kernel("convolution")(out, channels_last(x), weight.copy("F"), np.repeat(bias, 2)[::2], *how)
    np.testing.assert_array_equal(out, want)
    slope = np.broadcast_to(np.float32(1.5), grad.shape)
    wants = tuple(map(np.empty_like, (x, weight, bias)))
    outs = (channels_last(np.full_like(x, np.nan)), np.full_like(weight, np.nan, order="F"), np.full_like(bias, np.nan))
    backward, rest = native_kernel("convolution_backward"), ([len(bias)], *how, [True] * 3)
    backward(wants, slope.copy(), x, weight, *rest)
    backward(outs, slope, channels_last(x), weight, *rest)
    for one, other in zip(outs, wants, strict=True):
        np.testing.assert_array_equal(one, other)


def test_infinity_stays_where_windows_see_it(threads: int) -> None:
    """A depthwise weight's gradient has products of what its own element of the window sees alone."""
    x, grad = np.ones((1, 1, 5, 21), "f4"), np.ones((1, 1, 5, 21), "f4")
    x[0, 0, 2, 20] = np.inf
    out = np.zeros((1, 1, 3, 3), "f4")
    values = (grad, x, np.ones((1, 1, 3, 3), "f4"), [1], (1, 1), (1, 1), (1, 1), False, (0, 0), 1, [False, True, False])
    native_kernel("convolution_backward")((None, out, None), *values)
    assert np.isinf(out[0, 0, :, 1:]).all()
    assert (out[0, 0, :, 0] == np.inf).sum() == 0


def test_infinity_stays_where_minimal_filtering_would_spread_it(threads: int) -> None:
    """Differences of a tile's values and of its sums are no numbers where the sums themselves are infinite."""
    x, weight, _, grad = operands((2, 32, 32, 1, (14, 14), (3, 3), (1, 1), (1, 1), (1, 1)))
    x[1, 3, 6, 7] = np.inf
    weight = np.abs(weight)
    how, want, out = ((1, 1), (1, 1), (1, 1), False, (0, 0), 1), np.empty(grad.shape), np.empty_like(grad)
    numpy_kernels.convolution(want, x.astype("f8"), weight.astype("f8"), None, *how)
    native_kernel("convolution")(out, x, weight, None, *how)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=3e-5)
    assert np.isinf(out).sum() == 9 * 32
    grads = np.empty(weight.shape), np.empty_like(weight)
    for to, kind in zip(grads, ("f8", "f4"), strict=True):
        values = (*(a.astype(kind) for a in (np.abs(grad), x, weight)), [32], *how, [False, True, False])
        run = numpy_kernels.convolution_backward if kind == "f8" else native_kernel("convolution_backward")
        run((None, to, None), *values)
    np.testing.assert_allclose(grads[1], grads[0], rtol=1e-4, atol=1e-4)
    assert np.isinf(grads[1]).sum() == 9 * 32


def test_whole_numbers_are_exact(threads: int) -> None:
    rng = np.random.default_rng(0)
    x, weight = (rng.integers(-8, 9, shape).astype("f4") for shape in ((2, 32, 15, 18), (40, 32, 3, 3)))
    how, want, out = (
        ((1, 1), (1, 1), (1, 1), False, (0, 0), 1),
        np.empty((2, 40, 15, 18)),
        np.empty((2, 40, 15, 18), "f4"),
    )
    numpy_kernels.convolution(want, x.astype("f8"), weight.astype("f8"), None, *how)
    native_kernel("convolution")(out, x, weight, None, *how)
    np.testing.assert_array_equal(out, want)
