"""`torch.jit.trace`: a run of a function or module becomes a compiled one that does what was done, for every input."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._tracing_state import recorder
from mindtorch.jit._script import ScriptedFunction
from mindtorch.jit._script_module import ScriptModule
from mindtorch.jit._tracing.modules import TopLevelTracedModule, TracedModule, trace_function, trace_methods
from mindtorch.jit._tracing_checks import TracingCheckError, check
from mindtorch.nn.modules.module import Module

__all__ = ["TopLevelTracedModule", "TracedModule", "TracingCheckError", "trace", "trace_module"]


def trace(
    func: Any,
    example_inputs: Any,
    check_trace: bool,
    check_inputs: Any,
    check_tolerance: float,
    strict: bool,
    example_kwarg_inputs: Any,
) -> Any:
    """Return the traced function or module; see `torch.jit.trace`."""
    if isinstance(func, ScriptModule):
        warnings.warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.",
            stacklevel=3,
        )
        return func
    owner = getattr(func, "__self__", None)
    is_forward = isinstance(owner, Module) and func.__name__ == "forward"
    by_name = isinstance(example_kwarg_inputs, dict)
    if isinstance(func, Module) or is_forward:
        if example_inputs is None:
            if not by_name:
                raise RuntimeError("example_kwarg_inputs should be a dict")
            example_inputs = example_kwarg_inputs
        checked = None if check_inputs is None else [{"forward": one} for one in check_inputs]
        return trace_module(
            owner if is_forward else func,
            {"forward": example_inputs},
            check_trace,
            checked,
            check_tolerance,
            strict,
            by_name,
        )
    if isinstance(example_inputs, (mindtorch.Tensor, dict)) and example_kwarg_inputs is None:
        example_inputs = (example_inputs,)
    elif example_kwarg_inputs is None and not isinstance(example_inputs, tuple):
        example_inputs = tuple(example_inputs)
    if isinstance(owner, Module):
        raise AttributeError("trace doesn't support compiling individual module's functions.\nPlease use trace_module")
    given = example_kwarg_inputs if by_name else example_inputs
    traced = trace_function(func, given, strict)
    if check_trace:
        again = functools.partial(trace_function, func, strict=strict)
        check(func, traced, again, [given] if check_inputs is None else check_inputs, check_tolerance)
    return traced


def trace_module(
    mod: Any,
    inputs: Any,
    check_trace: bool,
    check_inputs: Any,
    check_tolerance: float,
    strict: bool,
    by_name: bool,
) -> Any:
    """Return the traced module; see `torch.jit.trace_module`."""
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    given = {name: one if by_name and isinstance(one, dict) else _as_tuple(one) for name, one in inputs.items()}
    made = trace_methods(mod, given, by_name, strict)
    if check_trace:
        for name in given:
            _check_method(mod, made, name, given, check_inputs, check_tolerance, strict, by_name)
    return made


def _check_method(
    mod: Any,
    made: Any,
    name: str,
    given: dict[str, Any],
    check_inputs: Any,
    tolerance: float,
    strict: bool,
    by_name: bool,
) -> None:
    def again(inputs: Any) -> Any:
        return getattr(trace_methods(mod, {**given, name: inputs}, by_name, strict), name)

    def prepared(one: Any) -> Any:
        return one if by_name and isinstance(one, dict) else _as_tuple(one)

    chosen = [given[name]] if check_inputs is None else [prepared(one[name]) for one in check_inputs]
    check(mod if name == "forward" else getattr(mod, name), getattr(made, name), again, chosen, tolerance)


def _as_tuple(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (mindtorch.Tensor, dict)):
        return (given,)
    return given if isinstance(given, tuple) else tuple(given)


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``fn``; while a trace runs, its compiled form is called."""

    compiled: list[Any] = []

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if recorder() is None:
            return fn(*args, **kwargs)
        if not compiled:
            compiled.append(ScriptedFunction._of_python(fn))
        return compiled[0](*args, **kwargs)

    wrapper.__original_fn = fn  # type: ignore[attr-defined]
    wrapper.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return wrapper
