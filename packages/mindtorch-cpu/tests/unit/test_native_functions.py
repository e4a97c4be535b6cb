"""Native activations, softmax and layer norm: how far from the exact value, and where numpy's kernels must run."""

import numpy as np
import pytest
from scipy import special

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3.4e38, -3.4e38, 1e-30, 88.8, -88.8], np.float32)
FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "erf": special.erf, "sigmoid": special.expit, "sin": np.sin, "cos": np.cos}
WIDTHS = [1, 2, 15, 16, 17, 31, 33, 100, 768]


def kernel(row):
    return kernels["cpu"][row].fn


def normal(shape, seed=0, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def ulps(ours, exact):
    """How many units in the last place of a float32 `ours` is off."""
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    return np.max(np.abs(ours.astype(np.float64) - exact) / np.maximum(unit, 1.4e-45))


@pytest.mark.parametrize("row", FUNCTIONS)
def test_within_two_units(row):
    for numbers in [normal(40_000, 1, 3.0), normal(40_000, 2, 1e-3), np.linspace(-87, 88, 40_003, dtype=np.float32)]:
        out = np.empty_like(numbers)
        kernel(row)(out, numbers)
        assert ulps(out, FUNCTIONS[row](numbers.astype(np.float64))) <= (3.0 if row == "sigmoid" else 2.0)


BESSEL = {"i0": special.i0, "special_i0e": special.i0e, "special_i1": special.i1, "special_i1e": special.i1e}
WIDE = {**BESSEL, "lgamma": special.gammaln, "special_entr": special.entr}


@pytest.mark.parametrize("row", WIDE)
@np.errstate(all="ignore")
def test_special_functions_of_floats_of_every_size(row):
    every = np.arange(0, 2**32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    ends = np.nextafter(np.float32([1, 1, 2, 2, 3, 8, 8]), np.float32([0, 2, 0, 3, 9, 0, 9]))
    numbers = [every, normal(40_000, 1, 5.0), np.linspace(-20, 95, 40_003, dtype=np.float32), ends, SPECIAL]
    x = np.concatenate([*numbers, np.arange(-12, 12, dtype=np.float32)])
    out = np.empty_like(x)
    kernel(row)(out, x)
    exact = WIDE[row](x.astype(np.float64))
    if row == "lgamma":
        exact[np.isneginf(x)] = np.inf
    single = exact.astype(np.float32)
    finite = np.isfinite(single)
    np.testing.assert_array_equal(out[~finite], single[~finite])
    assert ulps(out[finite], exact[finite]) <= (2.0 if row == "special_entr" else 1.0)
    assert np.isnan(out[np.isinf(x)]).all() or row not in ("i0", "special_i1")


@pytest.mark.parametrize(("row", "factor"), [("sinc", np.pi), ("special_spherical_bessel_j0", 1.0)])
def test_sines_over_their_angles(row, factor):
    x = normal(40_000, 1, 20.0)
    out = np.empty_like(x)
    kernel(row)(out, x)
    angle = (x * np.float32(factor)).astype(np.float64)
    np.testing.assert_allclose(out, np.sin(angle) / angle, rtol=3e-7, atol=1e-9)
    kernel(row)(out[: SPECIAL.size], SPECIAL)
    ended = np.isinf(SPECIAL)
    np.testing.assert_array_equal(out[: SPECIAL.size][ended], np.nan if row == "sinc" else 0)
    assert out[:2].tolist() == [1.0, 1.0]
    assert np.isnan(out[4])


def test_sums_of_powers_of_two():
    one, other = normal(40_000, 1, 20.0), normal(40_000, 2, 20.0)
    ends = np.array(np.meshgrid(SPECIAL[:5], SPECIAL[:5])).reshape(2, -1)
    a, b = np.concatenate([one, ends[0]]), np.concatenate([other, ends[1]])
    out = np.empty_like(a)
    kernel("logaddexp2")(out, a, b)
    with np.errstate(invalid="ignore"):
        exact = np.logaddexp2(a.astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(out, exact, rtol=3e-7, atol=3e-7)


@pytest.mark.parametrize(("row", "base"), [("log2", 2), ("log10", 10)])
def test_logarithms_to_a_base(row, base):
    exact = {"log2": np.log2, "log10": np.log10}[row]
    near = np.nextafter(np.float32(1), np.float32([0, 2]))
    numbers = [np.exp(normal(40_000, 1, 20.0)), 1 + normal(40_000, 2, 0.1), 1 + normal(40_000, 3, 1e-4), near]
    for some in numbers:
        some = np.maximum(some.astype(np.float32), np.float32(1e-42))
        out = np.empty_like(some)
        kernel(row)(out, some)
        assert ulps(out, exact(some.astype(np.float64))) <= 2.0
    powers = np.float32(base) ** np.arange(0, 125 if base == 2 else 11, dtype=np.float32)
    out = np.empty_like(powers)
    kernel(row)(out, powers)
    np.testing.assert_array_equal(out, np.arange(powers.size))


@pytest.mark.parametrize("row", ["sin", "cos"])
def test_angles_near_whole_quarters_and_beside_long_ones(row):
    quarters = (np.arange(-2600, 2600) * (np.pi / 2)).astype(np.float32)
    numbers = np.concatenate([quarters, np.nextafter(quarters, np.float32(9e9)), np.nextafter(quarters, np.float32(0))])
    out, other = np.empty_like(numbers), np.empty_like(numbers)
    kernel(row)(out, numbers)
    assert ulps(out, FUNCTIONS[row](numbers.astype(np.float64))) <= 2.0
    longer = numbers.copy()
    longer[::7] = 1e5
    kernel(row)(other, longer)
    kept = np.arange(numbers.size) % 7 != 0
    np.testing.assert_array_equal(out[kept], other[kept])  # no element depends on its neighbours


def test_the_logarithm_of_a_sum():
    first, second = normal(20_000, 3, 5.0), normal(20_000, 4, 5.0)
    out = np.empty_like(first)
    kernel("logaddexp")(out, first, second)
    np.testing.assert_allclose(out, np.logaddexp(first.astype(np.float64), second), rtol=3e-7, atol=1e-7)
    first, second = (one.ravel() for one in np.meshgrid(SPECIAL, SPECIAL))
    out, expected = np.empty_like(first), np.empty_like(first)
    with np.errstate(all="ignore"):
        kernel("logaddexp")(out, first, second)
        kernel("logaddexp").numpy(expected, first, second)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-42)


@pytest.mark.parametrize("row", [*FUNCTIONS, "silu"])
@np.errstate(all="ignore")
def test_special_numbers(row):
    ours, expected = np.empty_like(SPECIAL), np.empty_like(SPECIAL)
    kernel(row)(ours, SPECIAL)
    kernel(row).numpy(expected, SPECIAL)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-44)
    numbered = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(ours[numbered]), np.signbit(expected[numbered]))


