"""Native kernels that read and write bfloat16 and float16: as numpy's kernel in float32, rounded once."""

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
NUMBERS = {
    "gelu": ("none",), "gelu_backward": ("none",), "leaky_relu": (0.1,), "elu": (1.0, 1.0, 1),
    "softplus": (1.0, 20.0), "softplus_backward": (1.0, 20.0), "hardtanh": (-1, 1), "hardtanh_backward": (-1, 1),
    "threshold": (0.5, 0.25), "threshold_backward": (0.5,), "leaky_relu_backward": (0.1, False),
    "softshrink": (0.5,), "hardshrink": (0.5,), "softshrink_backward": (0.5,), "hardshrink_backward": (0.5,),
}  # fmt: skip
ARITHMETIC = {
    *"glu glu_backward maximum minimum clamp clamp_min clamp_max addcmul addcdiv".split(),
    *"logical_and logical_or logical_xor elu_backward".split(),
    *"sum mean prod amax amin max min nansum linalg_vector_norm".split(),
    *"mm bmm mv dot addmm baddbmm addmv native_layer_norm".split(),
    *"_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data".split(),
}
"""Rows of several operands of any kind, and reductions: not what `test_halves` gives."""
HALVES = {row for row in native.rows() if kernels["cpu"][row].halves and "." not in row}


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("row", sorted(HALVES - ARITHMETIC))
def test_halves(row, dtype):
    kernel = kernels["cpu"][row]
    count = 2 if row.endswith("_backward") or row in ("logaddexp", "logaddexp2", "hypot") else 1
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


DTYPES = [ml_dtypes.bfloat16, np.float16]
TENSORS = {
    "add.Tensor": (1,), "sub.Tensor": (0.5,), "rsub.Tensor": (2,), "mul.Tensor": (), "div.Tensor": (), "maximum": (),
    "minimum": (), "eq.Tensor": (), "lt.Tensor": (), "ge.Tensor": (),
}  # fmt: skip
ONE = ["neg", "abs", "sqrt", "reciprocal", "relu", "floor", "ceil", "round", "trunc", "sign", "isnan", "isfinite"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.3e38, 0.5, 2.5, -2.5, 127.5]


def numbers(shape, seed, dtype=ml_dtypes.bfloat16):
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 3
    flat = made.reshape(-1)
    for place, value in enumerate(SPECIAL):
        flat[(place * 5 + seed) % flat.size] = value
    with np.errstate(over="ignore"):
        return made.astype(dtype)


def agree(row, values, shape, truth=False):
    """The native kernel fills an output as numpy's does, bit by bit but for the kind of nan."""
    dtype, made = next(value.dtype for value in values if getattr(value, "itemsize", 0) == 2), []
    for function in (kernels["cpu"][row].fn, kernels["cpu"][row].fn.numpy):
        out = np.zeros(shape, bool if truth else dtype)
        with np.errstate(all="ignore"):
            function(out, *values)
        made.append(out.astype(np.float32))
    np.testing.assert_array_equal(*made, err_msg=row)
    if row not in ("maximum", "minimum"):  # numpy may take either zero
        numbered = ~np.isnan(made[0])
        np.testing.assert_array_equal(np.signbit(made[0][numbered]), np.signbit(made[1][numbered]), err_msg=row)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2, 15, 31, 33, 70, 257])
def test_arithmetic_of_two(width, dtype):
    a, b = numbers((40, width), 1, dtype), numbers((40, width), 2, dtype)
    single, wide = b.astype(np.float32), numbers((40, 2 * width), 3, dtype)
    for row, rest in TENSORS.items():
        truth = row[:2] in ("eq", "lt", "ge")
        others = (b, b[:1], b[:, :1], b[0], np.asfortranarray(b), wide[:, ::2], b[::-1], single, single[:1], 0.37, -2)
        for other in others:
            agree(row, (a, other, *rest), a.shape, truth)
            agree(row, (other, a, *rest), a.shape, truth)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2, 33, 70])
def test_arithmetic_of_one_and_three(width, dtype):
    a, b, c = (numbers((40, width), seed, dtype) for seed in (1, 2, 3))
    for one in (a, a.T, a[:, ::2], a[::-1], a[:1], a[0, 0]):
        one = np.asarray(one)
        for row in ONE:
            agree(row, (one,), one.shape, row.startswith("is"))
        for exponent in (2, -1, 0.5):
            agree("pow.Tensor_Scalar", (one, exponent), one.shape)
        for low, high in ((-1, 0.7), (0.7, -1), (np.nan, 1.0), (-0.0, np.nan)):
            agree("clamp", (one, low, high), one.shape)
        agree("clamp_min", (one, 0.7), one.shape)
    for row in ("addcmul", "addcdiv"):
        agree(row, (a, b, c, 0.5), a.shape)
        agree(row, (a, b[:1], c[:, :1], 2), a.shape)


