"""A simulated Ascend host: the vendor's Python module `acl` and its operator libraries, over host memory.

It stands in for the vendor's libraries, never for code of this package, and only when the environment asks for it:
`MINDTORCH_NPU_SIMULATOR="Ascend910B3:2,memory=1GiB"`. Streams run on threads of their own; device addresses are no host
addresses; memory that was not written or has been freed is poison; errors and limits are the chip's.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindtorch_npu.simulator import recording
from mindtorch_npu.simulator.acl import make_module
from mindtorch_npu.simulator.machine import Machine
from mindtorch_npu.simulator.settings import VARIABLE, parse, wanted
from mindtorch_npu.simulator.smi import answer

_current: dict[str, Any] = {}
_making = threading.RLock()
"""Held while a part of the host is made, of which threads that ask at the same time get one and the same."""


def _part(name: str, make: Callable[[], Any]) -> Any:
    if name not in _current:
        with _making:
            if name not in _current:
                _current[name] = make()
    return _current[name]


def machine() -> Machine:
    """Return the simulated host of this process, made at the first call from the environment's settings."""
    made: Machine = _part("machine", lambda: Machine(parse(os.environ[VARIABLE])))
    return made


def load() -> ModuleType:
    """Return the simulated `acl`. Raises ValueError when the settings are wrong."""
    module: ModuleType = _part("acl", lambda: make_module(machine()))
    return module


def replace(settings: str) -> Machine:
    """Simulate another host from now on, forgetting the one before; for tests."""
    _current["machine"] = Machine(parse(settings))
    _current["acl"] = make_module(_current["machine"])
    _current.pop("library", None)
    _current.pop("collectives", None)
    return machine()


def chip() -> str:
    """Return the chip's name, which says that it is simulated; makes no host."""
    return f"{parse(os.environ[VARIABLE]).chip} (simulated)"


def smi(index: int, topic: str, seconds: float) -> str:
    """Return what the simulated driver's tool says; opens no device. TimeoutExpired for one that hangs."""
    return answer(parse(os.environ[VARIABLE]), index, topic, seconds)


def libraries() -> Any:
    """Return the simulated operator libraries; needs numpy."""
    # Imported late: it needs numpy, which the core must not.
    return _part("library", lambda: importlib.import_module("mindtorch_npu.simulator.library").Library(machine()))


def collectives() -> Any:
    """Return the simulated library of collectives; needs numpy and ml_dtypes."""
    # Imported late: it needs numpy, which the core must not.
    return _part("collectives", lambda: importlib.import_module("mindtorch_npu.simulator.hccl").Collectives(machine()))


def function(name: str) -> int | None:
    """Return the address of a C function of the runtime that pyACL lacks, None where there is none of the name."""
    return recording.function(machine(), name)


def leaks() -> list[str]:
    """Return the vendor's objects that were made and neither run nor destroyed, in words; they cost memory for ever."""
    return _current["library"].leaks() if "library" in _current else []


__all__ = [
    "VARIABLE",
    "chip",
    "collectives",
    "function",
    "leaks",
    "libraries",
    "load",
    "machine",
    "replace",
    "smi",
    "wanted",
]
