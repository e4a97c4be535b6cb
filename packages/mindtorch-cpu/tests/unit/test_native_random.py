"""Native random fills: the numbers and the state that numpy's kernels leave, and a state that both share."""

import threading

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_cpu.generator import Generator, default_generator
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
COUNTS = [*range(35), 100, 623, 624, 625, 1023, 1025, 5001]
GENERATORLESS = {"rand": (None,), "randn": (None,), "randint": ((3, 10), None), "randperm": (None,)}


def outcome(function, dtype, count, *values, make=np.empty, generator_at=-1):
    """Two fills by `function` after an odd number of words, the generator's state, and a spare normal on the way."""
    generator = Generator().manual_seed(11)
    generator.engine.words(3)
    given = [generator if position == generator_at % len(values) else value for position, value in enumerate(values)]
    outs = [make(count, dtype), make(count, dtype)]
    for out in outs:
        function(out, *given)
    return [out.tobytes() for out in outs] + [generator.state_bytes().tobytes()]


def agree(row, dtype, count, *values, **how):
    kernel = kernels["cpu"][row].fn
    assert isinstance(kernel, native.module.Kernel)
    assert outcome(kernel, dtype, count, *values, **how) == outcome(kernel.numpy, dtype, count, *values, **how)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("count", COUNTS)
def test_continuous(dtype, count):
    for low, high in [(0.0, 1.0), (-0.25, 0.5), (0, 3), (1000.0, 1000.001)]:
        agree("uniform_", dtype, count, None, low, high, None)
    for mean, std in [(0.0, 1.0), (0.3, 2.5)]:
        agree("normal_", dtype, count, None, mean, std, None)
        agree("normal.float_float", dtype, count, mean, std, None, None, generator_at=3)
    agree("exponential_", dtype, count, None, 1.5, None)
    agree("rand.generator", dtype, count, None, None)
    agree("randn.generator", dtype, count, None, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.bool_, np.uint8, np.int32, np.int64, np.int16])
@pytest.mark.parametrize("count", [0, 1, 17, 625, 1500])
def test_discrete(dtype, count):
    for chance in (0.0, 1e-9, 0.1, 0.5, 0.9, 1.0):
        agree("bernoulli_.float", dtype, count, None, chance, None)
    if dtype is not np.bool_:
        for base, span in [(0, 1), (3, 100), (-50, 60), (0, (1 << 28) - 1)]:
            agree("random_.to", dtype, count, None, (base, span), None)
            agree("randint.generator", dtype, count, (base, span), None, None)
            agree("randint.low_generator", dtype, count, (base, span), None, None, None)


@pytest.mark.parametrize(
    "span", [2, 3, 7, 1 << 20, (1 << 28) - 1, 1 << 28, (1 << 28) + 1, (1 << 40) + 11, (1 << 63) + 5]
)
def test_spans(span):
    agree("random_.to", np.int64, 3000, None, (-9, span), None)


@pytest.mark.parametrize("count", COUNTS)
def test_longs(count):
    agree("random_", np.int64, count, None, None)
    agree("randperm.generator", np.int64, count, None, None)


@pytest.mark.parametrize("count", [0, 5, 17, 1500])
def test_given_chances(count):
    chances = np.linspace(0, 1, count, dtype=np.float32)
    agree("bernoulli", np.float32, count, chances, None)
    agree("bernoulli_.Tensor", np.float32, count, None, chances, None)


def test_bad_chances_are_numpys_error():
    for bad in (-0.1, 1.5, np.nan):
        with pytest.raises(RuntimeError, match="Expected p_in"):
            kernels["cpu"]["bernoulli"].fn(np.empty(2, np.float32), np.array([0.5, bad], np.float32), None)


def test_multinomial():
    weights = np.random.default_rng(0).random((5, 700)).astype(np.float32)
    weights[:, ::3] = 0
    agree("multinomial", np.int64, (5, 1), weights, 1, False, None)
    agree("multinomial", np.int64, (5, 4), weights, 4, True, None)
    for bad in (-1.0, np.nan, np.inf):
        weights[1, 3] = bad
        with pytest.raises(RuntimeError, match="probability tensor contains"):
            kernels["cpu"]["multinomial"].fn(np.empty((5, 1), np.int64), weights, 1, False, Generator())


@pytest.mark.parametrize("row", ["uniform_", "normal_"])
def test_fills_follow_memory(row):
    layouts = [
        lambda shape, dtype: np.zeros(shape[::-1], dtype).T,
        lambda shape, dtype: np.zeros((4, 9, 5), dtype).transpose(2, 0, 1),
        lambda shape, dtype: np.zeros((9, 5, 8), dtype)[:, :, ::2].transpose(1, 2, 0),
        lambda shape, dtype: np.zeros((5, 4, 1), dtype).repeat(9, -1)[:, :, :0],
    ]
    for make in layouts:
        agree(row, np.float32, (5, 4, 9), None, 0.5, 2.0, None, make=make)


@pytest.mark.parametrize("row", GENERATORLESS)
def test_default_generator(row):
    values, made = GENERATORLESS[row], []
    state = default_generator.state_bytes()
    for function in (kernels["cpu"][row].fn, kernels["cpu"][row].fn.numpy):
        default_generator.set_state_bytes(state)
        out = np.empty(100, np.int64 if row.startswith("randi") or row == "randperm" else np.float32)
        function(out, *values)
        made.append((out.tobytes(), default_generator.state_bytes().tobytes()))
    assert made[0] == made[1]


def test_threads_share_one_stream():
    generator, size, rounds = Generator().manual_seed(5), 5000, 20
    kernel = kernels["cpu"]["uniform_"].fn
    whole = np.empty(4 * rounds * size, np.float32)
    kernel(whole, None, 0.0, 1.0, generator)
    generator.manual_seed(5)
    parts = np.empty((4, rounds, size), np.float32)

    def draw(mine):
        for part in mine:
            kernel(part, None, 0.0, 1.0, generator)

    threads = [threading.Thread(target=draw, args=(mine,)) for mine in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = {part.tobytes() for part in parts.reshape(-1, size)}
    assert drawn == {part.tobytes() for part in whole.reshape(-1, size)}
