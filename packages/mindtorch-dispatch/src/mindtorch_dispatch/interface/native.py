"""What a native call path (mindtorch-runtime) installs: it runs planned calls without Python. None is installed here."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS
from types import FunctionType
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from .handover import Handover


class NativePath:
    """What was installed, None while there is nothing.

    `caller(packet, call, method)` returns what runs the planned calls of a packet's function or method and leaves others to
    `call`; `caller(packet, call, False, row)` what runs those of one overload. `shortcut` is as `shortcut_to`, for what
    `caller` returned, and `guard` as `guarded_by`. `types` are those of packets' functions and methods. `fill(records)`
    runs what a pipeline has put down, from the end of the list on, and takes it off; it stops before what is Python's to
    run, and before what raises.
    `tensor_class` holds `wired.tensor_class` where C reads it without a call.
    `view_of(tensor, items)` is what a tuple of ints, slices, None and `...` selects, None where it holds anything else; it
    calls the methods `select`, `slice` and `unsqueeze` that `subscript_by` was given, with the end of an endless slice.
    `tensor_over(array, specs)` is a tensor over the memory of an array that is dense in C's order and may be written, when
    its spec stands in `specs` under its type's number and its extents, else None.
    `copied(object, names)` is the function of this module.
    `propagate(task, starts, roots)` runs the backward passes that nobody watches, as autograd's engine does, and empties
    `roots`. `plain_arrays(lists)` and `note_writes(lists, writes)` are those of `extend.devices`.
    `launches` and `form` serve backends whose vendor computes in two phases: `launches(array, allocation, ...)` keeps what
    was planned and launches it again without Python, `form(launches, row, ...)` is the form for C of a row's kernel.
    `memory` hands over a capsule whose function readies a thread for large arrays, from the backend of the main memory:
    `MINDTORCH_MEMORY_CAPSULE` of mindtorch/kernel.h.
    """

    __slots__ = (
        "caller",
        "copied",
        "fill",
        "form",
        "guard",
        "launches",
        "memory",
        "note_writes",
        "plain_arrays",
        "propagate",
        "shortcut",
        "subscript_by",
        "tensor_class",
        "tensor_over",
        "types",
        "view_of",
    )

    def __init__(self) -> None:
        self.tensor_class: list[type] = [TensorBase]
        self.types: tuple[type, ...] = (FunctionType,)
        self.caller: Callable[..., Any] | None = None
        self.fill: Callable[[list[Any]], None] | None = None
        self.guard: Callable[[Callable[..., Any], Callable[..., Any], str], Any] | None = None
        self.subscript_by: Callable[[Any, Any, Any, int], None] | None = None
        self.view_of: Callable[[Any, Any], Any] | None = None
        self.shortcut: Callable[[Any, type, tuple[Any, ...], Callable[..., Any]], Any] | None = None
        self.propagate: Callable[[Any, list[Any], list[Any]], None] | None = None
        self.copied: Callable[[Any, tuple[str, ...]], Any] | None = None
        self.plain_arrays: Callable[[tuple[list[Any], ...]], tuple[list[Any], ...] | None] | None = None
        self.note_writes: Callable[[tuple[list[Any], ...], bytes], None] | None = None
        self.tensor_over: Callable[[Any, dict[tuple[int, ...], Any]], Any] | None = None
        self.launches: Callable[..., Any] | None = None
        self.form: Callable[..., Any] | None = None
        self.memory: Handover[Any] = Handover()


native_path = NativePath()
"""The process's native call path. It serves what `call.make_call` makes after it was installed."""


def shortcut_to(
    form: Callable[..., Any], kind: type, constants: tuple[Any, ...], otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the method `otherwise(self, argument)`, made without Python where that is planned: for an argument of type
    `kind` it gives what `form(self, *constants, argument)` gives, but says in words of its own what is wrong. With the
    type of None it is `otherwise(self)`, which gives what `form(self, *constants)` gives."""
    if native_path.shortcut is None:
        return otherwise
    return _named(native_path.shortcut(form, kind, constants, otherwise), otherwise)


def copied(given: Any, names: tuple[str, ...]) -> Any:
    """Return an object of the class of `given` with the same in the slots `names`; those that are unset stay so."""
    if native_path.copied is not None:
        return native_path.copied(given, names)
    made = object.__new__(type(given))
    for name in names:
        if hasattr(given, name):
            setattr(made, name, getattr(given, name))
    return made


def guarded_by(asking: Callable[..., Any], function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the method `name` of tensors: `asking`, which calls `function` for a plain tensor while no mode asks for
    calls of functions. That much is found out without Python, and of what small methods answer, the answer too."""
    if native_path.guard is None:
        return asking
    return _named(native_path.guard(function, asking, name), asking)


def _named(made: Any, model: Callable[..., Any]) -> Callable[..., Any]:
    for name in WRAPPER_ASSIGNMENTS:
        setattr(made, name, getattr(model, name))
    return made  # type: ignore[no-any-return]
