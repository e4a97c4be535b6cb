"""One call of a function that a backend compiles: torch's functions are recorded instead of run.

The program gets tensors that wait for their bytes, and goes on. Whoever wants to see bytes (`item()`, a branch, numpy, a
function that cannot be recorded) ends the recording: the graph so far is compiled and run, every tensor that the program
still holds gets what it waits for, and the next recording begins. So the function's own Python runs in each call, once,
and nothing that it does is lost or done twice.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import mindtorch as torch
from mindtorch._dynamo._breaks import AT_ONCE, CHANGES_GEOMETRY, KNOWN, reason_of
from mindtorch._dynamo._calls import (
    NotExpressible,
    Recorded,
    Ref,
    calling_frame,
    mapped,
    module_of,
    program_frame,
    target_of,
)
from mindtorch._dynamo._segments import Segment
from mindtorch._dynamo._sources import Sources
from mindtorch._dynamo.exc import Unsupported
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.overrides import TorchFunctionMode
from mindtorch.utils import _pytree as pytree
from mindtorch_autograd import function as autograd_function
from mindtorch_dispatch.pipeline.deferral import ALIAS
from mindtorch_dispatch.pipeline.record import fill_alias
from mindtorch_dispatch.state import fresh_signature, state
from mindtorch_storage.deferred import thread
from mindtorch_storage.tensor_base import TensorBase

NOT_RECORDED = (
    NotExpressible,
    RuntimeError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    AssertionError,
    ArithmeticError,
)
"""What a call raises on tensors without bytes that may go well on tensors with some."""

_FILLED = ("_sig", "_offset", "_counter", "_grad_fn", "_output_nr", "_view", "_meta", "_storage", "_array")

_TRANSFORMS = ("torch.func.", "torch.autograd.functional")
"""Modules that make tensors leaves of graphs of their own."""


@contextlib.contextmanager
def _held(owner: Any, name: str, value: Any) -> Iterator[None]:
    """In the block an attribute of `owner` has another value."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _plain(mode: Any) -> Iterator[None]:
    """In the block the thread has this mode, and calls of an autograd.Function are not recorded."""
    with _held(state, "mode", mode), _held(autograd_function.recorder, "apply", None):
        yield


