"""What is recorded of a call of torch's functions: its target, and its arguments with references in place of tensors.

Numbers are kept apart from the rest, so that two recordings that differ in numbers alone are seen to be of one form.
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

import mindtorch as torch
from mindtorch_dispatch.frames import is_own


@dataclass(frozen=True, slots=True)
class Ref:
    """A tensor of a recording: an input (`call` is None, `place` its position), or a result of a call at a path in it."""

    call: int | None
    place: int = 0
    path: tuple[Any, ...] = ()


@dataclass(slots=True)
class Recorded:
    """One call: an operation of fx, its target and arguments, and the name that the program gives the result."""

    op: str
    target: Any
    args: Any
    kwargs: Any
    hint: str | None = None
    value: Any = None


class NotExpressible(Exception):  # no error, an answer
    """An argument that a graph cannot hold."""


_PLAIN = (str, bytes, torch.dtype, torch.device, torch.layout, torch.memory_format, type(None), type(Ellipsis), bool)


def mapped(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """Return an argument with `tensor` applied to its tensors; NotExpressible where a graph cannot hold it."""
    kind = type(value)
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if kind in (int, float, complex) or isinstance(value, _PLAIN):
        return value
    if isinstance(value, torch.Size):
        return tuple(value)
    if kind in (tuple, list):
        return kind(mapped(one, tensor) for one in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(mapped(one, tensor) for one in value))
    if kind is dict:
        return {key: mapped(one, tensor) for key, one in value.items()}
    if kind is slice:
        return slice(*(mapped(one, tensor) for one in (value.start, value.stop, value.step)))
    if callable(value):
        return value
    raise NotExpressible(kind)


class Form:
    """The form of a recording, which is hashable, and its numbers, in order."""

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.numbers: list[Any] = []
        self.places: dict[tuple[int, ...], int] = {}
        self.marked: set[int] = set()
        """The numbers that the program said vary."""

    def add(self, value: Any, path: tuple[int, ...] | None = None) -> None:
        """Append a value. Numbers of calls are found again by their `path`; those of geometries have none."""
        kind = type(value)
        if kind in (int, float):
            self.tokens.append(kind)
            if path is not None:
                self.places[path] = len(self.numbers)
            self.numbers.append(value)
        elif isinstance(value, dict):
            self.tokens.append((dict, tuple(value)))
            for index, one in enumerate(value.values()):
                self.add(one, path and (*path, index))
        elif isinstance(value, (tuple, list)):
            self.tokens.append((kind, len(value)))
            for index, one in enumerate(value):
                self.add(one, path and (*path, index))
        elif kind is slice:
            self.tokens.append(slice)
            for index, one in enumerate((value.start, value.stop, value.step)):
                self.add(one, path and (*path, index))
        elif kind is complex:
            self.tokens.append((kind, repr(value)))
        else:
            self.tokens.append(value)

    def fix(self, *values: Any) -> None:
        """Append what must be the same."""
        self.tokens.extend(values)


_OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "true_divide": operator.truediv,
    "floordiv": operator.floordiv,
    "floor_divide": operator.floordiv,
    "truediv": operator.truediv,
    "remainder": operator.mod,
    "mod": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "add_": operator.iadd,
    "sub_": operator.isub,
    "mul_": operator.imul,
    "div_": operator.itruediv,
    "iadd": operator.iadd,
    "isub": operator.isub,
    "imul": operator.imul,
    "itruediv": operator.itruediv,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "neg": operator.neg,
    "invert": operator.invert,
    "bitwise_not": operator.invert,
}
"""What a function or method does as an operator of Python; methods of special names without their underscores."""

_REFLECTED = {f"r{name}": _OPERATORS[name] for name in ("sub", "div", "truediv", "floordiv", "mod", "pow", "matmul")}
_INSTRUCTIONS = ("BINARY_OP", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
_SUBSCRIPTS = {"getitem": operator.getitem, "setitem": operator.setitem}


@functools.lru_cache(maxsize=4096)
def instruction(code: CodeType, at: int) -> tuple[bool, str | None]:
    """Return whether the instruction at `at` is an operator, and the local variable that takes its result."""
    found = list(dis.get_instructions(code))
    place = next((index for index, one in enumerate(found) if one.offset == at), None)
    if place is None:
        return False, None
    following = next((other for other in found[place + 1 :] if other.opname not in ("CACHE", "NOP")), None)
    hint = str(following.argval) if following is not None and following.opname == "STORE_FAST" else None
    return found[place].opname in _INSTRUCTIONS, hint


def calling_frame() -> Any:
    """Return the frame that calls the function that is recorded: below those that bring the call here."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and module_of(frame).startswith(_ON_THE_WAY):
        frame = frame.f_back
    return frame


def module_of(frame: Any) -> str:
    """Return the name of a frame's module, as torch's where it is one of `mindtorch`."""
    return str(frame.f_globals.get("__name__", "")).removeprefix("mind")


def program_frame(frame: Any) -> Any:
    """Return the frame of the program below `frame`, which may be one of a module of torch."""
    nearest = frame
    while is_own(frame):
        frame = frame.f_back
        if frame is None:
            return nearest
    return frame


_ON_THE_WAY = (
    "torch_dispatch.",
    "torch_autograd.",
    "torch_runtime.",
    "torch.overrides",
    "torch.tensor.",
    "torch._overridable",
)


def target_of(func: Any, args: tuple[Any, ...], frame: Any) -> tuple[str, Any, tuple[Any, ...], str | None]:
    """Return operation, target and arguments of a call that the program makes in `frame`, and the name of its result."""
    as_operator, hint = instruction(frame.f_code, frame.f_lasti)
    name = getattr(func, "__name__", "")
    bare = name.strip("_") if name.startswith("__") else name
    if bare in _SUBSCRIPTS:
        return "call_function", _SUBSCRIPTS[bare], args, hint
    if as_operator and bare in _OPERATORS:
        return "call_function", _OPERATORS[bare], args, hint
    if as_operator and bare in _REFLECTED and len(args) == 2:
        return "call_function", _REFLECTED[bare], (args[1], args[0]), hint
    if name == "numpy_T":
        return "call_function", getattr, (args[0], "T"), hint
    if args and isinstance(args[0], torch.Tensor) and _is_method(func, name):
        return "call_method", name, args, hint
    return "call_function", func, args, hint


def _is_method(func: Any, name: str) -> bool:
    if getattr(torch.Tensor, name, None) is func:
        return True
    return repr(func).startswith("<method ")
