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
    "softplus": (1.0, 20.0), "softplus_backward": (1.0, 20.0), "hardtanh": (-1, 1), "hardtanh_backward": (-1, 1),
    "threshold": (0.5, 0.25), "threshold_backward": (0.5,), "leaky_relu_backward": (0.1, False),
    "softshrink": (0.5,), "hardshrink": (0.5,), "softshrink_backward": (0.5,), "hardshrink_backward": (0.5,),
}  # fmt: skip
ARITHMETIC = {
    *"maximum minimum clamp clamp_min clamp_max addcmul addcdiv logical_and logical_or logical_xor elu_backward".split(),
}
"""Rows of several operands of any kind: not what `test_halves` gives."""


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("row", sorted(reduced.NAMES & kernels["cpu"].keys() - ARITHMETIC))
def test_halves(row, dtype):
    kernel = kernels["cpu"][row]
    assert kernel.halves
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


TENSORS = {
    "add.Tensor": (1,), "sub.Tensor": (0.5,), "rsub.Tensor": (2,), "mul.Tensor": (), "div.Tensor": (), "maximum": (),
    "minimum": (), "eq.Tensor": (), "lt.Tensor": (), "ge.Tensor": (),
}  # fmt: skip
ONE = ["neg", "abs", "sqrt", "reciprocal", "relu", "floor", "ceil", "round", "trunc", "sign", "isnan", "isfinite"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.3e38, 0.5, 2.5, -2.5, 127.5]


def numbers(shape, seed):
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 3
    flat = made.reshape(-1)
    for place, value in enumerate(SPECIAL):
        flat[(place * 5 + seed) % flat.size] = value
    return made.astype(ml_dtypes.bfloat16)


def agree(row, values, shape, truth=False):
    """The native kernel fills an output as numpy's does, bit by bit but for the kind of nan."""
    made = []
    for function in (kernels["cpu"][row].fn, kernels["cpu"][row].fn.numpy):
        out = np.zeros(shape, bool if truth else ml_dtypes.bfloat16)
        with np.errstate(all="ignore"):
            function(out, *values)
        made.append(out.astype(np.float32))
    np.testing.assert_array_equal(*made, err_msg=row)
    if row not in ("maximum", "minimum"):  # numpy may take either zero
        numbered = ~np.isnan(made[0])
        np.testing.assert_array_equal(np.signbit(made[0][numbered]), np.signbit(made[1][numbered]), err_msg=row)


@pytest.mark.parametrize("width", [1, 2, 15, 31, 33, 70, 257])
def test_arithmetic_of_two(width):
    a, b = numbers((40, width), 1), numbers((40, width), 2)
    single, wide = b.astype(np.float32), numbers((40, 2 * width), 3)
    for row, rest in TENSORS.items():
        truth = row[:2] in ("eq", "lt", "ge")
        others = (b, b[:1], b[:, :1], b[0], np.asfortranarray(b), wide[:, ::2], b[::-1], single, single[:1], 0.37, -2)
        for other in others:
            agree(row, (a, other, *rest), a.shape, truth)
            agree(row, (other, a, *rest), a.shape, truth)


@pytest.mark.parametrize("width", [1, 2, 33, 70])
def test_arithmetic_of_one_and_three(width):
    a, b, c = (numbers((40, width), seed) for seed in (1, 2, 3))
    for one in (a, a.T, a[:, ::2], a[::-1], a[:1], a[0, 0]):
        one = np.asarray(one)
        for row in ONE:
            agree(row, (one,), one.shape, row.startswith("is"))
        for exponent in (2, -1, 0.5):
            agree("pow.Tensor_Scalar", (one, exponent), one.shape)
        agree("clamp", (one, -1, 0.7), one.shape)
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


def test_every_bfloat16_is_rounded_like_numpy():
    x = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    for row, rest in (("add.Tensor", (1,)), ("mul.Tensor", ()), ("div.Tensor", ())):
        agree(row, (x, x[::-1].copy(), *rest), x.shape)
    for row in ONE:
        agree(row, (x,), x.shape, row.startswith("is"))