class Recorder(TorchFunctionMode):
    """Records what one call of a compiled function does, and has its graphs run."""

    def __init__(self, compiled: Any, sources: Sources) -> None:
        super().__init__()
        self.compiled = compiled
        self.sources = sources
        self.records: list[Any] = []  # what a pipeline has: none of its records are here
        self.limit = sys.maxsize
        self.count = 0
        self.start = state.mode
        self._begin()

    def _begin(self) -> None:
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.segment = Segment(state.mode.replace(function_modes=self.start.function_modes))
        self.shadows: dict[int, Any] = {}
        self.refs: dict[int, Ref] = {}
        self.inputs: list[Any] = []
        self.owners: dict[int, Any] = {}
        self.handles: list[tuple[Any, Ref]] = []

    def run(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return what `function` does, with its calls recorded."""
        with _held(thread, "pipe", None), _held(autograd_function.recorder, "apply", self.custom):
            try:
                with _held(thread, "pipe", self), self:
                    result = function(*args, **kwargs)
                self.finish(result)
            except Unsupported:
                raise
            except BaseException:
                self.cut(None)  # what the function did to its inputs before it failed is done
                raise
        return result

    def finish(self, result: Any) -> None:
        """Run the last graph; the tensors that the function returns are its first outputs."""
        returned = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        self._run(returned)

    def flush(self) -> None:
        """End the recording, as bytes are wanted; called by whoever shows or changes some."""
        if self.segment.calls:
            self.cut("The bytes of a tensor are read")

    @contextlib.contextmanager
    def paused(self, reason: str) -> Iterator[None]:
        """Run the block on tensors with bytes, unrecorded."""
        self.cut(reason)
        others = tuple(one for one in state.mode.function_modes if one is not self)
        with _plain(state.mode.replace(function_modes=others)), _held(thread, "pipe", None):
            yield

    def share(self, tensor: Any, alias: Any) -> None:
        """Let `alias` have the bytes of `tensor`."""
        self.flush()
        fill_alias(ALIAS, (tensor,), alias)

    def cut(self, reason: Any, first: Any = ()) -> None:
        """Run what is recorded, for `reason`, of which `first` are the first outputs; Unsupported where it must be whole."""
        if reason is not None and (self.segment.calls or self.compiled.fullgraph):
            self.compiled.broken(reason, self.segment)
        with _held(thread, "pipe", None):
            self._run([one for one in first if isinstance(one, torch.Tensor)])

    def _run(self, first: list[Any]) -> None:
        waiting = {id(one): (one, ref) for one, ref in ((weak(), ref) for weak, ref in self.handles) if one is not None}
        order = [waiting.pop(id(one)) for one in first if id(one) in waiting]
        order += waiting.values()
        segment, inputs = self.segment, self.inputs
        self._begin()
        if segment.calls:
            segment.outputs = [ref for _, ref in order]
            with _plain(segment.mode):
                made = self.compiled.execute(segment, inputs, self.count)
            for (handle, ref), value in zip(order, made, strict=True):
                _fill(handle, value)
                hint = segment.calls[ref.call].hint  # type: ignore[index]
                if hint is not None and not ref.path:
                    self.sources.names[id(handle)] = f"L_{hint}_"
            self.count += 1

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = calling_frame()
        with _held(thread, "pipe", None):
            return self._call(func, args, kwargs or {}, frame)

    def custom(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of an autograd.Function as one call."""
        return self.operator(cls.apply, args, kwargs)

    def operator(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call of an operator of a library as one call: what its kernel does is not seen."""
        frame = calling_frame()
        modes = state.mode.replace(function_modes=state.mode.function_modes[:-1])
        with _plain(modes), _held(thread, "pipe", None):
            return self._call(called, args, kwargs, frame)

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> Any:
        name = getattr(func, "__name__", "")
        if name in KNOWN:
            return func(*args, **kwargs)
        inner = module_of(frame).startswith(_TRANSFORMS)
        if state.transforms or inner or name in AT_ONCE or (name in CHANGES_GEOMETRY and args):
            return self._at_once(func, args, kwargs)
        try:
            self._state_changes()
            op, target, shown, hint = target_of(func, args, frame)
            for one in sorted(pytree.tree_leaves((args, kwargs)), key=self._is_given):
                if isinstance(one, torch.Tensor):
                    self._known(one)
            written = mapped(shown, self._ref), mapped(kwargs, self._ref)
            shadowed = mapped(args, self._shadow), mapped(kwargs, self._shadow)
            with self.mode:
                made = func(*shadowed[0], **shadowed[1])
        except NOT_RECORDED:  # what cannot be told without bytes is done with them, and raises what it raises
            return self._at_once(func, args, kwargs)
        leaves = pytree.tree_leaves(made)
        if made is not None and not any(isinstance(one, torch.Tensor) for one in leaves):
            return made
        return self._recorded(Recorded(op, target, *written, hint), made, (args, kwargs), frame)

    def _recorded(self, call: Recorded, made: Any, given: Any, frame: Any) -> Any:
        place = self.segment.add(call, program_frame(frame))
        known = {id(self.shadows[id(one)]): one for one in pytree.tree_leaves(given) if id(one) in self.shadows}

        def handle(path: tuple[Any, ...], shadow: Any) -> Any:
            if not isinstance(shadow, torch.Tensor):
                return shadow
            if id(shadow) in known:
                return known[id(shadow)]
            one = _waiting(shadow, self)
            self.shadows[id(one)], self.refs[id(one)] = shadow, Ref(place, 0, path)
            self.handles.append((weakref.ref(one, self._forgetting(id(one))), Ref(place, 0, path)))
            return one

        call.value = made
        return _with_paths(made, handle)

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        """Return what is done when a tensor is gone: another may have its address."""
        shadows, refs = self.shadows, self.refs

        def forget(_: Any) -> None:
            shadows.pop(key, None)
            refs.pop(key, None)

        return forget

    def _at_once(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run what is recorded, then this call, on tensors with bytes."""
        self.cut(reason_of(func, self.segment), pytree.tree_leaves((args, kwargs)))
        return func(*args, **kwargs)

    def _known(self, tensor: Any) -> None:
        if id(tensor) in self.shadows:
            return
        kind = type(tensor)
        if (
            kind not in (torch.Tensor, torch.nn.Parameter)
            and kind.__torch_function__ is not torch.Tensor.__torch_function__
        ):
            raise NotExpressible(kind)
        if kind._wraps or tensor.layout is not torch.strided or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
            raise NotExpressible(kind)
        self.shadows[id(tensor)] = self.mode.from_tensor(tensor)
        self.refs[id(tensor)] = Ref(None, len(self.inputs))
        self.inputs.append(tensor)
        self.segment.placeholder(self.sources.name(tensor), tensor, self.shadows[id(tensor)])

    def _is_given(self, value: Any) -> bool:
        """Return whether a value is an argument: torch finds the tensors of modules first."""
        return not isinstance(value, torch.Tensor) or not self.sources.owned(value)

    def _ref(self, tensor: Any) -> Ref:
        self._known(tensor)
        return self.refs[id(tensor)]

    def _shadow(self, tensor: Any) -> Any:
        self._known(tensor)
        return self.shadows[id(tensor)]

    def _state_changes(self) -> None:
        if state.mode.inference is not self.segment.mode.inference:
            self.cut(None)
        self.segment.note_state(state.mode)


def _with_paths(value: Any, handle: Callable[[tuple[Any, ...], Any], Any], path: tuple[Any, ...] = ()) -> Any:
    kind = type(value)
    if kind in (tuple, list):
        return kind(_with_paths(one, handle, (*path, index)) for index, one in enumerate(value))
    if isinstance(value, tuple):
        parts = [_with_paths(one, handle, (*path, index)) for index, one in enumerate(value)]
        return kind(*parts) if hasattr(value, "_fields") else kind(parts)
    if kind is dict:
        return {key: _with_paths(one, handle, (*path, key)) for key, one in value.items()}
    return handle(path, value)


def _waiting(shadow: Any, recorder: Recorder) -> Any:
    """Return a tensor of the geometry of a fake, which waits for the recorder."""
    made: Any = object.__new__(torch.Tensor)
    spec = shadow._sig.spec
    made._sig = fresh_signature(spec, shadow.requires_grad)
    made._offset, made._counter, made._grad_fn, made._output_nr = shadow._offset, [0], None, 0
    made._view = made._meta = None
    made._pipe = recorder
    return made


def _fill(handle: Any, value: Any) -> None:
    """Let a tensor that waited be the tensor that a graph returned."""
    for name in _FILLED:
        slot = TensorBase.__dict__[name]
        try:
            slot.__set__(handle, slot.__get__(value))
        except AttributeError:  # its bytes are shared with a lazy clone, or wait for another pipeline
            if hasattr(handle, name):
                slot.__delete__(handle)
    handle._pipe = getattr(value, "_pipe", None)
    counter = handle._counter
    for place in range(1, len(counter)):
        if isinstance(counter[place], weakref.ref) and counter[place]() is value:
            counter[place] = weakref.ref(handle)
