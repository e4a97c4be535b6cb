"""Methods of a recording: for every module call what it takes from outside, what it gives, and its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .values import Call, Frame, Value, values_in


class Method:
    """One call of a module as a method of its class."""

    def __init__(self, frame: Frame, name: str) -> None:
        self.frame = frame
        self.name = name
        self.takes: list[Value] = []
        self.gives: list[Value] = []
        self.attributes: list[Value] = []
        self.body: list[Call | Method] = []


def live(calls: list[Call], result: Any) -> list[Call]:
    """Return the calls that the result needs, and those that write."""
    needed = set(map(id, values_in(result)))
    kept = []
    for call in reversed(calls):
        if call.writes or any(id(one) in needed for one in call.outputs):
            needed.update(map(id, call.inputs()))
            kept.append(call)
    return kept[::-1]


def methods_of(calls: list[Call], result: Any, root: Frame, named: str, take_name: Callable[[str], str]) -> Method:
    """Return the method of the outermost call, whose body has the methods of the calls in it.

    `take_name(path)` gives the next free name of a method of the module at `path`.
    """
    top = Method(root, named)
    made = {id(root): top}

    def method(frame: Frame) -> Method:
        found = made.get(id(frame))
        if found is None:
            found = made[id(frame)] = Method(frame, take_name(frame.path))
            method(frame.parent).body.append(found)  # type: ignore[arg-type]
        return found

    for call in calls:
        method(call.frame).body.append(call)
    for call in calls:
        for value in call.inputs():
            _route(value, call.frame, method)
    for value in values_in(result):
        _route(value, root, method)
    return top


def _route(value: Value, reader: Frame, method: Callable[[Frame], Method]) -> None:
    """Let a value come to where it is read: out of the calls that it was made in, into those that the reader is in."""
    around = list(reader.outwards())
    makers = list(value.frame.outwards())
    common = next(frame for frame in makers if frame in around)
    for frame in makers[: makers.index(common)]:
        _add(method(frame).gives, value)
    for frame in around[: around.index(common)]:
        _add(method(frame).takes, value)
    if value.path is not None:
        _add(method(value.frame).attributes, value)


def _add(values: list[Value], value: Value) -> None:
    if not any(value is one for one in values):
        values.append(value)
