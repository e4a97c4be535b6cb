"""Numbers that an op's elements do not hold, results without gradients, and `out=` of dtypes that do not fit, beside torch."""

import math

import pytest

mt = pytest.importorskip("mindtorch", reason="calls on real tensors")
torch = pytest.importorskip("torch", reason="oracle")

from mindtorch_testing import assert_same_value, assert_torch_error  # noqa: E402

NUMBERS = {"complex": 2 + 1j, "complex, but whole": 2 + 0j, "huge": 1e300, "nan": math.nan, "infinite": math.inf}
SCALED = {
    "addmm": lambda T, m, **k: T.addmm(m, m, m, **k),
    "addmv": lambda T, m, **k: T.addmv(m[0], m, m[0], **k),
    "baddbmm": lambda T, m, **k: T.baddbmm(m[None], m[None], m[None], **k),
    "addbmm": lambda T, m, **k: T.addbmm(m, m[None], m[None], **k),
    "addr": lambda T, m, **k: T.addr(m, m[0], m[0], **k),
    "addcmul": lambda T, m, **k: T.addcmul(m, m, m, value=next(iter(k.values()))),
    "addcdiv": lambda T, m, **k: T.addcdiv(m, m, m, value=next(iter(k.values()))),
    "add": lambda T, m, **k: T.add(m, m, alpha=next(iter(k.values()))),
}


def as_torch(call):
    """Hold a call beside torch's, which answers or refuses."""
    try:
        call(torch)
    except Exception:  # noqa: BLE001  # whatever torch raises is compared
        assert_torch_error(lambda: call(mt), lambda: call(torch))
    else:
        assert_same_value(lambda: call(mt), lambda: call(torch))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("name", SCALED)
def test_factors(name, number, dtype):
    for factor in ("beta", "alpha"):
        as_torch(lambda T: SCALED[name](T, T.ones(2, 2, dtype=getattr(T, dtype)), **{factor: number}))  # noqa: B023


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "float64"])
def test_sums_of_numbers_with_gradients_in_whole_numbers(name, dtype):
    as_torch(lambda T: getattr(T.ones(3, requires_grad=True), name)(0, dtype=getattr(T, dtype)))


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex64"])
@pytest.mark.parametrize(
    "call",
    [
        lambda T, m, out: T.matmul(m, m, out=out),
        lambda T, m, out: T.matmul(m[None], m[None], out=out),
        lambda T, m, out: T.matmul(m[0], m[0], out=out),
        lambda T, m, out: T.linalg.matmul(m, m[0], out=out),
        lambda T, m, out: T.matrix_power(m, 2, out=out),
        lambda T, m, out: T.tensordot(m, m, 1, out=out),
        lambda T, m, out: T.nansum(m, 0, dtype=T.float32, out=out),
    ],
)
def test_products_are_not_converted(call, dtype):
    as_torch(lambda T: call(T, T.ones(2, 2), T.zeros(0, dtype=getattr(T, dtype))))


def test_a_contraction_resizes_its_result():
    as_torch(lambda T: T.tensordot(T.ones(2, 3), T.ones(3, 4), 1, out=T.zeros(0)))


@pytest.mark.parametrize("name", ["amax", "sum", "logsumexp", "argmax"])
def test_a_reduction_reads_all_of_the_operand_that_it_resizes(name):
    """torch reads what is left of it."""
    x = mt.arange(9).view(3, 3) if name == "argmax" else mt.arange(9.0).view(3, 3)
    expected = getattr(mt, name)(x.clone(), 0)
    with pytest.warns(UserWarning, match="was resized"):
        assert mt.equal(getattr(mt, name)(x, 0, out=x), expected)


BACKWARD = ["threshold_backward", "tanh_backward", "sigmoid_backward", "logit_backward"]


@pytest.mark.parametrize("name", BACKWARD)
@pytest.mark.parametrize("dtypes", [("float32", "int64"), ("int64", "float32"), ("bool", "int64"), ("int8", "int8")])
def test_inner_derivatives_compute_in_the_promoted_dtype(name, dtypes):
    rest = (0.0,) if name == "threshold_backward" else ()
    as_torch(lambda T: getattr(T.ops.aten, name)(*(T.ones(2, dtype=getattr(T, dtype)) for dtype in dtypes), *rest))


def test_sizes_of_an_inner_derivative():
    as_torch(lambda T: T.ops.aten.threshold_backward(T.ones(2, 3), T.ones(3, 2), 0.0))


@pytest.mark.parametrize(
    ("dtype", "one", "other"),
    [
        ("int64", 2**63 - 1, 2),
        ("int64", 2**62, 3),
        ("int32", 2**31 - 1, 2**31 - 2),
        ("int16", 32767, 2),
        ("int8", 127, 126),
    ],
)
def test_common_multiples_that_wrap(dtype, one, other):
    as_torch(lambda T: T.lcm(T.tensor([one], dtype=getattr(T, dtype)), T.tensor([other], dtype=getattr(T, dtype))))


@pytest.mark.parametrize("numbers", [[0.5 + 3.5j], [4j, 4.5j], [-5 - 9j, 2 + 100j], [complex(-math.inf, 0), 1j]])
def test_the_angle_of_a_complex_logarithm(numbers):
    as_torch(lambda T: T.logsumexp(T.tensor(numbers, dtype=T.complex128), 0))


@pytest.mark.parametrize("base", [-1.0, -2.5, 0.0, 2.0])
@pytest.mark.parametrize("name", ["pow", "float_power"])
def test_the_gradient_of_a_power_of_a_number(name, base):
    def gradient(T):
        exponent = T.tensor([0.0, 2.0, -3.0], requires_grad=True)
        getattr(T, name)(base, exponent).sum().backward()
        return exponent.grad

    as_torch(gradient)


@pytest.mark.parametrize("write", [lambda v: v.add_(1), lambda v: v.zero_(), lambda v: v[:1].mul_(2), lambda v: v.t_()])
def test_a_view_that_was_told_to_require_grad_is_named_when_it_is_written(write):
    as_torch(lambda T: write(T.ones(3)[:2].requires_grad_()))
