"""`torch.compile`, `torch.compiler`, `torch._dynamo`, `torch._logging`: the eager answers beside torch's."""

import pytest

import mindtorch._dynamo
import mindtorch._logging
import mindtorch.compiler

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
        c.allow_in_graph([len])
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
        c.mark_static_address(t), c.mark_dynamic(t, 0), c.maybe_mark_dynamic(t, 0)
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
    "c(f, backend='bad')",
    "c(f, disable=True)(3)",
    "c(f, True)",
    "c(f, nonsense=1)",
]


@pytest.mark.parametrize("call", COMPILE)
def test_compile(call):
    def run(function):
        kind, text, _ = outcome(lambda: eval(call, {"c": function, "f": lambda x: x + 1}))
        return kind, text

    assert run(mindtorch.compiler.compile) == run(torch.compile)


def test_compile_returns_what_it_was_given():
    def function(x):
        return x

    assert mindtorch.compiler.compile(function) is function
    assert mindtorch.compiler.compile(backend=print, fullgraph=True)(function) is function
    with pytest.raises(NotImplementedError, match="returns the module itself"):
        mindtorch._dynamo.OptimizedModule(None)