def test_the_result_may_be_an_operand():
    a, b = numbers((40, 33), 1), numbers((40, 33), 2)
    for row in ("add.Tensor", "mul.Tensor"):
        rest = TENSORS[row]
        expected = np.zeros_like(a)
        kernels["cpu"][row].fn(expected, a, b, *rest)
        for place in (0, 1):
            values = [a.copy(), b.copy()]
            kernels["cpu"][row].fn(values[place], *values, *rest)
            np.testing.assert_array_equal(values[place].astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_number_is_rounded_like_numpy(dtype):
    x = np.arange(2**16, dtype=np.uint16).view(dtype)
    for row, rest in (("add.Tensor", (1,)), ("mul.Tensor", ()), ("div.Tensor", ())):
        agree(row, (x, x[::-1].copy(), *rest), x.shape)
    for row in ONE:
        agree(row, (x,), x.shape, row.startswith("is"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", "exp log log1p sin tanh erf sigmoid silu gelu mish log_sigmoid_forward".split())
def test_results_are_the_same_looked_up(row, dtype):
    """Functions of many elements are looked up in a table: what they give does not depend on how many there are."""
    fn, rest = kernels["cpu"][row].fn, NUMBERS.get(row, ())
    every = np.arange(2**16, dtype=np.uint16).view(dtype)
    expected, many = np.zeros_like(every), np.concatenate([every, every[::-1][:77]])

    def fill(out, *values):
        fn((out, np.empty_like(out)) if row.startswith("log_sigmoid") else out, *values, *rest)

    for start in range(0, 2**16, 1024):
        fill(expected[start : start + 1024], every[start : start + 1024])
    for turned in (many, np.stack([many, many]), np.stack([many, many])[:, ::-1], np.stack([many, many]).T):
        out = np.zeros(turned.shape, dtype)
        fill(out, turned)
        np.testing.assert_array_equal(out.astype("f4"), expected[turned.view(np.uint16)].astype("f4"))
    fill(many, many)
    np.testing.assert_array_equal(many[: 2**16].astype("f4"), expected.astype("f4"))


def close(made, want):
    np.testing.assert_allclose(made.astype("f4"), want.astype("f4"), rtol=0.008, atol=1e-6)


@pytest.mark.parametrize("width", [1, 5, 33, 128, 3000])
@pytest.mark.parametrize("row", ["_softmax", "_log_softmax"])
def test_softmax(row, width, threads):
    x, grad = numbers((70, width), 1), numbers((70, width), 2)
    x[~np.isfinite(x.astype("f4"))] = 1
    kernel, backward = kernels["cpu"][row].fn, kernels["cpu"][f"{row}_backward_data"].fn
    for values in (x, np.asfortranarray(x), x[:, ::2]):
        for dim in (1, 0):
            for kind in (ml_dtypes.bfloat16, np.float32):
                out, want = np.zeros(values.shape, kind), np.zeros(values.shape, "f4")
                kernel(out, values, dim, kind is np.float32)
                kernel.numpy(want, values.astype("f4"), dim, False)
                close(out, want)
    out, made, want = np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, "f4")
    kernel(out, x, 1, False)
    with np.errstate(all="ignore"):
        backward(made, grad, out, 1, None)
        backward.numpy(want, grad.astype("f4"), out.astype("f4"), 1, None)
    np.testing.assert_allclose(made.astype("f4"), want, rtol=0.008, atol=2e-5)


@pytest.mark.parametrize("width", [1, 33, 768, 3000])
@pytest.mark.parametrize("weighted", [None, ml_dtypes.bfloat16, np.float32])
def test_layer_norm(width, weighted, threads):
    x = np.random.default_rng(1).standard_normal((70, width)).astype(ml_dtypes.bfloat16)
    weight, bias = (
        None if weighted is None else np.random.default_rng(seed).standard_normal(width).astype(weighted)
        for seed in (2, 3)
    )
    kernel = kernels["cpu"]["native_layer_norm"].fn
    kind = weighted or ml_dtypes.bfloat16
    for values in (x, np.asfortranarray(x)):
        outs = tuple(np.zeros((70, extent), dtype) for extent, dtype in ((width, x.dtype), (1, kind), (1, kind)))
        wants = tuple(np.zeros(out.shape, "f4") for out in outs)
        kernel(outs, values, [width], weight, bias, 1e-5)
        single = [None if one is None else one.astype("f4") for one in (values, weight, bias)]
        kernel.numpy(wants, single[0], [width], single[1], single[2], 1e-5)
        for out, want in zip(outs, wants, strict=True):
            np.testing.assert_allclose(out.astype("f4"), want, rtol=0.008, atol=2e-5)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float32])
def test_gates(dtype):
    x = np.random.default_rng(1).standard_normal((6, 70, 10)).astype(dtype)
    for values in (x, np.asfortranarray(x), x[:, ::-1]):
        for dim in (0, 1, -1):
            shape = list(x.shape)
            shape[dim] //= 2
            grad = np.random.default_rng(2).standard_normal(shape).astype(dtype)
            for row, given, extents in (("glu", (values, dim), shape), ("glu_backward", (grad, values, dim), x.shape)):
                kernel = kernels["cpu"][row].fn
                out, want = np.zeros(extents, dtype), np.zeros(extents, "f4")
                kernel(out, *given)
                kernel.numpy(want, *(one.astype("f4") if isinstance(one, np.ndarray) else one for one in given))
                np.testing.assert_allclose(
                    out.astype("f4"), want, rtol=0.008 if dtype is not np.float32 else 4e-6, atol=1e-6
                )


def test_the_first_power_is_the_number():
    for dtype in (ml_dtypes.bfloat16, np.float32):
        x = numbers((40, 33), 1).astype(dtype)
        for exponent in (1, 1.0):
            out = np.zeros_like(x)
            kernels["cpu"]["pow.Tensor_Scalar"].fn(out, x, exponent)
            np.testing.assert_array_equal(out.astype("f4"), x.astype("f4"))
            np.testing.assert_array_equal(np.signbit(out), np.signbit(x))
