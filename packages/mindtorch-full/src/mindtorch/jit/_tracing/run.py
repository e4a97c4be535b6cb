"""Runs a program under the recorder, and makes the methods of what was recorded."""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import mindtorch
from mindtorch._tracing_state import tracing
from mindtorch.jit._warnings import TracerWarning
from mindtorch_storage.tensor_base import TensorBase

from .classes import Classes, Names
from .members import replaced
from .methods import Method, live, methods_of
from .recorder import Recorder
from .text import MethodText
from .values import Call, Value

CHANGING = (
    "Encountering a {kind} at the output of the tracer might cause the trace to be incorrect, this is only valid if the "
    "container structure does not change based on the module's inputs. Consider using a constant container instead "
    "(e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and "
    "know the side effects, pass strict=False to trace() to allow this behavior."
)
NO_OUTPUT = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
NOTHING = (
    "The traced function didn't return any values! Side-effects are not captured in traces, so it would be a no-op."
)


class Recorded:
    """What one run gave: the recorder with its calls, the inputs by name with their types, and the result."""

    def __init__(self, recorder: Recorder, inputs: list[Value], result: Any, kind: str, constants: list[Any]) -> None:
        self.recorder = recorder
        self.inputs = inputs
        self.result = result
        self.kind = kind
        self._constants = constants
        self.calls = live(recorder.calls, result)

    def top(self, name: str, take_name: Callable[[str], str]) -> Method:
        """Return the outermost method."""
        method = methods_of(self.calls, self.result, self.recorder.root, name, take_name)
        method.takes = self.inputs
        return method

    def text(self, method: Method, owner: str | None) -> str:
        """Return the code of a method that `top` gave, or of one in its body."""
        whole = method.frame is self.recorder.root
        return MethodText(
            method, owner, self._constants, self.result if whole else None, self.kind if whole else ""
        ).write()


def record(
    function: Callable[..., Any],
    inputs: tuple[Any, ...] | dict[str, Any],
    names: list[str],
    module: Any,
    space: Names,
    classes: Classes | None,
    strict: bool,
) -> Recorded:
    """Run `function` on `inputs` and return what it did. `names` are those of its parameters.

    Raises RuntimeError for inputs and outputs that a trace cannot have.
    """
    if tracing() is not None:
        raise RuntimeError("Tracing can't be nested")
    recorder = Recorder(module, space.linker, {} if classes is None else _scripts(module, classes))
    by_name = isinstance(inputs, dict)
    if by_name:
        pairs = [(name, inputs[name]) for name in names if name in inputs]  # type: ignore[call-overload]
    else:
        pairs = [(names[place] if place < len(names) else f"argument_{place + 1}", one) for place, one in
                 enumerate(inputs)]  # fmt: skip
    kinds = _input_kinds(tuple(one for _, one in pairs))
    values, given = [], []
    for (name, one), kind in zip(pairs, kinds, strict=True):
        value = Value(recorder.root, None, name, kind)
        values.append(value)
        given.append(_entered(recorder, one, value))
    with replaced(), _followed({} if classes is None else classes.modules, recorder), recorder:
        output: Any = (
            function(**dict(zip((name for name, _ in pairs), given, strict=True))) if by_name else function(*given)
        )
        if output is None:
            raise RuntimeError(NOTHING)
        result, kind = _leaving(recorder, output, strict)
    return Recorded(recorder, values, result, kind, space.constants)


def _input_kinds(inputs: tuple[Any, ...]) -> list[str]:
    """Return the types of inputs as TorchScript writes them. Raises RuntimeError for inputs that a trace cannot have."""
    try:
        kinds = list(map(_input_kind, inputs))
    except TypeError as error:
        raise RuntimeError(f"Tracer cannot infer type of {inputs}\n:{error}") from None
    if not all(map(_can_be_traced, inputs)):
        raise RuntimeError(
            f"Type 'Tuple[{', '.join(kinds)}]' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples "
            "of Tensors can be traced"
        )
    return kinds


def _can_be_traced(value: Any) -> bool:
    """Whether an input is a tensor, or a container of such."""
    if isinstance(value, (tuple, list)):
        return all(map(_can_be_traced, value))
    if isinstance(value, Mapping):
        return all(map(_can_be_traced, value.values()))
    return isinstance(value, TensorBase)


_NAMES = {bool: "bool", int: "int", float: "float", str: "str", complex: "complex", type(None): "NoneType"}


