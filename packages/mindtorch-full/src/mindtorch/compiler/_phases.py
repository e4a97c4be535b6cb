"""What the running code is part of: a compiled function, an export, or neither. It is so by thread, as in torch.

Programs and libraries take other ways in compiled code (`torch.compiler.is_compiling`), so a function that `torch.compile`
returns says that it is compiled, though its calls run as Python.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Phase(enum.Enum):
    """What the running code is part of."""

    NONE = "none"
    COMPILED = "compiled"
    EXPORTED = "exported"


class _Running(threading.local):
    phase = Phase.NONE


running = _Running()


@contextmanager
def entered(phase: Phase) -> Iterator[None]:
    """Context: the code of the block is part of `phase`."""
    before, running.phase = running.phase, phase
    try:
        yield
    finally:
        running.phase = before


class Stances:
    """How compiled functions behave, in all threads: as `torch.compiler.set_stance` was last told."""

    stance = "default"


def of_compiled() -> Phase:
    """Return the phase of a compiled function's calls: none in the stance `force_eager`."""
    return Phase.NONE if Stances.stance == "force_eager" else Phase.COMPILED
