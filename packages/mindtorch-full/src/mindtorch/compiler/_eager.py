"""`torch.compile` and its hints.

Compiling a function runs its calls in a fusing pipeline (see `_compiled`), of which no graph is made, so that the hints that
shape torch's graphs have nothing to change. A backend that is a function is given graphs (see `torch._dynamo._recorder`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch.nn.modules.module import Module
from mindtorch_autograd.function import recorder
from mindtorch_storage.lazy_import import LazyModule

from . import _compiled
from ._phases import Phase, Stances, entered, running

_backends = LazyModule("mindtorch._dynamo._backends", "only backends that are functions are given graphs")

_BACKENDS = ("aot_eager", "cudagraphs", "eager", "inductor", "openxla", "pipeline", "tvm")
_DEBUG = ("aot_eager", "eager")
_EXPERIMENTAL = ("pipeline",)
MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_state: dict[str, Any] = {"backend": None}


def check_mode(mode: str) -> None:
    """Raise RuntimeError for a mode that `torch.compile` does not know."""
    if mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")


class InvalidBackend(RuntimeError):
    """A backend of `torch.compile` that nobody knows."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


InvalidBackend.__module__ = "torch._dynamo.exc"


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """Return ``model`` so that its calls are recorded and run with neighbouring ops joined; without a model, a decorator.

    Args:
        model: a function, or a module, which gives an ``OptimizedModule`` around it.
        fullgraph: raise Unsupported where a call needs more than one graph; in a pipeline there is no graph to break.
        dynamic: whether a graph is compiled for all numbers, or, with False, for one; by default for all that differed.
        backend: "eager" and "aot_eager" run the function as it is, every other known name in a pipeline. A callable, or one
            that `torch._dynamo.register_backend` knows by name, is called with each graph and the inputs of this call, and
            returns what runs in the graph's place.
        mode: one of torch's, and not together with ``options``; handed on to a callable backend, as are ``options``.
        name, recompile_limit, isolate_recompiles, shapes_spec: accepted.
        disable: return ``model`` itself.

    Raises:
        RuntimeError: both ``mode`` and ``options`` are given, or the mode or the backend is unknown.
        AssertionError: ``model`` is not callable, ``dynamic`` not a bool.

    >>> double = torch.compile(lambda x: 2 * x, backend="eager")
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    chosen = get_default_backend() if backend is None else backend
    if chosen == "inductor" and mode is not None:
        check_mode(mode)
    chosen = _registered.get(chosen, chosen) if isinstance(chosen, str) else chosen
    if isinstance(chosen, str) and chosen not in _BACKENDS:
        raise InvalidBackend(chosen)
    if disable:
        return model
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if isinstance(model, type):
        return model
    way = _way(chosen, fullgraph, dynamic, mode, options)
    if isinstance(model, Module):
        return _compiled.OptimizedModule(model, way)
    return _compiled.compiled_function(model, way)


def _way(backend: Any, fullgraph: bool, dynamic: bool | None, mode: str | None, options: Any) -> _compiled.Way:
    """Return what compiles a function for a backend."""
    if isinstance(backend, str) and backend not in _DEBUG:
        return _compiled.recorded
    if isinstance(backend, str) and not fullgraph:
        return _compiled.plain
    chosen = _backends.runs_as_it_is if isinstance(backend, str) else backend
    given = _backends.with_options(chosen, mode, options)
    return functools.partial(_backends.compiled_by, backend=given, fullgraph=fullgraph, dynamic=dynamic)


_registered: dict[str, Callable[..., Any]] = {}


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: Any = ()) -> Any:
    """Let `torch.compile` know a backend by a name, by default its own; a decorator with or without arguments.

    >>> @torch._dynamo.register_backend
    ... def as_it_is(graph, inputs):
    ...     return graph.forward
    >>> torch.compile(torch.sin, backend="as_it_is")(torch.zeros(2))
    tensor([0., 0.])
    """
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise AssertionError(f"compiler_fn must be callable, got {type(compiler_fn)}")
    name = name or compiler_fn.__name__
    if name in _registered:
        raise AssertionError(f"duplicate backend name: {name}")
    _registered[name] = compiler_fn
    compiler_fn._tags = tuple(tags)
    return compiler_fn


def lookup_backend(compiler_fn: Any) -> Any:
    """Return the backend of a name; a callable is returned as it is."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn in _registered:
        return _registered[compiler_fn]
    if compiler_fn in _DEBUG:
        return _backends.runs_as_it_is
    raise InvalidBackend(compiler_fn)


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Return the names that ``backend`` may have; ``exclude_tags`` leaves out those so tagged.

    >>> "eager" in torch.compiler.list_backends(exclude_tags=())
    True
    """
    hidden = {"debug": _DEBUG, "experimental": _EXPERIMENTAL}
    left_out = {name for tag in exclude_tags or () for name in hidden.get(tag, ())}
    excluded = set(exclude_tags or ())
    registered = [name for name, one in _registered.items() if not excluded & set(getattr(one, "_tags", ()))]
    return sorted([*(name for name in _BACKENDS if name not in left_out), *registered])


def forget_graphs() -> None:
    """Drop every graph that a backend compiled."""
    _backends.reset()


def set_default_backend(backend: str | Callable[..., Any] | None) -> None:
    """Set the backend that `torch.compile` names when none is given; None restores torch's.

    >>> torch.compiler.set_default_backend("eager")
    >>> torch.compiler.get_default_backend()
    'eager'
    >>> torch.compiler.set_default_backend("inductor")
    """
    if backend is not None and not isinstance(backend, str) and not callable(backend):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    _state["backend"] = backend


def get_default_backend() -> str | Callable[..., Any]:
    """Return the backend that `torch.compile` names when none is given.

    >>> torch.compiler.get_default_backend()
    'inductor'
    """
    return "inductor" if _state["backend"] is None else _state["backend"]


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return ``fn`` so that it runs as it is inside of compiled functions; usable bare, called, and with a function.

    Modules and classes are returned unchanged.

    >>> torch.compiler.disable(lambda x: x + 1)(1)
    2
    """
    if fn is None:
        return _Unchanged()
    return _apart(fn, reason)


