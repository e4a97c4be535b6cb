"""`torch.compile`, `torch.compiler`, `torch._dynamo`, `torch._logging`: the eager answers beside torch's."""

import pytest

import mindtorch._dynamo
import mindtorch._logging
import mindtorch.compiler
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.state import exclude_keys

from .module_parity import assert_same_call, assert_same_interface, outcome

torch = pytest.importorskip("torch", reason="oracle")

MODULES = {
    "compiler": (mindtorch.compiler, torch.compiler),
    "dynamo": (mindtorch._dynamo, torch._dynamo),
    "logging": (mindtorch._logging, torch._logging),
}

CALLS = {
    "compiler": """
        c.is_compiling(), c.is_dynamo_compiling(), c.is_exporting()
        c.disable(f)(3)
        c.disable(recursive=False)(f)(3)
        c.disable()(f)(3)
        c.disable(f, reason="because")(3)
        c.allow_in_graph(f) is f
        c.allow_in_graph([divmod])
        c.allow_in_graph(3)
        c.assume_constant_result(len)
        c.assume_constant_result(f)(3)
        c.set_stance("force_eager", force_backend="eager")
        c.set_stance("force_eager")(f)(3)
        entered(c.set_stance("force_eager"))
        entered(c.set_stance("eager_on_recompile", skip_guard_eval_unsafe=True))
        c.set_stance("default")
        c.list_backends()
        c.set_default_backend("eager"), c.get_default_backend(), c.set_default_backend(None), c.get_default_backend()
        c.set_default_backend(3)
        c.load_cache_artifacts(b"")
        c.nested_compile_region(f)(3)
        c.set_enable_guard_collectives(True), c.set_enable_guard_collectives(False)
        c.nothing
    """,
    "dynamo": """
        c.is_compiling()
        c.disable(f)(3)
        c.allow_in_graph(f) is f
        c.graph_break()
        c.mark_static_address(t), c.mark_dynamic(t.clone(), 0), c.maybe_mark_dynamic(t.clone(), 0)
        c.eval_frame.OptimizedModule
        c._trace_wrapped_higher_order_op.TransformGetItemToIndex
        c.list_backends()
        c.nothing
    """,
    "logging": """
        c.set_logs()
        c.set_logs(dynamo=10, recompiles=True)
        c.set_logs(all=30)
        c.set_logs(bogus=10)
        c.set_logs(dynamo="x")
        c.set_logs(graph=3)
        c.set_logs()
        c.nothing
    """,
}


class Holder:
    """Stands for a tensor where only an attribute is wanted."""


def run_both(module, call):
    import mindtorch._dynamo._trace_wrapped_higher_order_op as _  # noqa: F401 - bound on its parent, as torch's is

    assert_same_call(call, *MODULES[module], f=lambda x: x, t=torch.ones(1))


@pytest.mark.parametrize(
    ("module", "call"), [(module, call.strip()) for module, text in CALLS.items() for call in text.strip().splitlines()]
)
def test_call(module, call):
    run_both(module, call)


@pytest.mark.parametrize("name", sorted(set(mindtorch.compiler.__all__) - {"compile", "set_stance"}))
def test_interface(name):
    ours, theirs = MODULES["compiler"]
    mine, reference = getattr(ours, name), getattr(theirs, name)
    if mine.__module__ == "torch.compiler" and getattr(reference, "__module__", None) == "torch.compiler":
        assert_same_interface(name, ours, theirs)


COMPILE = [
    "c(f)(3)",
    "c(f, dynamic=True, backend='eager')(3)",
    "c(backend='eager')(f)(3)",
    "c(f, mode='default', options={})",
    "c(f, mode='zork')",
    "c(f, backend='bad')",
    "c(f, backend='bad', disable=True) is f",
    "c(f, backend='eager', dynamic=3)",
    "c(3, backend='eager')",
    "c('a', backend='eager')",
    "c(f, disable=True)(3)",
    "c(f, backend='eager').__name__",
    "c(f, backend='eager').__wrapped__ is f",
    "c(c(f, backend='eager'), backend='eager').__wrapped__ is f",
    "c(f, backend='eager', recompile_limit=3, isolate_recompiles=True, name='x')(3)",
    "c(f, True)",
    "c(f, nonsense=1)",
]


@pytest.mark.parametrize("call", COMPILE)
def test_compile(call):
    def run(function):
        kind, text, _ = outcome(lambda: eval(call, {"c": function, "f": lambda x: x + 1}))
        return kind, text

    assert run(mindtorch.compiler.compile) == run(torch.compile)


def modules(T):
    """What can be seen of a compiled module."""

    class Model(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = T.nn.Linear(2, 3)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return self.inner(x).relu()

        def extra(self):
            return 7

    model = Model()
    compiled = T.compile(model, backend="eager")
    seen = [type(compiled).__module__, type(compiled).__name__, list(compiled.state_dict())]
    seen += [repr(compiled), compiled._orig_mod is model, compiled.extra(), compiled.inner is model.inner]
    seen += [tuple(compiled(T.ones(1, 2)).shape), model.calls, [name for name, _ in compiled.named_modules()]]
    compiled.eval()
    compiled.mark = 3
    seen += [model.training, compiled.training, model.mark]
    seen += [str(compiled.load_state_dict(compiled.state_dict())), hasattr(compiled, "nothing")]
    del compiled.mark
    return [*seen, hasattr(model, "mark"), isinstance(compiled, Model)]


def test_compiled_module():
    assert modules(mindtorch) == modules(torch)


@pytest.mark.parametrize("backend", [None, "pipeline", "inductor", "eager"])
def test_compiled_function_computes_what_the_function_does(backend):
    def step(x, w):
        y = (x @ w).tanh()
        if y.sum().item() > 0:  # reads a value in the middle
            y = y * 2
        y = y + 0
        y[0].add_(1)
        return y, (y * mindtorch.rand_like(y)).sum()

    x, w = mindtorch.randn(4, 3), mindtorch.randn(3, 5, requires_grad=True)
    results = []
    for function in (step, mindtorch.compile(step, backend=backend)):
        mindtorch.manual_seed(1)
        y, total = function(x, w)
        total.backward()
        results.append((y.tolist(), total.item(), w.grad.tolist()))
        w.grad = None
    assert results[0] == results[1]


def test_compiled_calls_are_recorded_where_that_is_valid():
    seen = []

    def function(x):
        y = x + 1
        seen.append(y._pending)
        return y

    compiled, x = mindtorch.compile(function), mindtorch.ones(2)
    result = compiled(x)
    mindtorch.compile(function, backend="eager")(x)
    with exclude_keys(DispatchKeySet([DispatchKey.Pipeline])):
        compiled(x)
    assert seen == [True, False, False]
    assert not result._pending
    with mindtorch.pipeline() as pipe:
        assert compiled(x)._pending  # the pipeline around it has its calls
        assert len(pipe) == 1


def test_module_compile_goes_through_the_pipeline():
    layer = mindtorch.nn.Linear(2, 2)
    seen = []
    layer.register_forward_hook(lambda module, args, output: seen.append(output._pending))
    layer.compile()
    layer(mindtorch.ones(1, 2))
    assert seen == [True]
    assert list(layer.state_dict()) == ["weight", "bias"]
