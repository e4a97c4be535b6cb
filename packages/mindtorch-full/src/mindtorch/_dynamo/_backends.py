"""Functions that a backend compiles: the graphs that it was given, and which of them a call may use."""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Callable
from typing import Any

from mindtorch._dynamo import config
from mindtorch._dynamo._breaks import GraphCompileReason, unsupported, user_frame
from mindtorch._dynamo._recorder import Recorder
from mindtorch._dynamo._segments import Segment
from mindtorch._dynamo._sources import Sources
from mindtorch._dynamo.exc import BackendCompilerFailed, RecompileLimitExceeded
from mindtorch.compiler._phases import entered, of_compiled
from mindtorch_dispatch.state import state
from mindtorch_storage.deferred import thread

log = logging.getLogger("torch._dynamo.convert_frame")

_known: weakref.WeakSet[Any] = weakref.WeakSet()
"""Everything that was compiled, which `reset` forgets."""


class Compiled:
    """A function, the backend for its graphs, and the graphs so far: by their place in a call."""

    def __init__(
        self,
        function: Callable[..., Any],
        backend: Callable[..., Any],
        fullgraph: bool,
        dynamic: bool | None,
        name: str,
    ) -> None:
        self.function = function
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.name = name
        self.entries: dict[int, list[_Entry]] = {}
        self.full: set[int] = set()
        self.breaks: list[GraphCompileReason] = []
        _known.add(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = state.mode
        busy = mode.dispatch_modes or mode.forward_ad or mode.include or state.transforms or thread.pipe is not None
        if busy:
            return self.function(*args, **kwargs)
        return Recorder(self, Sources(self.function, args, kwargs)).run(self.function, args, kwargs)

    def forget(self) -> None:
        """Drop every graph."""
        self.entries.clear()
        self.full.clear()

    def broken(self, reason: str, segment: Segment) -> None:
        """Note that a graph ended before the function did; Unsupported where it must be whole."""
        if self.fullgraph and "Tensor.item()" not in reason:  # which torch records in a whole graph
            raise unsupported(reason)
        if segment.calls:
            self.breaks.append(GraphCompileReason(reason, [user_frame()]))

    def execute(self, segment: Segment, inputs: list[Any], place: int) -> Any:
        """Return the outputs of a recording, by the graph that was compiled for it."""
        form = segment.form()
        entries = self.entries.setdefault(place, [])
        entry = next((one for one in entries if one.takes(form)), None)
        if entry is None:
            if place in self.full or len(entries) >= config.recompile_limit:
                return self._too_many(segment, inputs, place)
            entry = _Entry(form, self._varying(entries, form))
            entry.run = self._compile(segment, inputs, entry)
            entries.append(entry)
        values = entry.run(*entry.numbers(form), *inputs)
        return values if segment.outputs else ()

    def _too_many(self, segment: Segment, inputs: list[Any], place: int) -> Any:
        if self.fullgraph:
            raise RecompileLimitExceeded(
                f"Hard failure due to fullgraph=True: torch._dynamo hit config.recompile_limit ({config.recompile_limit})"
            )
        if place not in self.full:
            self.full.add(place)
            log.warning(
                "torch._dynamo hit config.recompile_limit (%s)\n   function: %s", config.recompile_limit, self.name
            )
        return segment.graph_module({})(*inputs)

    def _varying(self, entries: list[_Entry], form: Any) -> set[int]:
        """Return the numbers that differ from those of a graph of the same form; with `dynamic` all of them."""
        if self.dynamic:
            return {at for at, one in enumerate(form.numbers) if _may_vary(one)}
        if self.dynamic is False or not config.automatic_dynamic_shapes:
            return set()
        found = {at for at in form.marked if _may_vary(form.numbers[at])}
        for one in entries:
            if one.form.tokens == form.tokens:
                pairs = enumerate(zip(one.form.numbers, form.numbers, strict=True))
                found |= one.varying | {at for at, (a, b) in pairs if a != b and _may_vary(a) and _may_vary(b)}
        return found

    def _compile(self, segment: Segment, inputs: list[Any], entry: _Entry) -> Callable[..., Any]:
        names = {path: f"s{at}" for path, at in entry.form.places.items() if at in entry.varying}
        graph = segment.graph_module(names)
        if segment.operations == 0:
            return graph.forward  # type: ignore[no-any-return]
        entry.paths = list(names)
        given = [*entry.numbers(entry.form), *inputs]
        try:
            made = self.backend(graph, given)
        except Exception as error:  # noqa: BLE001  # whatever a backend raises is told with its name
            raise BackendCompilerFailed(self.backend, error) from None
        if not callable(made):
            raise BackendCompilerFailed(self.backend, TypeError("compiler_fn did not return callable"))
        return made  # type: ignore[no-any-return]


class _Entry:
    """One compiled graph, and the numbers in it that may be others."""

    def __init__(self, form: Any, varying: set[int]) -> None:
        self.form = form
        self.varying = varying
        self.paths: list[tuple[int, ...]] = []
        self.run: Any = None

    def takes(self, form: Any) -> bool:
        """Return whether this graph does what the recording of that form does."""
        if self.form.tokens != form.tokens:
            return False
        for at, (mine, other) in enumerate(zip(self.form.numbers, form.numbers, strict=True)):
            if mine != other and not (at in self.varying and _may_vary(other)):
                return False
        return True

    def numbers(self, form: Any) -> list[Any]:
        """Return the inputs that are numbers."""
        return [form.numbers[form.places[path]] for path in self.paths]


def _may_vary(number: Any) -> bool:
    return type(number) is int and number >= 2


def compiled_by(
    function: Callable[..., Any], backend: Callable[..., Any], *, fullgraph: bool, dynamic: bool | None
) -> Callable[..., Any]:
    """Return `function` so that `backend` compiles the graphs of its calls."""
    compiled = Compiled(function, backend, fullgraph, dynamic, getattr(function, "__qualname__", repr(function)))

    @functools.wraps(function)
    def compile_wrapper(*args: Any, **kwargs: Any) -> Any:
        with entered(of_compiled()):
            return compiled(*args, **kwargs)

    compile_wrapper._torchdynamo_compiled = compiled  # type: ignore[attr-defined]
    return compile_wrapper


def reset() -> None:
    """Forget every graph that was compiled."""
    for one in list(_known):
        one.forget()


def with_options(backend: Callable[..., Any], mode: str | None, options: dict[str, Any] | None) -> Callable[..., Any]:
    """Return the backend that hands on the mode or the options of `torch.compile`."""
    given: dict[str, Any] = {}
    if mode and mode != "default":
        given["mode"] = mode
    if options:
        given["options"] = options
    return functools.partial(backend, **given) if given else backend


def runs_as_it_is(graph: Any, inputs: list[Any]) -> Any:
    """Return a graph as it is: the backend `eager`."""
    return graph.forward