def _apart(fn: Callable[..., Any], reason: str | None) -> Callable[..., Any]:
    if isinstance(fn, (type, Module)):
        return fn

    @functools.wraps(fn)
    def _fn(*args: Any, **kwargs: Any) -> Any:
        with entered(Phase.NONE):
            if recorder.apply is None:
                return fn(*args, **kwargs)
            why = reason or f"a call of {fn.__qualname__}, for which compiling is disabled"
            with recorder.apply.__self__.paused(why):
                return fn(*args, **kwargs)

    return _fn


class _Unchanged:
    """A decorator, and a context manager, without effect."""

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return _apart(fn, None)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: object) -> None:
        return None


def allow_in_graph(fn: Any) -> Any:
    """Return ``fn`` unchanged: without graphs everything is allowed.

    >>> torch.compiler.allow_in_graph(torch.sin) is torch.sin
    True
    """
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark ``fn`` as giving the same result always, and return it; it is called every time nevertheless.

    >>> torch.compiler.assume_constant_result(lambda: 1)()
    1
    """
    fn._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return fn


def substitute_in_graph(
    original_fn: Callable[..., Any], *, can_constant_fold_through: bool = False, skip_signature_check: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that leaves a function as it is; the original is called, as nothing is traced.

    >>> import operator
    >>> @torch.compiler.substitute_in_graph(operator.indexOf)
    ... def index_of(a, b, /):
    ...     for index, item in enumerate(a):
    ...         if item is b or item == b:
    ...             return index
    ...     raise ValueError("not found")
    >>> index_of([3, 4], 4)
    1
    """

    def unchanged(traceable_fn: Callable[..., Any]) -> Callable[..., Any]:
        return traceable_fn

    return unchanged


class set_stance:
    """Choose how compiled functions behave: in "force_eager" they are not compiled, in the others they run as always.

    A call sets the stance, as a context manager or decorator for a time.

    >>> compiled = torch.compile(lambda: torch.compiler.is_compiling())
    >>> with torch.compiler.set_stance("force_eager"):
    ...     compiled()
    False
    >>> compiled()
    True

    Raises RuntimeError in a compiled function, and for `force_backend` with another stance than the default.
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: str | Callable[..., Any] | None = None,
    ) -> None:
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance = stance
        self.prev = self._set(stance)

    @staticmethod
    def _set(stance: str) -> str:
        if running.phase is Phase.COMPILED:
            raise RuntimeError("attempted to set_stance in a torch.compile region")
        before, Stances.stance = Stances.stance, stance
        return before

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        self._set(self.prev)

        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return wrapped

    def __enter__(self) -> None:
        self._set(self.stance)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self._set(self.prev)


set_stance.__module__ = "torch._dynamo.decorators"