def agree(row, outs, values, rtol=2e-6, atol=2e-6):
    """Both kernels fill outputs like `outs`: the same but for rounding."""
    single = not isinstance(outs, tuple)
    made = []
    for function in (kernel(row), kernel(row).numpy):
        fresh = tuple(None if one is None else np.full_like(one, 7) for one in ((outs,) if single else outs))
        with np.errstate(all="ignore"):
            function(fresh[0] if single else fresh, *values)
        made.append(fresh)
    for ours, expected in zip(*made, strict=True):
        if expected is not None:
            np.testing.assert_allclose(ours, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("how", ["none", "tanh"])
def test_gelu(how):
    for shape in [(), (0, 3), (5,), (7, 33)]:
        x, grad = np.asarray(normal(shape, 0, 3.0)), np.asarray(normal(shape, 1))
        agree("gelu", x, (x, how))
        agree("gelu_backward", x, (grad, x, how))
        agree("gelu", x.T, (x.T, how))
        agree("gelu", x.astype(np.float64), (x.astype(np.float64), how))


@pytest.mark.parametrize("width", WIDTHS)
def test_softmax(width):
    x, grad = normal((5, width), 0, 4.0), normal((5, width), 1)
    for row in ("_softmax", "_log_softmax"):
        share = np.empty_like(x)
        kernel(row)(share, x, 1, False)
        agree(row, x, (x, 1, False))
        agree(row, x, (x, 0, False))
        agree(f"{row}_backward_data", x, (grad, share, 1, None), atol=1e-5)
        agree(f"{row}_backward_data", x, (grad, share, 0, None), atol=1e-5)


@pytest.mark.parametrize("row", ["_softmax", "_log_softmax"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_softmax_of_special_numbers(row, value):
    for width in (3, 16, 21):
        x = normal((4, width))
        x[1, 1], x[2, :], x[3, -1] = value, value, value
        agree(row, x, (x, -1, False))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, False)])
