"""Native reductions and losses against numpy's kernels and exact sums."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
DIMS = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]
SHAPES = [(3, 4, 5), (70, 3, 65), (2, 300, 7), (5, 130, 300), (1, 9, 4), (4, 1, 1)]
SINGLE = ["mean.dim", "var.correction", "std.correction", "linalg_vector_norm"]


def kernel(row):
    return kernels["cpu"][row].fn


def numbers(shape, dtype=np.float32, seed=0):
    made = np.random.default_rng(seed).standard_normal(shape) * 2 + 0.5
    return made > 0.5 if dtype is np.bool_ else np.asarray(made.astype(dtype))


def both(row, outs, values):
    made = []
    for function in (kernel(row), kernel(row).numpy):
        fresh = tuple(np.full_like(one, 1) for one in outs)
        with np.errstate(all="ignore"):
            function(fresh[0] if len(fresh) == 1 else fresh, *values)
        made.append(fresh)
    return zip(*made, strict=True)


def reduced(shape, dims, keepdim):
    return tuple(1 if dim in dims else extent for dim, extent in enumerate(shape) if keepdim or dim not in dims)


def operands(dtype):
    for shape in SHAPES:
        x = numbers(shape, dtype)
        yield x
        yield x.transpose(1, 0, 2)
        yield x.transpose(2, 0, 1)
        yield x[:, ::2]


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("row", ["sum.dim_IntList", "prod.dim_int", "amax", "amin", "any.dims", "all.dims", *SINGLE])
def test_over_dims(row, dtype, dims):
    if (row in SINGLE and np.dtype(dtype).kind != "f") or (dtype is np.bool_) != (row[:3] in ("any", "all")):
        pytest.skip("not of this kind")
    extra = {"linalg_vector_norm": (2,), "var.correction": (1,), "std.correction": (0.5,)}.get(row, ())
    for x in operands(dtype):
        if row == "prod.dim_int" and dtype is not np.int64:
            x = 1 + x / 100  # products that do not overflow
        if row.startswith(("var", "std")) and np.prod([x.shape[dim] for dim in dims]) == 1:
            continue
        for keepdim in (False, True):
            out = np.empty(reduced(x.shape, dims, keepdim), dtype)
            values = {"linalg_vector_norm": (x, *extra, dims, keepdim)}.get(row, (x, dims, *extra, keepdim))
            for ours, expected in both(row, (out,), values):
                scale = float(np.sqrt(np.prod([x.shape[dim] for dim in dims])))
                np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=2e-6 * scale)


@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (1000,), (40_000,), (200_001,), (3, 4, 77)])
def test_of_everything(shape):
    x = numbers(shape)
    for row in ("sum", "mean", "max", "min", "prod"):
        ours = np.empty((), np.float32)
        kernel(row)(ours, x, *((tuple(range(x.ndim)), False) if row in ("sum", "mean", "prod") else ()))
        exact = getattr(np, row)(x.astype(np.float64))
        np.testing.assert_allclose(ours, exact.astype(np.float32), rtol=1e-6)


def test_long_sums_keep_their_digits():
    for seed in range(3):
        x = np.random.default_rng(seed).random((3000, 700), dtype=np.float32)
        for dims in ((0,), (1,), (0, 1)):
            out = np.empty(reduced(x.shape, dims, False), np.float32)
            kernel("sum.dim_IntList")(out, x, dims, False)
            exact = x.astype(np.float64).sum(dims)
            assert np.max(np.abs(out - exact) / exact) < 5e-7


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_numbers(value):
    for width in (1, 17, 64, 300):
        x = numbers((5, width))
        x[1, width // 2], x[2, :] = value, value
        for dims in ((0,), (1,), (0, 1)):
            for row in ("sum.dim_IntList", "amax", "amin"):
                out = np.empty(reduced(x.shape, dims, False), np.float32)
                for ours, expected in both(row, (out,), (x, dims, False)):
                    np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("row", ["max.dim", "min.dim", "argmax", "argmin"])
def test_places(row, dtype):
    for x in operands(dtype):
        x = np.round(x)  # equal elements: the first is found
        if dtype is np.float32 and x.size > 10:
            x[0, 0, -1] = np.nan
        for dim in range(3):
            shape = reduced(x.shape, (dim,), False)
            places = np.empty(shape, np.int64)
            outs = (places,) if row.startswith("arg") else (np.empty(shape, dtype), places)
            for ours, expected in both(row, outs, (x, dim if row.startswith("arg") else (dim,), False)):
                np.testing.assert_array_equal(ours, expected)
        if row.startswith("arg"):
            for ours, expected in both(row, (np.empty((), np.int64),), (x, None, False)):
                np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("row", ["var_mean.correction", "std_mean.correction"])
def test_variance_and_mean(row):
    for x in (numbers((40, 33)), numbers((3, 5, 70))):
        for dims in ((0,), (x.ndim - 1,)):
            out = np.empty(reduced(x.shape, dims, False), np.float32)
            for ours, expected in both(row, (out, out), (x, dims, 1, False)):
                np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running_sums(dtype):
    for x in operands(dtype):
        for axis in range(3):
            for ours, expected in both("cumsum", (np.empty(x.shape, dtype),), (x, axis)):
                np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)
    x = numbers((1500, 2100), dtype)
    for ours, expected in both("cumsum", (x,), (x, 0)):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running_products(dtype):
    for x in operands(dtype):
        for axis in range(3):
            for ours, expected in both("cumprod", (np.empty(x.shape, dtype),), (x, axis)):
                np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("row", ["cummax", "cummin"])
def test_running_extremes(row, dtype):
    for x in operands(dtype):
        x = np.asarray(np.round(x), dtype)  # equal elements: the last is found
        if x.dtype.kind == "f" and x.shape[2] > 3:
            x[0, :, 1], x[0, 0, 3], x[-1] = np.nan, np.nan, -np.inf
        for axis in range(3):
            outs = np.empty(x.shape, dtype), np.empty(x.shape, np.int64)
            for ours, expected in both(row, outs, (x, axis)):
                np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", ["amax", "amin"])
def test_extremes_of_rows_with_special_numbers(row, dtype):
    for width in (7, 16, 17, 33, 64, 100):
        for special in ((np.nan,), (np.inf, -np.inf), (-np.inf, np.nan, np.inf), (3e38, 3e38, 3e38)):
            x = np.random.default_rng(width).standard_normal((width, width)).astype(dtype)
            for shift, value in enumerate(special):
                x[np.arange(width), (np.arange(width) + shift * 5) % width] = value
            for ours, expected in both(row, (np.empty(width, dtype),), (x, (1,), False)):
                np.testing.assert_array_equal(ours, expected)


LOSSES = {"mse_loss": (), "smooth_l1_loss": (0.7,), "huber_loss": (0.7,)}


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 15, 70, 1025, 40_000])
@pytest.mark.parametrize("row", LOSSES)
def test_losses(row, size, reduction):
    x, y, grad = numbers(size), numbers(size, seed=1), numbers(() if reduction else size, seed=2)
    out = np.empty(() if reduction else size, np.float32)
    for ours, expected in both(row, (out,), (x, y, reduction, *LOSSES[row])):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    for ours, expected in both(f"{row}_backward", (x,), (grad, x, y, reduction, *LOSSES[row])):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_cross_entropy_of_two_classes(reduction):
    x, y = numbers(1100) * 10, (numbers(1100, seed=1) > 0).astype(np.float32)
    out = np.empty(() if reduction else x.shape, np.float32)
    for ours, expected in both("binary_cross_entropy_with_logits", (out,), (x, y, None, None, reduction)):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    p = np.clip(np.abs(x) / 8, 0, 1)
    for ours, expected in both("binary_cross_entropy", (out,), (p, y, None, reduction)):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    grad = numbers(() if reduction else x.shape, seed=2)
    for ours, expected in both("binary_cross_entropy_backward", (x,), (grad, p, y, None, reduction)):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        kernel("binary_cross_entropy")(out, p + 1, y, None, reduction)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_negative_log_likelihood(reduction, weighted):
    x, target = numbers((60, 9)), np.random.default_rng(3).integers(0, 9, 60)
    target[5] = -100
    weight = np.abs(numbers(9, seed=4)) if weighted else None
    outs = np.empty(() if reduction else 60, np.float32), np.empty((), np.float32)
    values = (x, target, weight, reduction, -100)
    for ours, expected in both("nll_loss_forward", outs, values):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    kernel("nll_loss_forward")(outs, *values)
    grad = numbers(() if reduction else 60, seed=5)
    for ours, expected in both("nll_loss_backward", (x,), (grad, *values, outs[1])):
        np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)
    target[7] = 9
    with pytest.raises(IndexError, match="Target 9 is out of bounds"):
        kernel("nll_loss_forward")(outs, *values)


BRAIN = ["sum.dim_IntList", "mean.dim", "prod.dim_int", "amax", "amin", "nansum", "linalg_vector_norm"]


@pytest.mark.parametrize("special", [(), (np.nan,), (np.inf, -np.inf), (3e38,) * 4])
@pytest.mark.parametrize("row", BRAIN)
def test_bfloat16_is_reduced_as_floats_are(row, special):
    for x in operands(np.float32):
        x = (1 + x / 100 if row.startswith("prod") else x).astype(ml_dtypes.bfloat16)
        x.reshape(-1)[: len(special)] = special[: x.size]
        for dims in DIMS:
            made = []
            for operand in (x, x.astype(np.float32)):
                out = np.ones(reduced(x.shape, dims, False), operand.dtype)
                values = (operand, 2, dims, False) if row == BRAIN[-1] else (operand, dims, False)
                kernel(row)(out, *values)
                made.append(out)
            rounded = made[1].astype(ml_dtypes.bfloat16).astype(np.float32)
            np.testing.assert_array_equal(made[0].astype(np.float32), rounded)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_what_is_a_number(dtype):
    for x in operands(dtype):
        x.reshape(-1)[::7] = np.nan
        for dims in DIMS:
            for ours, expected in both("nansum", (np.empty(reduced(x.shape, dims, False), dtype),), (x, dims, False)):
                np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-4)
