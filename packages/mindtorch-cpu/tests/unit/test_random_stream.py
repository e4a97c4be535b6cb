"""Every random fill against torch: same bits in every element, same state afterwards, over one mixed sequence."""

import ml_dtypes
import numpy as np
import pytest

from mindtorch_cpu import random
from mindtorch_cpu.generator import Generator

torch = pytest.importorskip("torch", reason="oracle")

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 257, 1000, 16384, 40003)


def layouts(dtype):
    """Yield zero tensors of many sizes and memory layouts."""
    for size in SIZES:
        yield torch.zeros(size, dtype=dtype)
    yield torch.zeros((), dtype=dtype)
    yield torch.zeros(7, 9, dtype=dtype).t()
    yield torch.zeros(7, 18, dtype=dtype)[:, ::2]
    yield torch.zeros(2, 5, 4, 4, dtype=dtype).to(memory_format=torch.channels_last)
    yield torch.zeros(6, 8, 5, dtype=dtype).permute(2, 0, 1)[1:, ::2]


def bits(tensor):
    dense = tensor.contiguous()
    return (dense.view(torch.int16) if dense.dtype is torch.bfloat16 else dense).numpy().tobytes()


def numpy_dtype(dtype):
    return np.dtype(ml_dtypes.bfloat16) if dtype is torch.bfloat16 else torch.empty(0, dtype=dtype).numpy().dtype