def test_layer_norm(width, given):
    x, grad = normal((6, width), 0, 2.0) + np.float32(3), normal((6, width), 1)
    weight, bias = (normal(width, 2 + place) if wanted else None for place, wanted in enumerate(given))
    mean = np.empty((6, 1), np.float32)
    values = (x, (width,), weight, bias, 1e-5)
    agree("native_layer_norm", (x, mean, mean), values, rtol=1e-5, atol=1e-5)
    outs = (np.empty_like(x), np.empty_like(mean), np.empty_like(mean))
    kernel("native_layer_norm")(outs, *values)
    wanted = (x, None if weight is None else weight, None if bias is None else bias)
    backward = (grad, x, (width,), outs[1], outs[2], weight, bias, None)
    size = 1e-4 * float(np.max(outs[2]))
    agree("native_layer_norm_backward", wanted, backward, rtol=1e-4, atol=size)
    agree("native_layer_norm_backward", (None, *wanted[1:]), backward, rtol=1e-4, atol=size)


def test_layer_norm_of_nothing():
    none, mean = np.empty((0, 4), np.float32), np.empty((0, 1), np.float32)
    agree("native_layer_norm", (none, mean, mean), (none, (4,), None, None, 1e-5))
    weight = np.ones(4, np.float32)
    agree("native_layer_norm_backward", (none, weight, weight), (none, none, (4,), mean, mean, weight, weight, None))


@pytest.mark.parametrize("row", ["sin", "cos", "erf", "sigmoid"])
def test_functions_of_doubles(row):
    """To a few units in the last place of numpy's, for every number of elements and what lies outside of the usual."""
    random = np.random.default_rng(5)
    usual = [random.standard_normal(400) * size for size in (1e-8, 0.5, 1, 5, 100, 1e5)]
    turns = np.arange(-300, 300) * (np.pi / 2)
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        5e-324,
        -1e-310,
        1e6,
        -3e9,
        1e22,
        6.0,
        -6.5,
        709.9,
        -709.9,
        745.5,
        -760,
    ]
    for x in (*usual, turns, np.array(special), *(usual[3][:size] for size in range(20)), usual[2].reshape(20, 20).T):
        ours, expected = np.zeros(x.shape), np.zeros(x.shape)
        with np.errstate(all="ignore"):
            kernels["cpu"][row].fn(ours, x)
            kernels["cpu"][row].fn.numpy(expected, x)
        np.testing.assert_array_max_ulp(ours, expected, 4)
        numbered = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(ours[numbered]), np.signbit(expected[numbered]))


SPECIAL_FUNCTIONS = {
    "exp2": (np.exp2, [np.linspace(-149, 127.9, 40_003), normal(40_000, 1, 1e-3)]),
    "expm1": (np.expm1, [np.linspace(-20, 88, 40_003), normal(40_000, 2), normal(40_000, 3, 1e-3)]),
    "erfc": (special.erfc, [np.linspace(-6, 10, 40_003), normal(40_000, 4), normal(40_000, 5, 1e-3)]),
    "erfinv": (special.erfinv, [np.linspace(-0.999999, 0.999999, 40_003), 1 - np.exp(-np.linspace(1, 15, 4_000))]),
}


