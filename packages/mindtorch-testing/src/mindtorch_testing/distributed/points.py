"""Kill this process at a named point of its way into a process group.

`MINDTORCH_KILL_AT=RANK:POINT`, where POINT is one of `POINTS`, is obeyed by programs that call `arm()`.
"""

import functools
import os
import signal
from collections.abc import Callable
from typing import Any

from mindtorch_distributed.mpi import library, world
from mindtorch_distributed.mpi.communicator import MpiCommunicator
from mindtorch_distributed.mpi.pmi import PmiRelay

VARIABLE = "MINDTORCH_KILL_AT"


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _before(owner: Any, name: str, dies: Callable[..., object] = _die) -> Callable[[], None]:
    def arm() -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        def replaced(*arguments: Any, **named: Any) -> Any:
            dies(*arguments)
            return function(*arguments, **named)

        setattr(owner, name, replaced)

    return arm


def _after(owner: Any, name: str, dies: Callable[..., object] = _die) -> Callable[[], None]:
    def arm() -> None:
        function = getattr(owner, name)

        @functools.wraps(function)
        def replaced(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            dies(*arguments)
            return result

        setattr(owner, name, replaced)

    return arm


def _at_command(command: str) -> Callable[..., None]:
    def dies(relay: object, line: bytes, *_: object) -> None:
        if f"cmd={command}".encode() in line:
            _die()

    return dies


POINTS: dict[str, Callable[[], None]] = {
    "before the store": _before(library, "load"),
    "before the server": _before(world, "_enter"),
    "before the start": _before(library, "start"),
    "at the first question": _before(PmiRelay, "_ask"),
    "before a barrier": _before(PmiRelay, "_ask", _at_command("barrier_in")),
    "after a barrier": _after(PmiRelay, "_ask", _at_command("barrier_in")),
    "before a value": _before(PmiRelay, "_ask", _at_command("get ")),
    "after the start": _after(library, "start"),
    "before the group": _before(world, "_tag"),
    "before the first read": _before(MpiCommunicator, "_try_reading"),
}
"""The points, in their order, and what makes the process end there."""


def arm() -> None:
    """Obey the variable."""
    rank, _, point = os.environ.get(VARIABLE, "").partition(":")
    if point and rank == os.environ["RANK"]:
        POINTS[point]()