def _input_kind(value: Any) -> str:
    """Return the type of an input. Raises TypeError for lists and dictionaries of several types, or without elements."""
    if isinstance(value, TensorBase):
        return "Tensor"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(_input_kind, value))}]"
    if isinstance(value, list):
        if not value:
            raise TypeError("List trace inputs must have elements")
        try:
            kinds = list(map(_input_kind, value))
        except TypeError as error:
            raise TypeError(f"Could not infer type of list element: {error}") from None
        return f"List[{_only(kinds, 'List inputs to traced functions must have consistent element type')}]"
    if isinstance(value, Mapping):
        if not value:
            raise TypeError("Dictionary inputs must have entries")
        refusal = "Dictionary inputs to traced functions must have consistent type"
        return f"Dict[{_only(map(_input_kind, value), refusal)}, {_only(map(_input_kind, value.values()), refusal)}]"
    return _NAMES.get(type(value), type(value).__name__)


def _only(kinds: Iterable[str], refusal: str) -> str:
    first, *rest = kinds
    for kind in rest:
        if kind != first:
            raise TypeError(f"{refusal}. Found {first} and {kind}")
    return first


def _entered(recorder: Recorder, given: Any, value: Value) -> Any:
    """Let the tensors of an input be known, and return the input: containers are new, and so is a tensor that is known."""
    if isinstance(given, TensorBase):
        if recorder.knows(given):
            given = mindtorch.ops.aten.alias(given)
        recorder.bind(given, value)
        return given
    keys = list(given) if isinstance(given, Mapping) else None
    elements = list(given.values()) if isinstance(given, Mapping) else list(given)
    parts = [Value(recorder.root, kind=_input_kind(one)) for one in elements]
    if keys is None:
        call = Call("prim::unpack", None, [value], {}, recorder.root)
        call.outputs, call.spread = parts, True
        recorder.calls.append(call)
    else:
        for key, part in zip(keys, parts, strict=True):
            call = Call("aten::__getitem__", None, [value, key], {}, recorder.root)
            call.outputs = [part]
            recorder.calls.append(call)
    made = [_entered(recorder, one, part) for one, part in zip(elements, parts, strict=True)]
    if keys is not None:
        return dict(zip(keys, made, strict=True))
    if isinstance(given, tuple) and hasattr(given, "_fields"):
        return type(given)(*made)
    return type(given)(made)


def _leaving(recorder: Recorder, output: Any, strict: bool) -> tuple[Any, str]:
    """Return the values of an output and its type."""
    if isinstance(output, TensorBase):
        return recorder.value_of(output), "Tensor"
    if isinstance(output, tuple):
        parts = [_leaving(recorder, one, strict) for one in output]
        return tuple(one for one, _ in parts), f"Tuple[{', '.join(kind for _, kind in parts)}]"
    if isinstance(output, list):
        if strict:
            warnings.warn(CHANGING.format(kind="list"), TracerWarning, stacklevel=5)
        parts = [_leaving(recorder, one, strict) for one in output]
        return [one for one, _ in parts], f"List[{parts[0][1] if parts else 'Tensor'}]"
    if isinstance(output, dict):
        if strict:
            raise RuntimeError(CHANGING.format(kind="dict"))
        made = {key: _leaving(recorder, one, strict) for key, one in output.items()}
        kinds = sorted({kind for _, kind in made.values()})
        if len(kinds) > 1 or not all(isinstance(key, str) for key in made):
            raise RuntimeError(NO_OUTPUT)
        return {key: one for key, (one, _) in made.items()}, f"Dict[str, {kinds[0] if kinds else 'Tensor'}]"
    raise RuntimeError(NO_OUTPUT)


@contextlib.contextmanager
def _followed(modules: Mapping[str, Any], recorder: Recorder) -> Iterator[None]:
    """In the block, the recorder knows which submodule is running."""
    changed: list[tuple[Any, Any]] = []
    try:
        for path, one in modules.items():
            if path and not any(one is other for other, _ in changed):
                changed.append((one, one.__dict__.get("forward")))
                one.__dict__["forward"] = _following(one.forward, path, recorder)
        yield
    finally:
        for one, before in changed:
            if before is None:
                del one.__dict__["forward"]
            else:
                one.__dict__["forward"] = before


def _scripts(module: Any, classes: Classes) -> dict[int, tuple[str, str]]:
    """Return the paths and classes of the compiled modules in a traced one, by their identity."""
    found = {}
    for path, code in classes.compiled.items():
        names = classes.space.linker.bring(code._program)
        inner = module.get_submodule(path)
        for below, one in code.named_modules():
            place = f"{path}.{below}" if below else path
            found[id(inner.get_submodule(below))] = place, names[one._qualified_name]
    return found


def _following(forward: Callable[..., Any], path: str, recorder: Recorder) -> Callable[..., Any]:
    @functools.wraps(forward)
    def follow(*args: Any, **kwargs: Any) -> Any:
        with recorder.within(path):
            return forward(*args, **kwargs)

    return follow


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters of a function that can be given by place."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a builtin that does not tell
        return []
    return [one.name for one in found if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