@pytest.mark.parametrize("row", SPECIAL_FUNCTIONS)
@np.errstate(all="ignore")
def test_special_functions_within_two_units(row):
    exact, samples = SPECIAL_FUNCTIONS[row]
    for numbers in samples:
        numbers = numbers.astype(np.float32)
        out = np.empty_like(numbers)
        kernel(row)(out, numbers)
        assert ulps(out, exact(numbers.astype(np.float64))) <= 2.0
    ends = np.concatenate([SPECIAL, np.float32([1, -1, 1.5, -1.5])])
    out, expected = np.empty_like(ends), np.empty_like(ends)
    kernel(row)(out, ends)
    kernel(row).numpy(expected, ends)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-44)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hypot(dtype):
    for scale in (1.0, 1e-30, 1e18) if dtype is np.float32 else (1.0, 1e-310, 1e-200, 1e200):
        first, second = (
            np.random.default_rng(seed).standard_normal((300, 7)).astype(dtype) * dtype(scale) for seed in (1, 2)
        )
        out = np.empty_like(first)
        kernel("hypot")(out, first, second)
        exact = np.hypot(first.astype(np.longdouble), second).astype(dtype)
        assert np.max(np.abs(out - exact) / np.maximum(np.spacing(exact), np.finfo(dtype).smallest_subnormal)) <= 1.0
        assert np.mean(out != exact) < 0.01  # nearly all are as if rounded once
        agree("hypot", first.T, (first.T, second.T), rtol=1e-6, atol=0)
    first, second = (one.ravel().astype(dtype) for one in np.meshgrid(SPECIAL, SPECIAL))
    agree("hypot", first, (first, second), rtol=1e-6, atol=0)


def test_logit():
    x = np.concatenate([np.random.default_rng(1).uniform(0, 1, 1000), [0, 1, -0.5, 1.5, np.nan, np.inf]]).astype(
        np.float32
    )
    for eps in (None, 1e-6, 0.1, 0.7):
        agree("logit", x, (x, eps))
        agree("logit", x.astype(np.float64), (x.astype(np.float64), eps))
        agree("logit", x.astype(np.float16), (x.astype(np.float16), eps))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_and_signs(dtype):
    x = np.concatenate([SPECIAL, normal(500, 1, 3.0)]).astype(dtype)
    agree("frac", x, (x,), rtol=0, atol=0)
    agree("angle", x, (x,), rtol=0, atol=0)
    made = np.empty_like(x)
    kernel("copysign.Tensor")(made, x, x[::-1])
    np.testing.assert_array_equal(np.signbit(made), np.signbit(x[::-1]))
    np.testing.assert_array_equal(np.abs(made), np.abs(x))


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        ("silu", ()), ("hardswish", ()), ("hardsigmoid", ()), ("leaky_relu", (0.1,)), ("elu", (1.5, 1.1, 0.9)),
        ("hardtanh", (-1.0, 2.0)), ("threshold", (0.3, 7.0)), ("softshrink", (0.5,)), ("hardshrink", (0.5,)),
        ("gelu", ("none",)),
    ],
)  # fmt: skip
def test_activations_of_doubles(row, numbers):
    x = np.random.default_rng(3).standard_normal((40, 23)) * 4
    assert (
        native.module.kernel(row, lambda *given: 1 / 0)(np.empty_like(x), x, *numbers) is None
    )  # no number is left to numpy
    agree(row, x, (x, *numbers), rtol=1e-13, atol=1e-14)
    agree(row, x.T, (x.T, *numbers), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        ("silu_backward", ()), ("hardswish_backward", ()), ("hardsigmoid_backward", ()), ("hardtanh_backward", (-1.0, 2.0)),
        ("threshold_backward", (0.3,)), ("softshrink_backward", (0.5,)), ("hardshrink_backward", (0.5,)),
        ("tanh_backward", ()), ("sigmoid_backward", ()), ("gelu_backward", ("none",)), ("leaky_relu_backward", (0.1, False)),
    ],
)  # fmt: skip
def test_gradients_of_activations_of_doubles(row, numbers):
    grad, x = (np.random.default_rng(seed).standard_normal((40, 23)) for seed in (4, 5))
    agree(row, x, (grad, x, *numbers), rtol=1e-13, atol=1e-14)
