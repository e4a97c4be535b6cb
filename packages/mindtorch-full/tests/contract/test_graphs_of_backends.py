"""Backends of `torch.compile` that are functions: the graphs they are given and how often, beside torch's."""

import pytest

import mindtorch
import mindtorch._dynamo
import mindtorch._dynamo.backends.common as our_common
import mindtorch._dynamo.testing as our_testing
import mindtorch._functorch.aot_autograd as our_aot

torch = pytest.importorskip("torch", reason="oracle")
their_testing = pytest.importorskip("torch._dynamo.testing", reason="oracle")


@pytest.fixture(autouse=True)
def anew():
    torch._dynamo.reset()
    mindtorch._dynamo.reset()


def kept(seen):
    def backend(graph, inputs):
        seen.append((graph, [tuple(one.shape) for one in inputs]))
        return graph.forward

    return backend


def arithmetic(t, x):
    a = t.sin(x) + x * 3
    b = a.relu().view(-1)
    return b.sum(), {"k": t.nn.functional.gelu(a)}


def branch(t, x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def number(t, x):
    total = x.sum().item()
    return x * total


def without_gradients(t, x):
    with t.no_grad():
        y = x * 2
    return y + t.ones(3), x.shape[0], None, 3.5


def casts(t, x):
    with t.autocast("cpu", dtype=t.bfloat16):
        y = x.t() @ x
    return y.float()


def nothing(t, x):
    return x


def written(t, x):
    x[0] = 3
    x.add_(1)
    return x, x[1:]


def reflected(t, x):
    return (1 - x) / 2, -x, x < 1, 0 < x, x**2


PROGRAMS = [arithmetic, branch, number, without_gradients, casts, nothing, written, reflected]


def lines(graph):
    return [line.strip() for line in graph.code.replace("mindtorch", "torch").strip().splitlines()]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_backend_is_given_torchs_graphs(program):
    def run(t):
        seen = []
        result = t.compile(lambda x: program(t, x), backend=kept(seen))(t.arange(6.0).view(2, 3))
        return [(lines(graph), shapes) for graph, shapes in seen], repr(result)

    assert run(mindtorch) == run(torch)


def test_inputs_are_named_as_by_torch():
    def run(t):
        class Net(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = t.nn.Linear(3, 3)
                self.register_buffer("b", t.ones(3))
                self.rest = t.nn.ModuleList([t.nn.Linear(3, 3)])

            def forward(self, x, d):
                return self.rest[0](self.fc(x)) * self.b + d["a"] + d["b"][0]

        seen = []
        given = {"a": t.ones(3), "b": [t.ones(3)]}
        t.compile(Net(), backend=kept(seen))(t.ones(2, 3), given)
        return [node.target for node in seen[0][0].graph.nodes if node.op == "placeholder"]

    assert run(mindtorch) == run(torch)


def counts(t, testing):
    def function(x, n=2):
        return (x * n).view(x.shape[0] * 3)

    found = []
    for dynamic in (None, False, True):
        t._dynamo.reset()
        counter = testing.CompileCounter()
        compiled = t.compile(function, backend=counter, dynamic=dynamic)
        for size, number, dtype in [(2, 2, 0), (2, 2, 0), (4, 2, 0), (5, 2, 0), (5, 5, 0), (5, 7, 0), (5, 7, 1)]:
            compiled(t.ones(size, 3, dtype=(t.float32, t.float64)[dtype]), number)
            found.append(counter.frame_count)
        with t.no_grad():
            compiled(t.ones(5, 3), 7)
        found.append(counter.frame_count)
    return found


def test_graphs_are_compiled_again_when_torch_does():
    ours, theirs = counts(mindtorch, our_testing), counts(torch, their_testing)
    assert ours[:16] == theirs[:16]


def test_reset_forgets():
    counter = our_testing.CompileCounter()
    compiled = mindtorch.compile(lambda x: x + 1, backend=counter)
    compiled(mindtorch.ones(2))
    compiled(mindtorch.ones(2))
    assert (counter.frame_count, counter.op_count) == (1, 1)
    mindtorch._dynamo.reset()
    compiled(mindtorch.ones(2))
    assert counter.frame_count == 2


def test_what_a_backend_returns_is_what_runs():
    def doubled(graph, inputs):
        return lambda *args: tuple(2 * one for one in graph(*args))

    assert mindtorch.compile(lambda x: x + 1, backend=doubled)(mindtorch.ones(2)).tolist() == [4.0, 4.0]


@pytest.mark.parametrize("t", [mindtorch, torch], ids=["mindtorch", "torch"])
def test_the_program_runs_once_in_each_call(t):
    class Counted(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0
            self.register_buffer("mean", t.zeros(3))

        def forward(self, x):
            self.calls += 1
            self.kept = x * 2
            self.mean.mul_(0.5).add_(x.mean(0))
            return self.kept + 1

    module = Counted()
    compiled = t.compile(module, backend=kept([]))
    for value in (1, 2, 3):
        out = compiled(t.full((2, 3), float(value)))
    assert module.calls == 3
    assert module.kept.tolist() == [[6.0] * 3] * 2
    assert module.mean.tolist() == [4.25] * 3
    assert out.tolist() == [[7.0] * 3] * 2


def gradient(t):
    class Scaled(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 10

    x = t.ones(3, requires_grad=True)
    seen = []
    t.compile(lambda x: (Scaled.apply(x).sin() * 1).sum() + 1, backend=kept(seen))(x).backward()
    return x.grad.tolist(), len(seen)


def test_functions_with_backwards_of_their_own():
    ours, theirs = gradient(mindtorch), gradient(torch)
    mindtorch.testing.assert_close(ours[0], theirs[0])
    assert ours[1] == theirs[1]


def step(t):
    t.manual_seed(0)
    layer = t.nn.Linear(3, 1)
    optimizer = t.optim.SGD(layer.parameters(), 0.1, momentum=0.9)

    def run(x, y):
        optimizer.zero_grad()
        loss = ((layer(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    compiled = t.compile(run, backend=kept([]))
    losses = [compiled(t.ones(2, 3), t.zeros(2, 1)).item() for _ in range(3)]
    return losses, layer.weight.tolist()


def test_a_step_of_training_is_what_it_is_uncompiled():
    ours, theirs = step(mindtorch), step(torch)
    mindtorch.testing.assert_close(ours, theirs)


def transformed(t):
    def run(x):
        a = x + 1
        return t.func.grad(lambda q: (q * a).sum())(x), t.vmap(lambda row: (row * a[0]).sum())(x)

    first, second = t.compile(run, backend=kept([]))(t.ones(2, 3))
    return first.tolist(), second.tolist()


def test_transforms_inside():
    assert transformed(mindtorch) == transformed(torch)


def test_whole_graphs_raise_where_torchs_do():
    def refused(t):
        with pytest.raises(t._dynamo.exc.Unsupported) as caught:
            t.compile(lambda x: branch(t, x), backend=kept([]), fullgraph=True)(t.ones(3))
        text = str(caught.value)
        return text[: text.index("      The branch")], text[text.index("  Hint") : text.index("from user code")]

    assert refused(mindtorch) == refused(torch)
    x = mindtorch.ones(1)
    with pytest.raises(mindtorch._dynamo.exc.Unsupported, match="User-inserted graph break"):
        mindtorch.compile(lambda x: mindtorch._dynamo.graph_break() or x, backend=kept([]), fullgraph=True)(
            x := mindtorch.ones(1)
        )
    assert x.item() == 1


def test_a_backend_that_fails():
    def refused(t):
        def failing(graph, inputs):
            raise ValueError("no")

        with pytest.raises(RuntimeError) as caught:
            t.compile(lambda x: x + 1, backend=failing)(t.ones(3))
        return type(caught.value).__name__, str(caught.value), type(caught.value.inner_exception)

    assert refused(mindtorch) == refused(torch)


def explained(t):
    def run(x):
        x = x + 1
        t._dynamo.graph_break()
        return x * 2

    found = t._dynamo.explain(run)(t.ones(3))
    assert len(found.graphs) == 2
    reason = found.break_reasons[0]
    return found.graph_count, found.graph_break_count, found.op_count, reason.reason, reason.user_stack[0].name


def test_explain():
    assert explained(mindtorch) == explained(torch)


def test_functions_that_are_not_compiled_run_apart():
    def run(t):
        counter = kept(seen := [])
        inner = t.compiler.disable(lambda x: x.sum() * 3)
        result = t.compile(lambda x: inner(x * 2) + 1, backend=counter)(t.ones(3))
        return result.item(), len(seen)

    assert run(mindtorch) == run(torch)


def test_backends_have_names(monkeypatch):
    def given(graph, inputs, **options):
        given.options = options
        return graph.forward

    monkeypatch.setattr(mindtorch.compiler._eager, "_registered", {})
    mindtorch._dynamo.register_backend(given, name="given_for_a_test")
    assert "given_for_a_test" in mindtorch._dynamo.list_backends()
    mindtorch.compile(lambda x: x + 1, backend="given_for_a_test", options={"a": 1})(mindtorch.ones(1))
    assert given.options == {"options": {"a": 1}}


def ahead(t, common):
    graphs = []

    def compiler(graph, inputs):
        graphs.append([line.strip() for line in graph.code.strip().splitlines() if line.strip()])
        return graph.forward

    x, w = t.ones(2, 3, requires_grad=True), t.full((3, 3), 0.5, requires_grad=True)
    compiled = t.compile(
        lambda x, w: ((x @ w).sin() * 2).sum(), backend=common.aot_autograd(fw_compiler=boxed(t, compiler))
    )
    compiled(x, w).backward()
    return graphs, x.grad.tolist(), w.grad.tolist()


def boxed(t, compiler):
    def of(graph, inputs):
        function = compiler(graph, inputs)

        def run(args):
            return function(*args)

        run._boxed_call = True
        return run

    return of


def test_graphs_of_forward_and_backward():
    from torch._dynamo.backends import common

    ours, theirs = ahead(mindtorch, our_common), ahead(torch, common)
    assert ours[1:] == theirs[1:]
    assert [len(one) for one in ours[0]] == [len(one) for one in theirs[0]]


def test_aot_function():
    graphs = []

    def compiler(graph, inputs):
        graphs.append(graph)
        return graph.forward

    layer = mindtorch.nn.Linear(2, 2)
    compiled = our_aot.aot_module(layer, compiler)
    compiled(mindtorch.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert len(graphs) == 2


def doubled(t):
    """Return an operator of a library whose kernel reads bytes, with a rule for its results and a gradient."""

    @t.library.custom_op(f"graphs_{t.__name__}::doubled", mutates_args=())
    def operator(x: t.Tensor, times: float) -> t.Tensor:
        return t.from_numpy(x.detach().numpy() * times)

    operator.register_fake(lambda x, times: t.empty_like(x))
    operator.register_autograd(
        lambda ctx, grad: (grad * ctx.times, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "times", inputs[1]),
    )
    return operator


@pytest.mark.parametrize("packet", [False, True])
def test_an_operator_of_a_library_is_one_call(packet):
    def graphs(t):
        operator, seen = doubled(t), []
        called = getattr(t.ops, f"graphs_{t.__name__}").doubled if packet else operator
        x = t.ones(2, requires_grad=True)
        out = t.compile(lambda x: called(x + 1, 3.0).sum(), backend=kept(seen), fullgraph=True)(x)
        out.backward()
        return [graph.code.replace(f"graphs_{t.__name__}", "graphs") for graph, _ in seen], out.item(), x.grad.tolist()

    assert graphs(mindtorch) == graphs(torch)


def test_an_operator_whose_sizes_need_values_runs_at_once():
    @mindtorch.library.custom_op("graphs_sizes::places", mutates_args=())
    def places(x: mindtorch.Tensor) -> mindtorch.Tensor:
        return mindtorch.from_numpy(x.numpy().nonzero()[0])

    @places.register_fake
    def _(x):
        return x.new_empty([mindtorch.library.get_ctx().new_dynamic_size()], dtype=mindtorch.int64)

    compiled = mindtorch.compile(lambda x: places(x * 2) + 1)
    assert compiled(mindtorch.tensor([0.0, 1.0, 2.0])).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("mark", "index"),
    [
        ("mark_dynamic", 0),
        ("mark_dynamic", [0, 1]),
        ("mark_dynamic", (1,)),
        ("maybe_mark_dynamic", 0),
        ("maybe_mark_dynamic", [0, 1]),
    ],
)
def test_a_marked_dimension_needs_no_second_graph(mark, index):
    def counts(t):
        seen, made = [], []

        def backend(graph, inputs):
            seen.append(graph)
            return graph.forward

        compiled = t.compile(lambda x: x.sin(), backend=backend)
        x = t.ones(4, 3)
        getattr(t._dynamo, mark)(x, index)
        compiled(x)
        for shape in ((7, 3), (9, 3), (9, 5)):
            compiled(t.ones(shape))
            made.append(len(seen))
        return made

    assert counts(mindtorch) == counts(torch)
