"""Which device is current in a thread, and what a device is asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from mindtorch_npu import runtime, tracing
from mindtorch_npu.acl import loader
from mindtorch_npu.acl.errors import check

_HBM, _DDR = 1, 0


@dataclass(frozen=True)
class Device:
    """A device by type and index, where no tensor library brings a class of its own."""

    type: str
    index: int | None = None

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


class _Thread(threading.local):
    device = 0


_thread = _Thread()
_make: list[Callable[[str, int], Any]] = [Device]
_meant: list[Callable[[str], str]] = [str]


def set_device_class(make: Callable[[str, int], Any]) -> None:
    """Let the `device` of streams and events be what `make("npu", index)` returns."""
    _make[0] = make


def set_device_names(meant_by: Callable[[str], str]) -> None:
    """Let a device type mean what `meant_by` returns, for programs written for another device."""
    _meant[0] = meant_by


def make_device(index: int) -> Any:
    """Return the device of an index, of the class that is installed."""
    return _make[0]("npu", index)


def device_index(device: object = None, optional: bool = True, initialise: bool = True) -> int:
    """Return the index that `device` names: an int, a string, a device, or None for the current one.

    The current device is told after initialising the runtime, unless it is asked for without.
    Raises ValueError with torch's texts for another device type, and where an index must be given but is not.
    """
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    kind, index = _parts(device)
    if device is not None and (kind is None or _meant[0](kind) != "npu"):
        raise ValueError(f"Expected a npu device, but got: {device}")
    if index is None:
        if not optional:
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
        return current_device() if initialise else _thread.device
    return int(index)


def _parts(device: object) -> tuple[str | None, int | None]:
    if device is None:
        return None, None
    if isinstance(device, str):
        match = re.fullmatch(r"([a-z]+)(?::(\d+))?", device)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{device}'")
        return match.group(1), int(match.group(2)) if match.group(2) else None
    return getattr(device, "type", None), getattr(device, "index", None)


def current_device() -> int:
    """Return the index of the thread's current device, initialising the runtime.

    >>> torch.npu.current_device()
    0
    """
    runtime.init()
    return _thread.device


def set_device(device: int) -> None:
    """Make a device the thread's current one; a negative index changes nothing.

    Raises AclError for a device that is not there.

    >>> torch.npu.set_device(1)
    >>> torch.npu.current_device()
    1
    >>> torch.npu.set_device(0)
    """
    index = device_index(device)
    if index >= 0:
        runtime.on(index)
        _thread.device = index


def exchange(index: int) -> int:
    """Make `index` current unless it is negative, and return which was before, or -1."""
    if index < 0:
        return -1
    runtime.init()
    before = _thread.device
    if before != index:
        set_device(index)
    return before


class device:
    """Context manager: another current device within the block; None or a negative index changes nothing.

    >>> with torch.npu.device(1):
    ...     print(torch.ones(1, device="npu").device)
    npu:1
    """

    def __init__(self, device: int | None) -> None:
        self.idx = -1 if device is None else device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = exchange(self.idx)

    def __exit__(self, *error: object) -> None:
        self.idx = exchange(self.prev_idx)


class device_of(device):
    """Context manager: the current device is that of a tensor or storage; others change nothing.

    >>> with torch.npu.device_of(torch.ones(1, device="npu:1")):
    ...     print(torch.npu.current_device())
    1
    """

    def __init__(self, obj: Any) -> None:
        place: Any = getattr(obj, "device", None)
        super().__init__(place.index if getattr(place, "type", None) == "npu" else -1)


def synchronize(device: object = None) -> None:
    """Wait for all streams of a device. Raises AclError for what failed on them.

    >>> x = torch.ones(2, device="npu") + 1
    >>> torch.npu.synchronize()
    >>> x.tolist()
    [2.0, 2.0]
    """
    index = device_index(device)
    acl = runtime.on(index)
    try:
        check(acl.rt.synchronize_device(), "acl.rt.synchronize_device()", acl)
        tracing.tell("device_synchronization")
    finally:
        restore(acl)


def restore(acl: ModuleType) -> None:
    """Make the thread's current device ACL's current one again, after `runtime.on` of another."""
    runtime.on(_thread.device)


def check_index(device: object, text: str = "Invalid device id") -> int:
    """Return the index of a device that exists; AssertionError with torch's text otherwise."""
    index = device_index(device)
    if not 0 <= index < runtime.device_count():
        raise AssertionError(text)
    return index


def soc_name() -> str:
    """Return the chip's name, which says so when it is simulated. Raises what initialising raises."""
    name = runtime.init().get_soc_name() or "Ascend (name unknown)"
    return f"{name} (simulated)" if loader.simulated() else name


def mem_get_info(device: object = None) -> tuple[int, int]:
    """Return free and total bytes of a device's memory, those of other processes counted as taken.

    >>> free, total = torch.npu.mem_get_info()
    >>> 0 < free <= total
    True
    """
    index = device_index(device)
    before = current_device()
    acl = runtime.on(index)
    try:
        for attribute in (_HBM, _DDR):  # an unsupported attribute answers zeros and success
            free, total, code = acl.rt.get_mem_info(attribute)
            check(code, f"acl.rt.get_mem_info({attribute})", acl)
            if total > 0:
                return int(free), int(total)
    finally:
        runtime.on(before)
    return 0, 0
