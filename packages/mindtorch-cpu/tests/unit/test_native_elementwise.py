"""Native elementwise kernels against numpy's: strides, broadcasting, tails, numbers, special values, every kind."""

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

from .native_kernels import native_kernel
from .rounding import fused

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3.4e38, 1e-30, 2.5, -2.5, 0.5, 100.0, -100.0]
FUSED_ROWS = ("add.Tensor", "sub.Tensor", "rsub.Tensor", "addcmul", "lerp.Tensor", "lerp.Scalar")
EXACT = [
    "neg",
    "abs",
    "sqrt",
    "reciprocal",
    "relu",
    "floor",
    "ceil",
    "round",
    "trunc",
    "sign",
    "isnan",
    "isinf",
    "isfinite",
]
PAIRS = [
    "mul.Tensor",
    "maximum",
    "minimum",
    "eq.Tensor",
    "ne.Tensor",
    "lt.Tensor",
    "le.Tensor",
    "gt.Tensor",
    "ge.Tensor",
]
LOGIC = ["logical_and", "logical_or", "logical_xor"]
BITS = ["bitwise_and.Tensor", "bitwise_or.Tensor", "bitwise_xor.Tensor"]
TRUTHS = {
    "isnan",
    "isinf",
    "isfinite",
    "logical_not",
    *LOGIC,
    *(row for row in PAIRS if row[:2] in "eq ne lt le gt ge"),
}


def kernel(row):
    return kernels["cpu"][row].fn


def numbers(shape, dtype, seed=0):
    made = np.random.default_rng(seed).standard_normal(shape) * 3
    if np.dtype(dtype).kind == "f":
        flat = made.reshape(-1)
        for place, value in enumerate(SPECIAL):
            if place * 5 + seed < flat.size:
                flat[place * 5 + seed] = value
    return (made > 0) if dtype is np.bool_ else made.astype(dtype)


def agree(row, values, shape, dtype, strided=False, exact=True):
    """Both kernels fill an output like this: the same, or but for rounding; a product with a sum is rounded as the loops do."""
    made = []
    for function in (kernel(row), kernel(row).numpy):
        out = np.full((*shape, 2) if strided else shape, 1, dtype)
        out = out[..., 0] if strided else out
        with np.errstate(all="ignore"):
            function(out, *values)
            if made and row in FUSED_ROWS and out.dtype.kind == "f" and isinstance(values[0], np.ndarray):
                out[...] = fused(row, values)
        made.append(out)
    if exact:
        np.testing.assert_array_equal(made[0], made[1])
        if out.dtype.kind == "f" and row not in ("maximum", "minimum", "clamp"):  # numpy may take either zero
            numbered = ~np.isnan(made[0])
            np.testing.assert_array_equal(np.signbit(made[0][numbered]), np.signbit(made[1][numbered]))
    else:
        np.testing.assert_allclose(made[0], made[1], rtol=2e-6, atol=2e-6)


