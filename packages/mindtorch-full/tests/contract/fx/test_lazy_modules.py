"""Lazy graph modules generate code when torch's do, and dead code elimination keeps what waits or measures."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

import mindtorch as mt
import mindtorch.fx._lazy_graph_module as ours

torch = pytest.importorskip("torch", reason="oracle")


def sine(x):  # type: ignore[no-untyped-def]  # annotations would be in the code
    """A function to trace."""
    return x.sin()


def _lazy(lib: Any) -> Any:
    return ours if lib is mt else torch.fx._lazy_graph_module


def _steps(lib: Any) -> list[Any]:
    lazy, x = _lazy(lib), lib.ones(2)
    with lazy._use_lazy_graph_module(True):
        made = lib.fx.symbolic_trace(sine)
        seen = [isinstance(made, lazy._LazyGraphModule), made._needs_recompile()]
        saved = made.forward
        seen += [made(x).round(decimals=4).tolist(), made._needs_recompile(), saved(x).round(decimals=4).tolist()]
        for node in made.graph.nodes:
            node.target = "cos" if node.target == "sin" else node.target
        seen += [made(x).round(decimals=4).tolist(), made._needs_recompile()]
        made.recompile()
        seen += [made._needs_recompile(), made.code, made._needs_recompile(), saved(x).round(decimals=4).tolist()]
        made.recompile()
        seen += ["cos" in str(made), made._needs_recompile()]
        made.recompile()
        again = lib.fx.symbolic_trace(made)
        seen += [made._needs_recompile(), again._needs_recompile(), again(x).round(decimals=4).tolist()]
        eager = lazy._make_graph_module(made, made.graph, class_name="Named", graph_module_cls=lib.fx.GraphModule)
        seen += [isinstance(eager, lazy._LazyGraphModule), type(eager).__name__]
        with lazy._force_skip_lazy_graph_module(), lazy._use_lazy_graph_module(True):
            seen.append(isinstance(lib.fx.symbolic_trace(sine), lazy._LazyGraphModule))
    eager = lib.fx.symbolic_trace(sine)
    turned = lazy._LazyGraphModule.from_graphmodule(eager)
    lazy._LazyGraphModule.force_recompile(turned)
    lazy._LazyGraphModule.force_recompile(eager)
    return [
        *seen,
        isinstance(eager, lazy._LazyGraphModule),
        turned._needs_recompile(),
        lazy._get_graph_module_cls().__name__,
    ]


def test_code_is_generated_when_torchs_is() -> None:
    assert _steps(mt) == _steps(torch)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: lib.ops._c10d_functional.wait_tensor.default(x),
        lambda lib, x: lib.ops.profiler._record_function_enter.default("name"),
        lambda lib, x: lib.ops.aten.mul.Tensor(x, x),
    ],
)
def test_calls_for_what_they_do_are_kept(call: Any) -> None:
    def kept(lib: Any) -> list[str]:
        def program(x: Any) -> Any:
            call(lib, x)
            return x

        with contextlib.suppress(ImportError):
            __import__(f"{lib.__name__}.distributed._functional_collectives")
        graph = lib.fx.Graph()
        x = graph.placeholder("x")
        targets: list[Any] = []

        class Recorded(lib.fx.Tracer):  # type: ignore[misc]
            def create_node(self, kind: str, target: Any, *rest: Any, **named: Any) -> Any:
                targets.append(target)
                return super().create_node(kind, target, *rest, **named)

        del x
        graph = Recorded().trace(program)
        graph.eliminate_dead_code()
        return [str(node.target) for node in graph.nodes]

    assert kept(mt) == kept(torch)
