"""Graphs on the simulated device: recorded once, replayed with new values in the same memory; refused as torch refuses."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import AclError, memory  # noqa: E402
from mindtorch_npu.acl import recording  # noqa: E402
from mindtorch_npu.backend import launches  # noqa: E402


@pytest.fixture(autouse=True)
def own_capture_stream(npu):
    torch.npu.graph.default_capture_stream = None
    yield
    recording.recorded.clear()
    torch.npu.graph.default_capture_stream = None


def record(call):
    made = torch.npu.NPUGraph()
    with torch.npu.graph(made):
        result = call()
    return made, result


def test_a_replay_computes_anew_from_what_is_in_memory():
    x = torch.ones(3, device="npu")
    made, y = record(lambda: (x * 2 + 1).exp().log())
    for value in (0.0, 1.0, 2.5):
        x.fill_(value)
        made.replay()
        assert torch.allclose(y.cpu(), torch.full((3,), 2 * value + 1))


def test_nothing_runs_while_it_is_recorded_and_a_replay_launches_nothing():
    x = torch.ones(3, device="npu")
    made, _ = record(lambda: x.add_(1))
    assert x.tolist() == [1.0] * 3
    before = sum(launches.values())
    for _ in range(4):
        made.replay()
    assert sum(launches.values()) == before
    assert x.tolist() == [5.0] * 3


def test_a_replay_has_its_place_in_the_stream():
    x, side = torch.zeros(2, device="npu"), torch.npu.Stream()
    made, y = record(lambda: x + 1)
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        x.fill_(6)
        made.replay()
        z = y * 2
    side.synchronize()
    assert z.tolist() == [14.0, 14.0]


def test_streams_that_wait_for_the_recorded_one_are_recorded_with_it():
    x, side = torch.ones(2, device="npu"), torch.npu.Stream()

    def compute():
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            y = x * 3
        torch.npu.current_stream().wait_stream(side)
        return y + 1

    made, y = record(compute)
    x.fill_(2)
    made.replay()
    assert y.tolist() == [7.0, 7.0]


def test_memory_of_a_graph_is_its_own_until_it_is_given_up():
    x = torch.ones(1 << 20, device="npu")
    made, y = record(lambda: (x + 1) * 2)
    address = y.data_ptr()
    del y
    gc.collect()
    memory.empty_cache()
    others = [torch.zeros(1 << 20, device="npu") for _ in range(3)]
    assert address not in [one.data_ptr() for one in others]
    made.replay()
    torch.npu.synchronize()
    assert all(one.sum().item() == 0 for one in others)
    reserved = memory.memory_reserved()
    made.reset()
    memory.empty_cache()
    assert memory.memory_reserved() < reserved


def test_graphs_share_a_pool():
    x = torch.ones(4, device="npu")
    first, y = record(lambda: x + 1)
    second = torch.npu.NPUGraph()
    with torch.npu.graph(second, pool=first.pool()):
        z = y * 2
    assert second.pool() == first.pool()
    x.fill_(3)
    first.replay()
    second.replay()
    assert z.tolist() == [8.0] * 4
    assert torch.npu.graph_pool_handle() != torch.npu.graph_pool_handle()


def test_capturing_is_told():
    seen = []
    record(lambda: seen.append(torch.npu.is_current_stream_capturing()))
    assert seen == [True]
    assert not torch.npu.is_current_stream_capturing()


@pytest.mark.parametrize(
    "call",
    [lambda x: torch.npu.synchronize(), lambda x: x + torch.ones(3).npu()],
)
def test_what_cannot_be_recorded_is_refused_and_ends_the_recording(call):
    x = torch.ones(3, device="npu")
    with (
        pytest.raises(AclError, match="507903"),
        torch.npu.graph(torch.npu.NPUGraph()),
        pytest.raises(AclError, match="107027"),
    ):
        call(x)
    assert (x + 1).tolist() == [2.0] * 3
    assert not torch.npu.is_current_stream_capturing()


@pytest.mark.parametrize("call", [lambda x: x.cpu(), lambda x: x.sum().item()])
def test_reading_a_recorded_stream_is_refused_and_the_recording_goes_on(call):
    x, y = torch.ones(3, device="npu"), torch.zeros(3, device="npu")
    made = torch.npu.NPUGraph()
    with torch.npu.graph(made):
        with pytest.raises(RuntimeError, match="107027"):
            call(x)
        y.add_(x)
    made.replay()
    assert y.tolist() == [1.0] * 3


DRAWS = {
    "uniform": lambda: torch.rand(65, device="npu"),
    "normal": lambda: torch.randn(65, device="npu"),
    "integers": lambda: torch.randint(0, 1000, (65,), device="npu"),
    "random_": lambda: torch.empty(65, device="npu").random_(),
    "several": lambda: torch.rand(3, device="npu").repeat(2) + torch.randn(6, device="npu"),
    "multinomial": lambda: torch.multinomial(torch.arange(1.0, 9, device="npu"), 65, replacement=True),
    "dropout": lambda: torch.nn.functional.dropout(torch.ones(65, 5, device="npu"), 0.3),
    "exponential": lambda: torch.empty(65, device="npu").exponential_(),
    "log_normal": lambda: torch.empty(65, device="npu").log_normal_(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_replays_draw_what_the_same_calls_draw_without_a_graph(name):
    draw = DRAWS[name]
    torch.npu.manual_seed(5)
    expected = [draw().cpu() for _ in range(3)]
    after = torch.rand(4, device="npu").cpu()
    made, result = record(draw)
    torch.npu.manual_seed(5)
    for one in expected:
        made.replay()
        assert torch.equal(result.cpu(), one)
    assert torch.equal(torch.rand(4, device="npu").cpu(), after)


def test_chances_are_drawn_anew_by_every_replay():
    x, p = torch.empty(4096, device="npu"), torch.full((4096,), 0.25, device="npu")
    made, found = record(
        lambda: (x.bernoulli_(0.25), torch.bernoulli(p), torch.empty(4096, device="npu").bernoulli_(p))
    )
    seen = []
    for _ in range(2):
        made.replay()
        seen.append([one.cpu() for one in found])
    for one, other in zip(*seen, strict=True):
        assert not torch.equal(one, other)
        assert set(one.tolist()) == {0.0, 1.0}
        assert abs(one.mean().item() - 0.25) < 0.05


def test_recording_leaves_the_stream_of_numbers_where_it_was():
    torch.npu.manual_seed(5)
    expected = torch.rand(8, device="npu").cpu()
    torch.npu.manual_seed(5)
    record(lambda: torch.rand(8, device="npu"))
    assert torch.equal(torch.rand(8, device="npu").cpu(), expected)


def test_generators_of_ones_own_and_side_streams_are_drawn_from_anew():
    own, side = torch.Generator("npu").manual_seed(3), torch.npu.Stream()
    expected = [torch.rand(4, device="npu", generator=own).cpu() for _ in range(2)]

    def compute():
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            assert torch.npu.is_current_stream_capturing()
            y = torch.rand(4, device="npu", generator=own)
        torch.npu.current_stream().wait_stream(side)
        return y

    made, result = record(compute)
    own.manual_seed(3)
    for one in expected:
        made.replay()
        assert torch.equal(result.cpu(), one)


def test_the_state_that_a_recording_tells_can_be_gone_back_to():
    torch.npu.manual_seed(5)
    expected = torch.rand(8, device="npu").cpu()

    def twice():
        state = torch.npu.get_rng_state()
        first = torch.rand(8, device="npu")
        torch.npu.set_rng_state(state)
        return first, torch.rand(8, device="npu")

    torch.npu.manual_seed(5)
    made, found = record(twice)
    made.replay()
    assert all(torch.equal(one.cpu(), expected) for one in found)


@pytest.mark.parametrize(
    "call",
    [
        lambda state: torch.npu.manual_seed(6),
        lambda state: torch.npu.set_rng_state(state),
        lambda state: torch.manual_seed(6),
    ],
)
def test_a_recording_keeps_its_seed(call):
    torch.npu.manual_seed(6)
    state = torch.npu.get_rng_state()
    torch.npu.manual_seed(5)
    with (
        pytest.raises(RuntimeError, match="only if new seed is the same as the original seed"),
        torch.npu.graph(torch.npu.NPUGraph()),
    ):
        call(state)
    assert torch.npu.initial_seed() == 5


def test_numbers_of_operators_that_read_no_seed_cannot_be_recorded():
    with pytest.raises(RuntimeError, match="every replay would repeat the same"):
        record(lambda: torch.randperm(8, device="npu"))


def test_only_an_npus_generator_is_registered():
    with pytest.raises(RuntimeError, match="Expected a 'npu' device type for generator but found 'cpu'"):
        torch.npu.NPUGraph().register_generator_state(torch.Generator())
    own = torch.Generator("npu").manual_seed(3)
    made = torch.npu.NPUGraph()
    made.register_generator_state(own)
    with torch.npu.graph(made):
        y = torch.rand(4, device="npu", generator=own)
    made.replay()
    assert torch.equal(y.cpu(), torch.rand(4, device="npu", generator=torch.Generator("npu").manual_seed(3)).cpu())


def test_a_module_with_dropout_is_graphed():
    torch.npu.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5)).npu()
    graphed = torch.npu.make_graphed_callables(model, (torch.ones(3, 4, device="npu"),))
    seen = []
    for _ in range(2):
        x = torch.ones(3, 4, device="npu")
        y = graphed(x)
        y.sum().backward()
        kept = (y != 0).float()
        assert torch.allclose(graphed[0].bias.grad, kept.sum(0) * 2)
        graphed[0].bias.grad = None
        seen.append(kept.cpu())
    assert not torch.equal(*seen)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda g: g.replay(), "Called NPUGraph::replay without a preceding successful capture."),
        (lambda g: g.pool(), r"Called NPUGraph::pool\(\) without a preceding successful capture."),
        (lambda g: g.capture_begin(), "NPU graphs must be captured on a non-default stream"),
        (lambda g: g.capture_end(), "Capture must end on the same stream it began on."),
        (lambda g: g.capture_begin(capture_error_mode="strict"), "Unknown capture error mode"),
        (lambda g: g.instantiate(), "only when keep_graph=true"),
    ],
)
def test_wrong_use_is_told_in_torchs_words(call, text):
    with pytest.raises(RuntimeError, match=text):
        call(torch.npu.NPUGraph())


def test_a_graph_is_recorded_once():
    x = torch.ones(2, device="npu")
    made, _ = record(lambda: x + 1)
    with pytest.raises(RuntimeError, match="already owns a captured graph"), torch.npu.graph(made):
        pass


def test_an_older_cann_without_the_functions_is_told(monkeypatch):
    monkeypatch.setattr("mindtorch_npu.simulator.function", lambda name: None)
    with pytest.raises(NotImplementedError, match="cannot record graphs"):
        torch.npu.NPUGraph()


def test_graphed_callables_train_as_the_module_does():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    other_model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    other_model.load_state_dict(model.state_dict())
    model.to("npu")
    graphed = torch.npu.make_graphed_callables(model, (torch.randn(3, 4).npu(),))
    assert graphed is model
    for step in range(3):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(step))
        for one, given in ((model, x.npu()), (other_model, x)):
            optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
            one(given).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    for one, other in zip(model.parameters(), other_model.parameters(), strict=True):
        assert torch.allclose(one.cpu(), other, atol=1e-5)


def test_graphed_functions_give_gradients_of_their_inputs():
    x, y = (torch.ones(3, device="npu").requires_grad_() for _ in range(2))
    first, second = torch.npu.make_graphed_callables((lambda a, b: a * b, lambda a: (a, a * 2)), ((x, y), (x,)))
    a, b = torch.tensor([1.0, 2.0, 3.0]).npu().requires_grad_(), torch.tensor([4.0, 5.0, 6.0]).npu().requires_grad_()
    first(a, b).sum().backward()
    assert a.grad.tolist() == [4.0, 5.0, 6.0]
    assert b.grad.tolist() == [1.0, 2.0, 3.0]
    assert [one.tolist() for one in second(a)] == [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]


def test_only_tensors_are_graphed_over():
    with pytest.raises(AssertionError, match="sample_args for each callable must contain only Tensors"):
        torch.npu.make_graphed_callables(lambda a: a, (3,))
