"""Graphs record the objects of `torch.ops` that were called: overloads, and operators of libraries."""

import pytest

import mindtorch as mt
import mindtorch.fx

torch = pytest.importorskip("torch", reason="oracle")

EXPRESSIONS = [
    "lambda x: T.ops.aten.relu.default(x)",
    "lambda x: T.ops.aten.cat.default([x, x])",
    "lambda x: T.ops.aten.add.Tensor(x, 1, alpha=2)",
    "lambda x: T.ops.aten.add.Tensor(other=x, self=x)",
    "lambda x: T.ops.aten.type_as.default(x, x)",
    "lambda x: T.ops.traced.f(x, n=3)",
    "lambda x: T.ops.traced.f(x, x)",
    "lambda x: T.ops.traced.f.two(x, x)",
    "lambda x: T.ops.traced.f(y=x, x=x)",
]


@pytest.fixture
def libraries():
    made = []
    for T in (mt, torch):
        library = T.library.Library("traced", "DEF")
        library.define("f(Tensor x, int n=2) -> Tensor")
        library.define("f.two(Tensor x, Tensor y) -> Tensor")
        library.impl("f", lambda x, n=2: x * n, "CompositeExplicitAutograd")
        library.impl("f.two", lambda x, y: x * y, "CompositeExplicitAutograd")
        made.append(library)
    yield
    for library in made:
        library._destroy()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_target_is_the_object(expression, libraries):
    def run(T):
        graph = T.fx.symbolic_trace(eval(expression, {"T": T}))
        return graph.code, graph(T.tensor([-1.0, 2.0])).tolist()

    assert run(mt) == run(torch)


class Stranger:
    """No tensor, and answers every function with what it was asked."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return str(func), len(args), sorted(kwargs or {})


@pytest.mark.parametrize(
    "call",
    [
        "T.ops.aten.relu.default(x)",
        "T.ops.aten.cat.default([x, x])",
        "T.ops.aten.add.Tensor(x, other=x)",
        "T.ops.traced.f(x)",
    ],
)
def test_what_is_no_tensor_takes_the_call(call, libraries):
    ours, theirs = (eval(call, {"T": T, "x": Stranger()}) for T in (mt, torch))
    assert ours == theirs


def test_a_stretch_is_opened_and_closed_by_operators():
    def run(T):
        def program(x):
            handle = T.ops.profiler._record_function_enter("stretch")
            made = x.relu()
            T.ops.profiler._record_function_exit(handle)
            return made

        with T.profiler.profile() as recorded:
            program(T.ones(2))
        events = [event for event in recorded.events() if event.name in ("stretch", "aten::relu")]
        return [(event.name, event.cpu_parent.name if event.cpu_parent else None) for event in events]

    assert run(mt) == run(torch) == [("stretch", None), ("aten::relu", "stretch")]


def test_without_a_profiler_the_operators_do_nothing():
    for T in (mt, torch):
        assert T.ops.profiler._record_function_exit(T.ops.profiler._record_function_enter("stretch")) is None
