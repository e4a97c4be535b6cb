"""Chains of pointwise steps: every step rounds as numpy's operations do, products with a sum once where the instruction
set has that, wherever the operands lie."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_cpu.lists import _compile
from mindtorch_dispatch.execute.chain import NUMBERS, OPERANDS, Chain

from .rounding import fmadd

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38]
NUMBER = 0.3
NUMPY = {
    "neg": lambda a: -a,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "reciprocal": np.reciprocal,
    "mul": np.multiply,
    "div": np.divide,
    "maximum": np.maximum,
    "add_scaled": lambda a, b: fmadd(b, a.dtype.type(NUMBER), a),
    "sub_scaled": lambda a, b: fmadd(-b, a.dtype.type(NUMBER), a),
    "lerp": lambda a, b: fmadd(b - a, a.dtype.type(NUMBER), a),
    "add_number": lambda a: a + a.dtype.type(NUMBER),
    "sub_number": lambda a: a - a.dtype.type(NUMBER),
    "mul_number": lambda a: a * a.dtype.type(NUMBER),
    "div_number": lambda a: a / a.dtype.type(NUMBER),
    "addcmul": lambda a, b, c: fmadd(b * a.dtype.type(NUMBER), c, a),
    "addcdiv": lambda a, b, c: a + (b * a.dtype.type(NUMBER)) / c,
}


def run(chain, lists, numbers=()):
    return native.module.chain(_compile(chain, native.module.CHAIN_OPERATIONS), lists, numbers)


def operand(seed, count, dtype):
    array = np.random.default_rng(seed).standard_normal(count).astype(dtype)
    array[: len(SPECIAL)] = np.roll(SPECIAL, seed)[: array.size]
    return array


def test_both_sides_know_the_same_operations():
    assert set(native.module.CHAIN_OPERATIONS) == set(OPERANDS) == {*NUMPY, "adam", "adam_stepwise", "adagrad"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NUMPY)
def test_a_step_is_numpys(name, dtype):
    names = ["a", "b", "c"][: OPERANDS[name]]
    chain = Chain(" ".join(["out", *names]), (name, "out", *names))
    for count in [*range(71), 1023, 1025, 40000]:
        operands = [operand(seed, count, dtype) for seed in range(len(names))]
        out = np.empty(count, dtype)
        assert run(chain, ([out], *([one] for one in operands)), (NUMBER,) * NUMBERS.get(name, 0))
        with np.errstate(all="ignore"):
            assert np.array_equal(out, NUMPY[name](*operands), equal_nan=True)


@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9, -0.7])
def test_lerp_starts_from_the_nearer_end(weight):
    a, b = operand(0, 50, "float32")[10:], operand(1, 50, "float32")[10:]
    out = np.empty_like(a)
    assert run(Chain("out a b", ("lerp", "out", "a", "b")), ([out], [a], [b]), (weight,))
    w = np.float32(weight)
    assert np.array_equal(out, fmadd(b - a, w, a) if abs(weight) < 0.5 else fmadd(a - b, np.float32(1) - w, b))


def test_a_chain_keeps_what_its_steps_leave_for_each_other():
    chain = Chain(
        "a b", ("mul", "t", "a", "b"), ("add_number", "t", "t"), ("mul_number", "a", "a"), ("div", "a", "a", "t")
    )
    assert chain.writes == (0, 0)
    items = [3, 0, 5000, 20000]
    lists = [[operand(seed + n, n, "float32") for n in items] for seed in (0, 1)]
    before = [[one.copy() for one in one_list] for one_list in lists]
    assert run(chain, tuple(lists), (2.5, 0.5))
    with np.errstate(all="ignore"):
        for a, b, found in zip(*before, lists[0], strict=True):
            assert np.array_equal(found, a * np.float32(0.5) / (a * b + np.float32(2.5)), equal_nan=True)


def test_transposed_operands_are_taken_when_all_are():
    a, b = (np.asfortranarray(operand(s, 60, "float32").reshape(6, 10)) for s in (0, 1))
    chain = Chain("a b", ("mul", "a", "a", "b"))
    with np.errstate(all="ignore"):
        wanted = a * b
    assert not run(chain, ([a], [np.ascontiguousarray(b)]))
    assert run(chain, ([a], [b]))
    assert np.array_equal(a, wanted, equal_nan=True)


def test_what_the_loops_do_not_take_is_left_alone():
    chain = Chain("a b", ("mul", "a", "a", "b"))
    memory = operand(0, 64, "float32")
    kept = memory.copy()
    readonly = np.ones(8, np.float32)
    readonly.flags.writeable = False
    refused = [
        ([memory[:32]], [memory[16:48]]),  # overlapping
        ([memory[:8], memory[4:12]], [np.ones(8, np.float32)] * 2),  # two items write one memory
        ([memory[:8], memory[8:16]], [np.ones(8, np.float32), memory[4:12]]),  # one writes what the other reads
        ([memory[8:16], memory[:8]], [np.ones(8, np.float32), memory[12:20]]),
        ([memory[:16:2]], [np.ones(8, np.float32)]),
        ([memory[:8]], [np.ones(8)]),
        ([memory[:8]], [np.ones((2, 4), np.float32)]),
        ([np.ones(8, np.int32)], [np.ones(8, np.int32)]),
        ([readonly], [memory[:8]]),
    ]
    for lists in refused:
        assert not run(chain, lists)
    assert np.array_equal(memory, kept, equal_nan=True)


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="mul takes 2 operands, not 1"):
        Chain("a", ("mul", "a", "a"))
    with pytest.raises(ValueError, match="reads t, which nothing has written"):
        Chain("a", ("neg", "a", "t"))
    one = [np.ones(2, np.float32)]
    with pytest.raises(ValueError, match="not there"):
        native.module.chain(bytes((200, 0, 0, 0, 0, 0, 0, 0)), (one,), ())
    with pytest.raises(ValueError, match="of one length"):
        native.module.chain(bytes(8), (one, []), ())
    with pytest.raises(TypeError):
        native.module.chain(bytes(8), (one,), ("text",))


@pytest.mark.parametrize("amsgrad", [False, True])
def test_adam(amsgrad):
    count = 3000
    param, grad, mean, square, largest = (np.abs(np.random.default_rng(s).standard_normal(count)) for s in range(5))
    slots = "param grad mean square" + " largest" * amsgrad
    chain = Chain(slots, ("adam", "param", "grad", "mean", "square", "largest" if amsgrad else "param"))
    given = [one.astype(np.float32) for one in (param, grad, mean, square, largest)][: 4 + amsgrad]
    numbers = (-1.0, 0.1, 0.9, 0.2, 0.7, 0.3, 0.01, 0.5, 1e-3)
    assert run(chain, tuple([one] for one in given), numbers)
    g = -grad + 0.1 * param
    m, s = mean + 0.2 * (g - mean), 0.7 * square + 0.3 * g * g
    second = np.maximum(largest, s) if amsgrad else s
    p = 0.9 * param - 0.01 * m / (np.sqrt(second) / 0.5 + 1e-3)
    for found, wanted in zip(given, [p, grad, m, s, second], strict=False):
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("weight", [0.1, 0.7])
def test_adam_stepwise_rounds_as_its_steps(weight, amsgrad, dtype):
    second = "largest" if amsgrad else "square"
    largest = [("maximum", "largest", "largest", "square")] if amsgrad else []
    slots = "param grad mean square largest"
    single = Chain(slots, ("adam_stepwise", "param", "grad", "mean", "square", "largest" if amsgrad else "param"))
    steps = Chain(
        slots,
        ("lerp", "mean", "mean", "grad"),
        ("mul_number", "square", "square"),
        ("addcmul", "square", "square", "grad", "grad"),
        *largest,
        ("sqrt", "root", second),
        ("div_number", "root", "root"),
        ("add_number", "root", "root"),
        ("addcdiv", "param", "param", "mean", "root"),
    )
    numbers = (weight, 0.9, 0.1, 0.3, 1e-3, -0.01)
    for count in [*range(40), 1023, 3000]:
        given = [operand(seed, count, dtype) for seed in range(5)]
        wanted = [one.copy() for one in given]
        assert run(single, tuple([one] for one in given), numbers)
        assert run(steps, tuple([one] for one in wanted), numbers)
        for found, expected in zip(given, wanted, strict=True):
            assert np.array_equal(found, expected, equal_nan=True)


def test_adagrad():
    param, grad, total = (np.abs(np.random.default_rng(s).standard_normal(3000)) for s in range(3))
    chain = Chain("param grad total", ("adagrad", "param", "grad", "total"))
    assert chain.writes == (0, 2)
    given = [one.astype(np.float32) for one in (param, grad, total)]
    assert run(chain, tuple([one] for one in given), (-1.0, 0.1, 0.01, 1e-3))
    g = -grad + 0.1 * param
    t = total + g * g
    for found, wanted in zip(given, [param - 0.01 * g / (np.sqrt(t) + 1e-3), grad, t], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)
