"""Random functions and methods against torch: the same numbers, geometries, graph nodes and error texts."""

import pickle

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

INF, NAN = float("inf"), float("nan")


def described(value):
    """Return a result in a form that is equal exactly when the results are."""
    if isinstance(value, (tuple, list)):
        return [described(item) for item in value]
    if hasattr(value, "dtype") and hasattr(value, "stride"):
        node = value.grad_fn
        name = None if node is None else type(node).__name__
        data = repr(value.detach().tolist())
        return (str(value.dtype), tuple(value.shape), tuple(value.stride()), value.requires_grad, name, data)
    return repr(value)


def outcome(module, call):
    """Return what `call(module)` gives after seeding: its result and the next number, or its error."""
    module.manual_seed(0)
    try:
        result = call(module)
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error).split("\nException raised")[0]
    return described(result), described(module.rand(2))


def zeros(t, *size, dtype="float32"):
    return t.zeros(*size, dtype=getattr(t, dtype))


CALLS = {
    "rand": lambda t: t.rand(2, 3),
    "rand size": lambda t: t.rand((2, 3), dtype=t.float64),
    "rand bfloat16": lambda t: t.rand(100, dtype=t.bfloat16),
    "rand complex": lambda t: t.rand(5, dtype=t.complex64),
    "rand int": lambda t: t.rand(3, dtype=t.int64),
    "rand negative": lambda t: t.rand(-1),
    "rand generator": lambda t: t.rand(4, generator=t.Generator().manual_seed(3)),
    "rand no generator": lambda t: t.rand(4, generator=None),
    "rand wrong generator": lambda t: t.rand(4, generator=3),
    "rand nothing": lambda t: t.rand(),
    "rand grad": lambda t: [t.rand(2, requires_grad=True), t.rand(2, requires_grad=True)],
    "rand_like": lambda t: t.rand_like(zeros(t, 3, 4).t()),
    "rand_like of leaf": lambda t: t.rand_like(t.zeros(3, requires_grad=True)),
    "randn_like": lambda t: t.randn_like(zeros(t, 20), dtype=t.float64),
    "randint_like": lambda t: [t.randint_like(zeros(t, 5), 7), t.randint_like(zeros(t, 5), 3, 7)],
    "randn": lambda t: [t.randn(3), t.randn(4, 5), t.randn(()), t.randn(17, dtype=t.float16)],
    "randn complex": lambda t: t.randn(20, dtype=t.complex128),
    "randn int": lambda t: t.randn(3, dtype=t.int64),
    "randint": lambda t: [t.randint(10, (3,)), t.randint(3, 10, (2, 2)), t.randint(high=3, size=(2,))],
    "randint wide": lambda t: t.randint(-(2**40), 2**40, (5,)),
    "randint float": lambda t: t.randint(3, (2,), dtype=t.float32),
    "randint empty range": lambda t: t.randint(5, 3, (2,)),
    "randint out of bounds": lambda t: t.randint(0, 300, (2,), dtype=t.uint8),
    "randint of float": lambda t: t.randint(2.5, (2,)),
    "randint size": lambda t: t.randint(3, 2),
    "randperm": lambda t: [t.randperm(10), t.randperm(0), t.randperm(1), t.randperm(9, dtype=t.int16)],
    "randperm generator": lambda t: t.randperm(10, generator=t.Generator()),
    "randperm negative": lambda t: t.randperm(-1),
    "randperm too long": lambda t: t.randperm(3000, dtype=t.float16),
    "randperm overflow": lambda t: t.randperm(300, dtype=t.uint8),
    "uniform_": lambda t: [zeros(t, 5).uniform_(-2, 3), zeros(t, 3).uniform_(to=0.5)],
    "uniform_ view": lambda t: zeros(t, 4, 6).t()[1:].uniform_(),
    "uniform_ order": lambda t: zeros(t, 3).uniform_(2, 1),
    "uniform_ bounds": lambda t: zeros(t, 3, dtype="float16").uniform_(0, 1e5),
    "uniform_ width": lambda t: zeros(t, 3).uniform_(-3e38, 3e38),
    "uniform_ int": lambda t: zeros(t, 3, dtype="int64").uniform_(),
    "normal_": lambda t: [zeros(t, 5).normal_(1, 2), zeros(t, 50).normal_(1, 2)],
    "normal_ complex": lambda t: zeros(t, 3, dtype="complex64").normal_(2.0, 3.0),
    "normal_ negative": lambda t: zeros(t, 3).normal_(0, -1),
    "exponential_": lambda t: zeros(t, 5).exponential_(2.5),
    "exponential_ zero": lambda t: zeros(t, 3).exponential_(0),
    "exponential_ int": lambda t: zeros(t, 3, dtype="int64").exponential_(),
    "geometric_": lambda t: zeros(t, 5).geometric_(0.2),
    "geometric_ one": lambda t: zeros(t, 3).geometric_(1),
    "cauchy_": lambda t: zeros(t, 5).cauchy_(1, 2),
    "cauchy_ zero": lambda t: zeros(t, 3).cauchy_(0, 0),
    "log_normal_": lambda t: zeros(t, 5).log_normal_(),
    "log_normal_ zero": lambda t: zeros(t, 3).log_normal_(0, 0),
    "random_": lambda t: [zeros(t, 5, dtype=name).random_() for name in ("int64", "uint8", "float32", "bool")],
    "random_ to": lambda t: zeros(t, 5).random_(7),
    "random_ from": lambda t: [zeros(t, 5).random_(3, 7), zeros(t, 3, dtype="int32").random_(5, None)],
    "random_ order": lambda t: zeros(t, 3).random_(5, 3),
    "random_ bounds": lambda t: zeros(t, 3, dtype="int8").random_(-129, 3),
    "random_ kinds": lambda t: zeros(t, 3).random_(2.5),
    "bernoulli_": lambda t: [zeros(t, 5).bernoulli_(), zeros(t, 5, dtype="bool").bernoulli_(0.2)],
    "bernoulli_ tensor": lambda t: zeros(t, 2, 3).bernoulli_(t.tensor([0.1, 0.5, 0.9])),
    "bernoulli_ two": lambda t: zeros(t, 3).bernoulli_(2),
    "bernoulli_ too much": lambda t: zeros(t, 3).bernoulli_(t.tensor([0.1, 2, 0.3])),
    "bernoulli_ shape": lambda t: zeros(t, 3).bernoulli_(t.ones(2)),
    "bernoulli": lambda t: t.bernoulli(t.full((4, 3), 0.5).t()),
    "bernoulli p": lambda t: [t.bernoulli(zeros(t, 3), 0.5), t.bernoulli(zeros(t, 3, dtype="int64"), 0.5)],
    "bernoulli int": lambda t: t.bernoulli(t.tensor([1, 0, 1])),
    "multinomial": lambda t: [t.multinomial(t.tensor([1.0, 5, 2]), n, n == 9) for n in (1, 2, 3, 9)],
    "multinomial rows": lambda t: t.multinomial(t.tensor([[1.0, 0, 0], [0, 1, 0]]), 1),
    "multinomial negative": lambda t: t.multinomial(t.tensor([1.0, -1, 2]), 1),
    "multinomial zero": lambda t: t.multinomial(t.zeros(3), 1),
    "multinomial replaced": lambda t: t.multinomial(t.tensor([1.0, -1, 2]), 2, True),
    "multinomial infinite": lambda t: t.multinomial(t.tensor([1.0, INF, 2]), 2, True),
    "multinomial many": lambda t: t.multinomial(t.ones(3), 4),
    "multinomial none": lambda t: t.multinomial(t.ones(3), 0),
    "multinomial int": lambda t: t.multinomial(zeros(t, 3, dtype="int64"), 1),
    "multinomial rank": lambda t: t.multinomial(t.ones(3, 3, 3), 1),
    "poisson": lambda t: t.poisson(t.tensor([0.0, 2.0, 30.0])),
    "poisson negative": lambda t: t.poisson(t.tensor([-1.0])),
    "binomial": lambda t: t.binomial(t.tensor([10.0, 100.0]), t.tensor([0.5, 0.9])),
    "binomial nan": lambda t: t.binomial(t.ones(2), t.tensor([NAN, NAN])),
    "normal size": lambda t: [t.normal(0.0, 1.0, (3,)), t.normal(2, 3, (20,), dtype=t.float16)],
    "normal mean": lambda t: t.normal(t.tensor([1.0, 2.0]), 0.5),
    "normal bad std": lambda t: t.normal(0.0, -1.0, (3,)),
    "normal of nothing": lambda t: t.normal(0.0, 1.0),
    "dropout zero": lambda t: t.dropout(t.ones(3), 0, True),
    "dropout off": lambda t: t.dropout(t.ones(3), 0.5, False),
    "dropout two": lambda t: t.dropout(t.ones(3), 2.0, True),
    "native_dropout off": lambda t: t.native_dropout(t.ones(3), 0.5, False),
    "native_dropout": lambda t: t.native_dropout(t.ones(20), 0.25, True),
    "native_dropout grad": lambda t: t.native_dropout(t.ones(20, requires_grad=True), 0.25, True),
    "seed overflow": lambda t: t.manual_seed(2**64),
    "seed text": lambda t: t.manual_seed("x"),
    "seed float": lambda t: t.manual_seed(3.7).initial_seed(),
    "seed negative": lambda t: t.manual_seed(-1).initial_seed(),
    "leaf": lambda t: t.zeros(3, requires_grad=True).uniform_(),
    "bad state": lambda t: t.set_rng_state(3),
    "short state": lambda t: t.set_rng_state(zeros(t, 5, dtype="uint8")),
    "float state": lambda t: t.set_rng_state(t.zeros(5056)),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    call = CALLS[name]
    assert outcome(mt, call) == outcome(torch, call)


@pytest.mark.parametrize(
    "fill",
    ["uniform_", "normal_", "exponential_", "cauchy_", "log_normal_", "random_", "bernoulli_"],
)
def test_fills_cut_the_graph(fill):
    for module in (torch, mt):
        leaf = module.ones(3, requires_grad=True)
        filled = getattr(leaf * 1, fill)()
        filled.sum().backward()
        assert leaf.grad.tolist() == [0, 0, 0]
    ours = type(getattr(mt.ones(3, requires_grad=True) * 1, fill)().grad_fn).__name__
    theirs = type(getattr(torch.ones(3, requires_grad=True) * 1, fill)().grad_fn).__name__
    assert ours == theirs


def test_dropout_stream_and_graph():
    call = {
        "dropout": lambda t: t.dropout(t.ones(5, 6, requires_grad=True), 0.3, True),
        "feature": lambda t: t.feature_dropout(t.ones(5, 6, 2, requires_grad=True), 0.3, True),
        "alpha": lambda t: t.alpha_dropout(t.ones(5, 6, requires_grad=True), 0.3, True),
        "feature alpha": lambda t: t.feature_alpha_dropout(t.ones(5, 6, 2, requires_grad=True), 0.3, True),
        "in place": lambda t: t.dropout_(t.ones(5, 6), 0.3, True),
        "all": lambda t: t.dropout(t.ones(3), 1.0, True),
    }
    for one in call.values():
        assert outcome(mt, one) == outcome(torch, one)


def test_normals_with_tensor_deviations():
    calls = (
        lambda t: t.normal(0.0, t.tensor([1.0, 2.0])),
        lambda t: t.normal(t.ones(3, 1), t.ones(4)),
        lambda t: t.normal(t.ones(3), t.ones(3, dtype=t.float64)),
        lambda t: t.normal(t.ones(3), -t.ones(3)),
        lambda t: t.normal(t.ones(3), t.ones(2)),
        lambda t: t.normal(1.0, t.ones(2, dtype=t.complex64)),
    )
    for call in calls:
        assert outcome(mt, call) == outcome(torch, call)


def test_states_go_both_ways():
    mt.manual_seed(11)
    mt.randn(3)
    torch.set_rng_state(torch.from_numpy(mt.get_rng_state().numpy()))
    assert torch.randn(20).tolist() == mt.randn(20).tolist()
    mt.set_rng_state(mt.tensor(torch.get_rng_state().tolist(), dtype=mt.uint8))
    assert torch.rand(5).tolist() == mt.rand(5).tolist()


def test_fork_rng_puts_the_state_back():
    mt.manual_seed(1)
    first = mt.rand(3).tolist()
    mt.manual_seed(1)
    with mt.random.fork_rng(devices=[]):
        mt.rand(100)
    assert mt.rand(3).tolist() == first


def test_seeding_reaches_registered_accelerators():
    seen = []
    mt.manual_seed(4)
    mt.random.on_manual_seed(seen.append)
    try:
        mt.manual_seed(5)
        assert seen == [4, 5]
        assert mt.seed() == seen[-1] == mt.initial_seed()
    finally:
        mt.random._Accelerators.seeders.remove(seen.append)


def test_generators_pickle_and_copy():
    generator = mt.Generator().manual_seed(4)
    mt.rand(7, generator=generator)
    for twin in (pickle.loads(pickle.dumps(generator)), generator.clone_state()):
        assert mt.rand(3, generator=twin).tolist() == mt.rand(3, generator=generator.clone_state()).tolist()


def test_names():
    assert set(mt.random.__all__) == set(torch.random.__all__)
    assert mt.manual_seed.__module__ == "torch.random"
    assert mt.default_generator is mt.random.default_generator
    assert mt.manual_seed(0) is mt.default_generator
