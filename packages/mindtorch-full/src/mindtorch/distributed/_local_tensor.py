"""`torch.distributed._local_tensor`: all ranks of a program in one process. Not offered; code that asks for it runs as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes

_P = ParamSpec("_P")
_R = TypeVar("_R")

_refused = classes(__name__, "LocalIntNode LocalTensor LocalTensorMode LocalRunnerMode")
LocalIntNode, LocalTensor = _refused["LocalIntNode"], _refused["LocalTensor"]
LocalTensorMode, LocalRunnerMode = _refused["LocalTensorMode"], _refused["LocalRunnerMode"]


def local_tensor_mode() -> None:
    """Return the mode in force: None, as none can be made."""


def enabled_local_tensor_mode() -> None:
    """Return the mode in force that is not switched off: None, as none can be made."""


@contextmanager
def maybe_disable_local_tensor_mode() -> Iterator[None]:
    """Run a block without the mode: it is never in force."""
    yield


def maybe_run_for_local_tensor(func: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that runs for every rank of the mode in force: for the one rank that a process is."""
    return func


adopt(globals())