def shapes():
    """Pairs of operands by their shapes and orders, as functions of a dtype."""
    yield lambda d: (numbers((7, 33), d), numbers((7, 33), d, 1))
    yield lambda d: (numbers((5, 40), d), numbers((40,), d, 1))
    yield lambda d: (numbers((5, 40), d), numbers((5, 1), d, 1))
    yield lambda d: (numbers((700, 3), d), numbers((3,), d, 1))
    yield lambda d: (numbers((700, 3), d), numbers((700, 1), d, 1))
    yield lambda d: (numbers((3, 5, 64), d), numbers((5, 1), d, 1))
    yield lambda d: (numbers((40, 35), d).T, numbers((35, 40), d, 1))
    yield lambda d: (numbers((40, 35), d).T, numbers((40, 35), d, 1).T)
    yield lambda d: (numbers((6, 4, 50), d)[:, 1:3, ::2], numbers((6, 2, 25), d, 1))
    yield lambda d: (numbers((2, 3, 4, 5), d).transpose(0, 2, 3, 1), numbers((2, 4, 5, 3), d, 1))
    yield lambda d: (numbers((1, 50), d), numbers((50, 1), d, 1))
    yield lambda d: (numbers((), d), numbers((), d, 1))
    yield lambda d: (numbers((0, 3), d), numbers((3,), d, 1))
    yield lambda d: (numbers((3, 2500), d), numbers((3, 1), d, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("row", [*PAIRS, *LOGIC, *BITS])
def test_pairs(row, dtype):
    if row in BITS and np.dtype(dtype).kind == "f":
        pytest.skip("bits are of whole numbers")
    for make in shapes():
        left, right = make(dtype)
        shape = np.broadcast_shapes(left.shape, right.shape)
        out = np.bool_ if row in TRUTHS else dtype
        agree(row, (left, right), shape, out)
        agree(row, (right, left), shape, out, strided=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("alpha", [1, 2, -3])
def test_alpha(alpha, dtype):
    for make in shapes():
        left, right = make(dtype)
        for row in ("add.Tensor", "sub.Tensor", "rsub.Tensor"):
            agree(row, (left, right, alpha), np.broadcast_shapes(left.shape, right.shape), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", EXACT)
def test_of_one(row, dtype):
    for size in range(70):
        agree(row, (numbers(size, dtype),), (size,), np.bool_ if row in TRUTHS else dtype)
    for x in (numbers((40, 35), dtype).T, numbers((4, 40, 3), dtype)[:, ::2, ::2]):
        if row not in TRUTHS:  # numpy's isnan of strided operands into a strided output is wrong
            agree(row, (x,), x.shape, dtype, strided=True)
    if row in TRUTHS:
        agree(row, (x,), x.shape, np.bool_)


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -1, 2.0, -0.5, -2, 2.5, -1.7, 0, 1])
def test_powers(exponent):
    x = numbers((30, 70), np.float32)
    if exponent == -0.5:  # as torch, which takes 1 / sqrt: -inf for -0.0, nan for -inf
        x[~np.isfinite(x) | (x == 0)] = 1
    agree("pow.Tensor_Scalar", (x, exponent), x.shape, np.float32, exact=False)
    x = np.abs(x)
    agree("pow.Tensor_Scalar", (x, exponent), x.shape, np.float32, exact=False)
    agree("pow.Tensor_Tensor", (x, numbers(70, np.float32, 2)), x.shape, np.float32, exact=False)
    agree("pow.Tensor_Scalar", (x.astype(np.float64), exponent), x.shape, np.float64, exact=False)
    if isinstance(exponent, int) and exponent >= 0:
        agree("pow.Tensor_Scalar", (numbers((9, 9), np.int64), exponent), (9, 9), np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_three(dtype):
    x, y, z = (numbers((20, 50), dtype, seed) for seed in range(3))
    low, high = np.asarray(-0.5, dtype), numbers((50,), dtype, 3)
    for values in [(x, y, z), (x, low, high), (x, -0.5, 0.5), (x, None, 0.5), (x, -1, None), (x.T, -0.5, z.T)]:
        agree("clamp", values, values[0].shape, dtype)
    chosen = numbers((20, 50), np.bool_, 4)
    for values in [(chosen, x, y), (chosen[:, :1], x, high), (chosen, x, 0.0), (chosen, -1.0, y), (chosen, 1.0, 2.0)]:
        agree("where.self", values, (20, 50), dtype)
    for value in (1, 0.5, -2):
        agree("addcmul", (x, y, z, value), x.shape, dtype)
        agree("addcdiv", (x, y, high, value), x.shape, dtype)
    for weight in (0.25, 0.75, z, high):
        agree("lerp.Tensor" if isinstance(weight, np.ndarray) else "lerp.Scalar", (x, y, weight), x.shape, dtype)


def ulps(ours, exact):
    """How many units in the last place of a float32 `ours` is off where both are finite; the rest must be equal."""
    single = exact.astype(np.float32)
    finite = np.isfinite(single) & np.isfinite(ours)
    np.testing.assert_array_equal(ours[~finite], single[~finite])
    unit = np.maximum(np.spacing(np.abs(single[finite])).astype(np.float64), 1.4e-45)
    return np.max(np.abs(ours[finite].astype(np.float64) - exact[finite]) / unit)


@pytest.mark.parametrize("row", ["exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tanh", "erf"])
@np.errstate(all="ignore")
def test_functions_of_floats_of_every_size(row):
    every = np.arange(0, 2**32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([every, numbers(50_000, np.float32)])
    out = np.empty_like(x)
    kernel(row)(out, x)
    exact = special.erf if row == "erf" else getattr(np, row)
    expected = exact(x.astype(np.float64))
    assert ulps(out, expected) <= 2.0
    zero = (expected == 0) & (out == 0)
    np.testing.assert_array_equal(np.signbit(out[zero]), np.signbit(expected[zero]))


ACTIVATIONS = {
    "silu": (), "leaky_relu": (0.1,), "elu": (1.5, 1.0, 1), "softplus": (1.0, 20.0), "hardswish": (),
    "hardsigmoid": (), "hardtanh": (-1, 1), "mish": (), "threshold": (0.5, 2.0), "softshrink": (0.5,),
    "hardshrink": (0.5,),
}  # fmt: skip
SLOPES = {
    "silu_backward": (), "leaky_relu_backward": (0.1, False), "softplus_backward": (1.0, 20.0),
    "hardswish_backward": (), "hardsigmoid_backward": (), "hardtanh_backward": (-1, 1), "mish_backward": (),
    "threshold_backward": (0.5,), "softshrink_backward": (0.5,), "hardshrink_backward": (0.5,), "tanh_backward": (),
    "sigmoid_backward": (), "log_sigmoid_backward": (None,),
}  # fmt: skip


@pytest.mark.parametrize("row", ACTIVATIONS)
def test_activations(row):
    x = (np.random.default_rng(1).standard_normal((30, 71)) * 4).astype(np.float32)
    for one in (x, x.T, x[:, ::2], x[:3, :5], x[0, 0]):
        agree(row, (np.asarray(one), *ACTIVATIONS[row]), one.shape, np.float32, exact=False)


@pytest.mark.parametrize("row", SLOPES)
def test_slopes(row):
    grad, x = (np.random.default_rng(seed).standard_normal((30, 71)).astype(np.float32) * 2 for seed in (1, 2))
    for one, other in ((grad, x), (grad.T, x.T), (grad[:, ::2], x[:, 1::2][:, :1]), (grad[:, :5], x[:, :5])):
        agree(row, (one, other, *SLOPES[row]), one.shape, np.float32, exact=False)


def test_slopes_of_elu_and_logarithm_of_sigmoid():
    grad, x = (np.random.default_rng(seed).standard_normal((30, 71)).astype(np.float32) * 2 for seed in (1, 2))
    for is_result in (False, True):
        agree("elu_backward", (grad, 1.5, 1.0, 1, is_result, x), x.shape, np.float32, exact=False)
    outs = np.empty_like(x), np.empty((0,), np.float32)
    kernel("log_sigmoid_forward")(outs, x)
    np.testing.assert_allclose(outs[0], -np.logaddexp(0, -x.astype(np.float64)), rtol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_operands_that_lie_together_along_another_dimension(dtype, threads):
    for rows, columns in ((8, 8), (40, 50), (100, 16), (17, 131)):
        x, y = numbers((rows, columns), dtype), numbers((columns, rows), dtype, 1)
        z = numbers((3, columns, 4, rows), dtype, 2)
        for row in ("maximum", "eq.Tensor"):
            out = np.bool_ if row in TRUTHS else dtype
            agree(row, (x, y.T), x.shape, out)
            agree(row, (y.T, x), x.shape, out)
            agree(row, (y.T, y.T), x.shape, out, strided=True)
            agree(row, (z.transpose(0, 2, 3, 1), x), (3, 4, rows, columns), out)
            agree(row, (z.transpose(2, 0, 3, 1), x[:, ::-1]), (4, 3, rows, columns), out)
            agree(row, (y.T[::2], x[::2, :1]), x[::2].shape, out)
        mine = x.copy()
        kernel("maximum")(mine, mine, y.T)
        np.testing.assert_array_equal(mine, np.maximum(x, y.T))
    mask = numbers((50, 40), np.bool_).T
    agree("where.self", (mask, numbers((40, 50), dtype), numbers((50, 40), dtype, 3).T), mask.shape, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("row", [*PAIRS, "add.Tensor", "div.Tensor"])
def test_one_element_for_a_whole_row(row, dtype):
    if row == "div.Tensor" and dtype is np.int64:
        pytest.skip("whole numbers are not divided into whole ones")
    out, more = np.bool_ if row in TRUTHS else dtype, (2,) if row == "add.Tensor" else ()
    for count in (1, 31, 32, 70, 2000):
        x, column = numbers((5, count), dtype), numbers((5, 1), dtype, 1)
        for pair in ((x, column), (column, x), (x, column[:1]), (column[:1], x), (x, 3), (x[:, ::-1], column)):
            agree(row, (*pair, *more), x.shape, out)
        mine, theirs = x.copy(), x.copy()
        if out is dtype:
            kernel(row)(mine, mine, column, *more)
            kernel(row).numpy(theirs, theirs, column, *more)
            np.testing.assert_array_equal(mine, theirs)


def test_operands_that_overlap_the_output():
    memory = np.arange(4000, dtype=np.float32)
    expected = memory.copy()
    expected[1:] = memory[1:] * memory[:-1]
    kernel("mul.Tensor")(memory[1:], memory[1:], memory[:-1])
    np.testing.assert_array_equal(memory, expected)
    square = np.arange(2500, dtype=np.float32).reshape(50, 50)
    turned = square + square.T
    kernel("add.Tensor")(square, square, square.T, 1)
    np.testing.assert_array_equal(square, turned)


def check_native(row, values, shape, dtype):
    """The native kernel does it itself and gives what numpy's does, signs of zeros too."""
    made = []
    for function in (native_kernel(row), kernel(row).numpy):
        out = np.zeros(shape, dtype)
        with np.errstate(all="ignore"):
            function(out, *values)
        made.append(out)
    np.testing.assert_array_equal(made[0], made[1])
    return made[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_filled_where_a_mask_holds(dtype):
    x, mask = numbers((5, 70), dtype), numbers((5, 70), np.bool_, 1)
    value = np.asarray(3).astype(dtype)
    for given in (value, True if dtype is np.bool_ else 7, *((-1e9, np.inf) if x.dtype.kind == "f" else ())):
        for where in (mask, mask[:1], mask[:, :1], mask[::-1]):
            check_native("masked_fill.Scalar", (x, where, given), x.shape, dtype)
    mine = x.copy()
    kernel("masked_fill.Scalar")(mine, mine, mask, value)
    np.testing.assert_array_equal(mine, np.where(mask, value, x))


def test_filled_with_a_number_that_does_not_fit():
    x = numbers((3, 4), np.float32)
    with pytest.raises(RuntimeError, match="converted to type float without overflow"):
        kernel("masked_fill.Scalar")(x, x, x > 0, 1e39)


@pytest.mark.parametrize("row", ["remainder.Tensor", "fmod.Tensor"])
def test_remainders(row):
    name = row.split(".")[0]
    special = np.array(SPECIAL, np.float32)
    pairs = [np.ascontiguousarray(one.ravel()) for one in np.meshgrid(special, special)]
    random = np.random.default_rng(0)
    wide = [(random.standard_normal(5000) * 10.0 ** random.integers(-6, 6, 5000)).astype(np.float32) for _ in range(2)]
    whole = [random.integers(-50, 50, 999).astype(np.float32) for _ in range(2)]
    for a, b in (pairs, wide, whole):
        ours = check_native(row, (a, b), a.shape, np.float32)
        exact = np.fmod(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
        zero = exact == 0
        np.testing.assert_array_equal(np.signbit(ours[zero]), np.signbit(a[zero]))  # as torch, not as numpy
        if name == "fmod":
            np.testing.assert_array_equal(ours, exact)
        mine = a.copy()
        kernel(row)(mine, mine, b)
        np.testing.assert_array_equal(mine, ours)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_only_finite_numbers(dtype):
    x = np.array(SPECIAL * 5).astype(dtype)
    for values in ((None, None, None), (1.5, 7.0, -8.0), (None, np.inf, None)):
        ours = check_native("nan_to_num", (x, *values), x.shape, dtype)
        if values[1] is None:
            assert ours.max() == ml_dtypes.finfo(dtype).max


def test_shifts():
    random = np.random.default_rng(0)
    x, counts = random.integers(-(2**62), 2**62, (7, 90)), random.integers(-4, 70, (7, 90))
    for side in ("left", "right"):
        row = f"bitwise_{side}_shift"
        for other in (counts, counts[:1], counts[:, ::-1], 2, 0, -1, 64):
            check_native(f"{row}.Tensor", (x, other), x.shape, np.int64)


@pytest.mark.parametrize("row", ["mul.Tensor", "maximum", "lt.Tensor", "sqrt", "exp"])
def test_halves_are_computed_with_as_floats(row, threads):
    out = np.bool_ if row in TRUTHS else np.float16
    x, y = numbers((40, 130), np.float16), numbers((40, 130), np.float16, 1)
    for a, b in ((x, y), (x.T, y.T), (x[:, ::2], y[:, ::-2]), (x, y[:1]), (x, y[:, :1]), (x, 1.5)):
        values = (a,) if row in ("sqrt", "exp") else (a, b)
        made = np.zeros(a.shape, out)
        with np.errstate(all="ignore"):
            native_kernel(row)(made, *values)
            wide = [one.astype(np.float32) if isinstance(one, np.ndarray) else one for one in values]
            expected = np.zeros(a.shape, np.bool_ if row in TRUTHS else np.float32)
            kernel(row)(expected, *wide)
            np.testing.assert_array_equal(made, expected.astype(out))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 8])
def test_short_rows_that_repeat(dtype, width, threads):
    first, second = numbers((70, 9), dtype), numbers((61, 9), dtype, 1)
    rows = first[:, None, :width], second[None, :, 1 : 1 + width]
    agree("maximum", rows, (70, 61, width), dtype)
    agree("eq.Tensor", (rows[0], first[:61][None, :, :width]), (70, 61, width), np.bool_)
    backwards = rows[0], second[None, ::-1, :width]
    agree("minimum", backwards, (70, 61, width), dtype)


@pytest.mark.parametrize("width", [512, 513, 700, 1000, 1023, 1024, 1025])
def test_a_row_that_repeats_beside_rows_with_gaps(width, threads):
    rows, row = numbers((5, 2 * width), np.float32), numbers((1, width), np.float32, 1)
    for gaps in (rows[:, ::2], rows.T[::2].T, numbers((5, 3 * width), np.float32)[:, ::3]):
        agree("mul.Tensor", (gaps, row), (5, width), np.float32)
        agree("add.Tensor", (row, gaps, 1), (5, width), np.float32)
        agree("maximum", (gaps, row), (5, width), np.float32)