def twin(tensor):
    """Return a numpy array of the same geometry."""
    size = tensor.element_size()
    flat = np.zeros(max(1, tensor.untyped_storage().nbytes() // size), numpy_dtype(tensor.dtype))
    strides = [step * size for step in tensor.stride()]
    return np.lib.stride_tricks.as_strided(flat[tensor.storage_offset() :], tensor.shape, strides)


FILLS = {
    "uniform": (FLOATS, lambda t, g: t.uniform_(generator=g), lambda a, g: random.uniform(g, a, 0.0, 1.0)),
    "uniform of a layer": (
        FLOATS,
        lambda t, g: t.uniform_(-0.0361, 0.0361, generator=g),
        lambda a, g: random.uniform(g, a, -0.0361, 0.0361),
    ),
    "uniform reaching its end": (
        FLOATS,
        lambda t, g: t.uniform_(3, 3.01, generator=g),
        lambda a, g: random.uniform(g, a, 3.0, 3.01),
    ),
    "normal": (FLOATS, lambda t, g: t.normal_(generator=g), lambda a, g: random.normal(g, a, 0.0, 1.0)),
    "normal shifted": (
        FLOATS,
        lambda t, g: t.normal_(0.5, 0.02, generator=g),
        lambda a, g: random.normal(g, a, 0.5, 0.02),
    ),
    "integers": (
        FLOATS + INTEGERS,
        lambda t, g: t.random_(3, 100, generator=g),
        lambda a, g: random.random_below(g, a, 3, 97),
    ),
    "wide integers": (
        (torch.int64, torch.float64),
        lambda t, g: t.random_(-5, 2**40, generator=g),
        lambda a, g: random.random_below(g, a, -5, 2**40 + 5),
    ),
    "natural": (
        (*FLOATS, *INTEGERS, torch.bool),
        lambda t, g: t.random_(generator=g),
        lambda a, g: random.random_natural(g, a),
    ),
    "signed": (
        (torch.int64, torch.float32, torch.float64, torch.bfloat16),
        lambda t, g: t.random_(-(2**63), None, generator=g),
        lambda a, g: random.random_signed(g, a),
    ),
    "bernoulli": (
        (*FLOATS, *INTEGERS, torch.bool),
        lambda t, g: t.bernoulli_(0.3, generator=g),
        lambda a, g: random.bernoulli(g, a, 0.3),
    ),
    "always": (FLOATS, lambda t, g: t.bernoulli_(1.0, generator=g), lambda a, g: random.bernoulli(g, a, 1.0)),
    "exponential": (FLOATS, lambda t, g: t.exponential_(1.7, generator=g), lambda a, g: random.exponential(g, a, 1.7)),
    "geometric": (
        FLOATS + INTEGERS,
        lambda t, g: t.geometric_(0.3, generator=g),
        lambda a, g: random.geometric(g, a, 0.3),
    ),
    "cauchy": (FLOATS, lambda t, g: t.cauchy_(0.3, 1.7, generator=g), lambda a, g: random.cauchy(g, a, 0.3, 1.7)),
    "log normal": (
        FLOATS,
        lambda t, g: t.log_normal_(0.3, 1.7, generator=g),
        lambda a, g: random.log_normal(g, a, 0.3, 1.7),
    ),
}


@pytest.fixture(params=[0, 12345, 2**63 + 5])
def pair(request):
    """A torch generator and ours, seeded alike, with a spare normal waiting in both."""
    theirs, ours = torch.Generator(), Generator()
    theirs.manual_seed(request.param)
    ours.manual_seed(request.param)
    torch.empty(1).normal_(generator=theirs)
    random.normal(ours, np.empty(1, np.float32), 0.0, 1.0)
    return theirs, ours


def assert_same_state(theirs, ours):
    assert theirs.get_state().numpy().tobytes() == ours.state_bytes().tobytes()


@pytest.mark.parametrize("name", FILLS)
def test_fill(name, pair):
    theirs, ours = pair
    dtypes, torch_fill, our_fill = FILLS[name]
    for dtype in dtypes:
        for tensor in layouts(dtype):
            array = twin(tensor)
            torch_fill(tensor, theirs)
            our_fill(array, ours)
            assert bits(tensor) == np.ascontiguousarray(array).tobytes(), (dtype, tensor.shape, tensor.stride())
            assert_same_state(theirs, ours)


def test_permutations(pair):
    theirs, ours = pair
    for size in (0, 1, 2, 10, 1000, 5000):
        out = np.empty(size, np.int64)
        random.permutation(ours, out)
        assert out.tolist() == torch.randperm(size, generator=theirs).tolist()
    assert_same_state(theirs, ours)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_of_tensors(dtype, pair):
    theirs, ours = pair
    chances = torch.linspace(0, 1, 300, dtype=torch.float64).to(dtype).reshape(20, 15)
    for given in (chances, chances.t().contiguous().t(), chances[:1]):
        array = np.frombuffer(bits(given), numpy_dtype(dtype)).reshape(given.shape)
        for tensor in (torch.zeros(20, 15), torch.zeros(15, 20).t()):
            out = twin(tensor)
            tensor.bernoulli_(given, generator=theirs)
            random.bernoulli_each(ours, out, array)
            assert bits(tensor) == np.ascontiguousarray(out).tobytes()
    assert_same_state(theirs, ours)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("samples", "replacement"), [(1, False), (5, False), (300, False), (1, True), (40, True)])
def test_multinomial(dtype, samples, replacement, pair):
    theirs, ours = pair
    weights = torch.rand(50, 300, generator=theirs).to(dtype)
    random.uniform(ours, np.empty(15000, np.float32), 0.0, 1.0)
    out = np.empty((50, samples), np.int64)
    random.multinomial(ours, out, weights.numpy(), replacement)
    assert out.tolist() == torch.multinomial(weights, samples, replacement, generator=theirs).tolist()
    assert_same_state(theirs, ours)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_counts_and_gamma(dtype, pair):
    theirs, ours = pair
    base = torch.linspace(0, 1, 2000, dtype=torch.float64)
    rates, trials, chances = (base * 40).to(dtype), (base * 200).round().to(dtype), (1 - base).sqrt().to(dtype)
    out = np.empty(2000, numpy_dtype(dtype))
    random.poisson(ours, out, rates.numpy())
    assert out.tobytes() == bits(torch.poisson(rates, generator=theirs))
    random.binomial(ours, out, trials.numpy(), chances.numpy())
    assert out.tobytes() == bits(torch.binomial(trials, chances, generator=theirs))
    random.standard_gamma(ours, out, (rates / 10).numpy())
    assert out.tobytes() == bits(torch._standard_gamma(rates / 10, generator=theirs))
    assert_same_state(theirs, ours)


@pytest.mark.parametrize("drawn", [0, 1, 3, 623, 624, 625, 1248])
def test_states_go_both_ways(drawn, pair):
    theirs, ours = pair
    theirs.manual_seed(9)
    torch.empty(drawn).uniform_(generator=theirs)
    torch.empty(3, dtype=torch.float64).normal_(generator=theirs)
    ours.set_state_bytes(theirs.get_state().numpy())
    assert_same_state(theirs, ours)
    ours.engine.words(700)
    theirs.set_state(torch.from_numpy(ours.state_bytes()))
    assert_same_state(theirs, ours)
    expected = torch.empty(1000, dtype=torch.int64).random_(0, 2**27, generator=theirs)
    assert (ours.engine.words(1000) % 2**27).tolist() == expected.tolist()
