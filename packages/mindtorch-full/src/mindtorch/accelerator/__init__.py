"""`torch.accelerator`: the Ascend devices; where there are none, there is no accelerator, and using one raises."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch._absent import DeviceLike
from mindtorch._naming import adopt
from mindtorch.accelerator import memory
from mindtorch.accelerator._none import refuse as _refuse
from mindtorch.accelerator._npu import accelerator as _accelerator
from mindtorch.accelerator.memory import *  # noqa: F403 - the names of its __all__
from mindtorch_storage.device import device as _Device

__all__ = [
    *memory.__all__,
    "Graph",
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "get_device_capability",
    "is_available",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]


class Graph:
    """A recorded graph of the accelerator's operations; making one raises.

    >>> torch.accelerator.Graph()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """

    def __new__(
        cls, keep_graph: bool = False, *, pool: tuple[int, int] | None = None, capture_error_mode: str = "default"
    ) -> NoReturn:
        _refuse()


Graph.__module__ = "torch.accelerator.graphs"


class device_index:
    """Context manager that selects an accelerator by index; None selects none, everything else raises on entry.

    >>> with torch.accelerator.device_index(None):
    ...     print("no device was chosen")
    no device was chosen
    """

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is None:
            return
        npu = _accelerator()
        if npu is None:
            _refuse()
        self.prev_idx = npu.current_device()
        npu.set_device(self.idx)

    def __exit__(self, *exc_info: object) -> None:
        if self.prev_idx >= 0:
            _accelerator().set_device(self.prev_idx)


def is_available() -> bool:
    """Return whether there is an accelerator.

    >>> torch.accelerator.is_available()
    False
    """
    return _accelerator() is not None


def device_count() -> int:
    """Return the number of accelerators.

    >>> torch.accelerator.device_count()
    0
    """
    npu = _accelerator()
    return 0 if npu is None else int(npu.device_count())


def current_accelerator(check_available: bool = False) -> _Device | None:
    """Return the device type of the accelerator, None where there is none.

    >>> torch.accelerator.current_accelerator()
    """
    return None if _accelerator() is None else _Device("npu")


def current_device_index() -> int:
    """Return the index of the current accelerator. Raises RuntimeError where there is none.

    >>> torch.accelerator.current_device_index()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    npu = _accelerator()
    return _refuse() if npu is None else int(npu.current_device())


def set_device_index(device: DeviceLike, /) -> None:
    """Select an accelerator; a negative index selects none. Raises RuntimeError where there is none.

    >>> torch.accelerator.set_device_index(0)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    if isinstance(device, int) and device < 0:
        return
    if device is None:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    npu = _accelerator()
    if npu is None:
        _refuse(device)
    npu.set_device(device)


def get_device_capability(device: DeviceLike = None, /) -> dict[str, Any]:
    """Return what an accelerator is capable of; raises, there is none.

    >>> torch.accelerator.get_device_capability()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    _refuse(device)


def current_stream(device: DeviceLike = None, /) -> Any:
    """Return the current stream of an accelerator. Raises RuntimeError where there is none.

    >>> torch.accelerator.current_stream()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    npu = _accelerator()
    return _refuse(device) if npu is None else npu.current_stream(device)


def set_stream(stream: Any) -> None:
    """Select a stream. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.set_stream(torch.Stream("cpu"))
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    npu = _accelerator()
    if npu is None:
        _refuse()
    npu.set_stream(stream)


def synchronize(device: DeviceLike = None, /) -> None:
    """Wait for an accelerator. Raises RuntimeError where there is none.

    >>> torch.accelerator.synchronize()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    npu = _accelerator()
    if npu is None:
        _refuse(device)
    npu.synchronize(device)


def _old_name(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function`` under the name it had, which warns first."""

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"Use `{function.__name__}` instead.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return renamed


current_device_idx = _old_name(current_device_index)
set_device_idx = _old_name(set_device_index)

adopt(globals())
