"""The recorder: notes every operator that a program calls, as the program calls it, composed ones whole."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import mindtorch
from mindtorch._tracing_state import active as _active
from mindtorch.jit._warnings import TracerWarning
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch_autograd.function import recorder as functions
from mindtorch_storage.tensor_base import TensorBase

from .values import Call, Constant, Frame, Number, PythonCall, Value

_NOT_RECORDED = frozenset(("aten::_local_scalar_dense", "aten::lift_fresh", "aten::lift", "aten::is_pinned"))
"""Operators that make no tensor of a traced one: what they give is a constant of the trace."""


class TracedInt(int):
    """A number that an operator read from a traced tensor; `value` is the tensor's."""

    value: Value
    word = "int"


class TracedFloat(float):
    """As TracedInt, of a floating point tensor."""

    value: Value
    word = "float"


class Recorder(TorchDispatchMode):
    """Notes the calls of one run.

    Args:
        module: the module that is traced, None for a function. Its parameters and buffers are attributes, not constants.
        linker: what compiled programs that are called are brought by.
        scripts: the paths and classes of the compiled modules in the traced one, by their identity.
    """

    above_autograd = sees_composed = True

    def __init__(self, module: Any, linker: Any, scripts: dict[int, tuple[str, str]]) -> None:
        super().__init__()
        self._linker, self._scripts = linker, scripts
        self.root = self.frame = Frame(None, "")
        self.calls: list[Call] = []
        self.pauses = 0
        self._values: dict[int, Value | Constant] = {}
        self._alive: list[Any] = []  # what has a value stays, so that its identity is nobody else's
        self._members = {} if module is None else _members(module)
        self._attributes: dict[str, Value] = {}
        self._modules: dict[tuple[str, int], Value] = {}

    def __enter__(self) -> Any:
        _active.recorder = self
        self._applied, functions.apply = functions.apply, self._apply
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        _active.recorder, functions.apply = None, self._applied
        super().__exit__(*error)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing in the block."""
        self.pauses += 1
        try:
            with mindtorch.utils._python_dispatch._disable_current_modes():
                yield
        finally:
            self.pauses -= 1

    @contextlib.contextmanager
    def within(self, path: str) -> Iterator[None]:
        """Record the block as a call of the module of this path, where the module around it has it."""
        before = self.frame
        if before.contains(path) and path != before.path:
            self.frame = Frame(before, path)
        try:
            yield
        finally:
            self.frame = before

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if name in _NOT_RECORDED or self.pauses:
            if name == "aten::lift_fresh" and not self.pauses:
                _warn_of_literal()
            return self._run(func, args, kwargs)
        call = Call(name, func, self.taken(args), self.taken(kwargs), self.frame)
        result = self._run(func, args, kwargs)
        if self._note_results(call, result) or call.writes:
            self.calls.append(call)
        return result

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        self.pauses += 1
        try:
            return func(*args, **kwargs)
        finally:
            self.pauses -= 1

    def _note_results(self, call: Call, result: Any) -> bool:
        """Give the call's outputs their values; False for a call that makes no tensor."""
        returns = call.overload._schema.returns
        call.spread = len(returns) == 1 and str(returns[0].type).startswith("List[")
        several = call.spread or len(returns) > 1
        results = list(result) if several and isinstance(result, (list, tuple)) else [result]
        for one in results:
            value = Value(call.frame)
            call.outputs.append(value)
            if isinstance(one, TensorBase):
                self.bind(one, value)
        return any(isinstance(one, TensorBase) for one in results)

    def _apply(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a `torch.autograd.Function` and record it as one call: its formula for gradients is the program's."""
        tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, TensorBase)]
        call = Call("prim::PythonOp", None, [], {}, self.frame)
        if not self.pauses:
            call.args = [Constant(PythonCall(function, args, kwargs)), *map(self.value_of, tensors)]
        functions.apply = None
        try:
            result = self._run(function.apply, args, kwargs)
        finally:
            functions.apply = self._apply
        if self.pauses:
            return result
        call.spread = isinstance(result, tuple)
        for one in result if isinstance(result, tuple) else (result,):
            call.effects = call.effects or any(one is tensor for tensor in tensors)
            call.outputs.append(Value(self.frame))
            if isinstance(one, TensorBase):
                self.bind(one, call.outputs[-1])
        self.calls.append(call)
        return result

    def call_function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a compiled function and record its call: its conditions and loops stay."""
        with self.paused():
            given = function._signature.bind(args, kwargs)
        call = Call("prim::CallFunction", None, [], {}, self.frame)
        call.target = self._linker.bring(function._program)[function.qualified_name]
        return self._call_compiled(call, function._signature, given, function._function)

    def call_method(
        self, module: Any, signature: Any, args: tuple[Any, ...], kwargs: dict[str, Any], function: Any
    ) -> Any:
        """Run a method of a compiled module and record its call. Raises RuntimeError for a module from elsewhere."""
        if id(module) not in self._scripts:
            raise RuntimeError(
                f"Tried to trace <{module._qualified_name} object at {id(module):#x}> but it is not part of the active trace. "
                "Modules that are called during a trace must be registered as submodules of the thing being traced."
            )
        path, kind = self._scripts[id(module)]
        with self.paused():
            given = signature.bind(args, kwargs)
        owner = next(frame for frame in self.frame.outwards() if frame.contains(path))
        value = self._modules.setdefault((path, id(owner)), Value(owner, path, path.rpartition(".")[2], kind))
        call = Call("prim::CallMethod", None, [value], {}, self.frame)
        call.target = signature.name
        return self._call_compiled(call, signature, given, function)

    def _call_compiled(self, call: Call, signature: Any, given: list[Any], function: Any) -> Any:
        call.args += [self._taken_whole(one) for one in given]
        call.kinds = [str(one.kind) for one in signature.arguments]
        call.effects = True
        result = self._run(function, given, {})
        self.calls.append(call)
        call.outputs = [Value(self.frame, kind=str(signature.returns))]
        self._receive(result, call.outputs[0])
        return result

    def _taken_whole(self, given: Any) -> Any:
        if isinstance(given, tuple):
            return tuple(map(self._taken_whole, given))
        if isinstance(given, list):
            return [self._taken_whole(one) for one in given]
        if isinstance(given, dict):
            return {key: self._taken_whole(one) for key, one in given.items()}
        return self.taken(given)

    def _receive(self, result: Any, value: Value) -> None:
        """Let the tensors in what a compiled function gave be known."""
        if isinstance(result, TensorBase):
            self.bind(result, value)
        elif isinstance(result, (list, tuple)):
            call = Call("prim::unpack", None, [value], {}, self.frame)
            call.outputs, call.spread = [Value(self.frame) for _ in result], True
            self.calls.append(call)
            for one, part in zip(result, call.outputs, strict=True):
                self._receive(one, part)
        elif isinstance(result, dict):
            for key, one in result.items():
                call = Call("aten::__getitem__", None, [value, key], {}, self.frame)
                call.outputs = [Value(self.frame)]
                self.calls.append(call)
                self._receive(one, call.outputs[0])
        else:
            shown = _SHOWN.get(type(result), type(result).__name__)
            raise RuntimeError(
                f"Tracer cannot set value trace for type {shown}. Supported types are tensor, tensor list, and tuple of "
                "tensors."
            )

    def bind(self, tensor: Any, value: Value) -> None:
        """Let a tensor be known by a value from now on: by what made it, or wrote into it, last."""
        self._values[id(tensor)] = value
        self._alive.append(tensor)

    def knows(self, tensor: Any) -> bool:
        """Whether a tensor depends on the inputs, or is an attribute of the traced module."""
        return id(tensor) in self._values or id(tensor) in self._members

    def value_of(self, tensor: Any) -> Value | Constant:
        """Return the value of a tensor. Raises RuntimeError for one from elsewhere that needs a gradient."""
        found = self._values.get(id(tensor))
        if found is None:
            found = self._foreign(tensor)
            self._values[id(tensor)] = found
            self._alive.append(tensor)
        return found

    def _foreign(self, tensor: Any) -> Value | Constant:
        path = self._members.get(id(tensor))
        if path is not None:
            owner = next(frame for frame in self.frame.outwards() if frame.contains(path))
            return self._attributes.setdefault(path, Value(owner, path, path.rpartition(".")[2]))
        if tensor.requires_grad:
            with self.paused():
                shown = str(tensor)
            raise RuntimeError(
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or "
                f"detaching the gradient\nTensor:\n{shown}"
            )
        with self.paused():
            return Constant(tensor.detach().clone())

    def taken(self, given: Any) -> Any:
        """Return arguments with values in place of tensors."""
        if isinstance(given, TensorBase):
            return self.value_of(given)
        if isinstance(given, (TracedInt, TracedFloat)):
            return Number(given.value, given.word)
        if isinstance(given, (list, tuple)):
            return [self.taken(one) for one in given]
        if isinstance(given, dict):
            return {name: self.taken(one) for name, one in given.items()}
        return given

    def size(self, tensor: Any, dim: int | None) -> Any:
        """Return the size of a dimension as a tensor, None for the count of elements."""
        spec = tensor._sig.spec
        args = [self.value_of(tensor)] if dim is None else [self.value_of(tensor), dim]
        call = Call("aten::numel" if dim is None else "aten::size", None, args, {}, self.frame)
        with self.paused():
            made = mindtorch.tensor(spec.numel if dim is None else spec.shape[dim])
        value = Value(self.frame)
        call.outputs = [value]
        self.calls.append(call)
        self.bind(made, value)
        return made

    def read(self, tensor: Any) -> Any:
        """Return the number that an operator reads from a tensor: one that remembers where it is from."""
        with self.paused():
            number = tensor.item()
        if not self.knows(tensor) or type(number) not in (int, float):
            return number
        value = self.value_of(tensor)
        kept = TracedInt(number) if type(number) is int else TracedFloat(number)
        kept.value = value  # type: ignore[assignment]
        return kept if isinstance(value, Value) else number


_SHOWN = {int: "Int", float: "Double", bool: "Bool", str: "String", complex: "ComplexDouble", type(None): "None"}
"""What torch calls the types of values that are no tensors."""


def _warn_of_literal() -> None:
    """Warn where a program makes a tensor of its own values by a function that a trace does not see."""
    frame, made_by = sys._getframe(2), None
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("mindtorch"):
        if frame.f_code.co_name in _LITERALS:
            made_by = frame.f_code.co_name
        frame = frame.f_back
    if made_by is not None:
        warnings.warn_explicit(
            f"torch.{made_by} results are registered as constants in the trace. You can safely ignore this warning if you "
            "use this function to create tensors out of constant variables that would be the same every time you call this "
            "function. In any other case, this might cause the trace to be incorrect.",
            TracerWarning,
            frame.f_code.co_filename,
            frame.f_lineno,
        )


_LITERALS = ("tensor", "as_tensor", "from_numpy")


def _members(module: Any) -> dict[int, str]:
    """Return the paths of all parameters and buffers by their identity."""
    found: dict[int, str] = {}
    for path, one in module.named_modules():
        tables: tuple[Mapping[str, Any], ...] = (one._parameters, one._buffers)
        for table in tables:
            for name, tensor in table.items():
                if tensor is not None:
                    found.setdefault(id(tensor), f"{path}.{name}" if path else name)
    return found
