"""The modules whose functions a call runs."""

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

from mindtorch._naming import adopt

__all__ = ["trace_dependencies"]


def _module_of_call(frame: FrameType) -> str | None:
    name = frame.f_code.co_name
    for scope in (frame.f_globals, frame.f_locals):
        if name in scope:
            return scope[name].__module__
    method = getattr(frame.f_locals.get("self"), name, None)
    return method.__module__ if method else None


def trace_dependencies(callable: Callable[..., Any], inputs: Iterable[tuple[Any, ...]]) -> list[str]:
    """Call a function with each of the inputs, and return the names of the modules of all Python functions that ran.

    >>> torch.package.analyze.trace_dependencies(lambda x: x + 1, [(1,)])
    []
    """
    used: set[str] = set()

    def note(frame: FrameType, event: str, arg: object) -> None:
        module = _module_of_call(frame) if event == "call" else None
        if module:
            used.add(module)

    try:
        sys.setprofile(note)
        for given in inputs:
            callable(*given)
    finally:
        sys.setprofile(None)
    return list(used)


adopt(globals())
