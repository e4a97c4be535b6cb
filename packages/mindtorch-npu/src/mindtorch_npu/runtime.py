"""The Ascend devices of this host: what can be said without initialising them, and initialising them once.

Queries never raise and never initialise, so that a program may ask and then fork. Initialising refuses with the reason.
"""

import atexit
import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock, local
from types import ModuleType

from mindtorch_npu.acl import codes, configuration, loader
from mindtorch_npu.acl.errors import AclError, check

DEVICES = Path("/dev")

# What a vendor module may raise when it is asked something on a host that is not fit for it.
_VENDOR_ERRORS = (ImportError, OSError, RuntimeError, TypeError, ValueError, AttributeError)

_lock = RLock()
_acl: ModuleType | None = None
_owner = False
_bad_fork = False
_fork_hook_set = False
_thread = local()
_at_init: list[tuple[Callable[[], None], list[str]]] = []
_at_exit: list[Callable[[], None]] = []
_at_open: list[Callable[[ModuleType], None]] = []
_at_change: list[Callable[[], None]] = []
_open: set[int] = set()
_set_counts: dict[int, int] = {}
"""How often each device was made current; ACL counts it, and gives the device back when it was reset as often."""


class NpuUnavailableError(RuntimeError):
    """The Ascend runtime cannot be used in this process; the text says why and what to do.

    >>> issubclass(torch.npu.NpuUnavailableError, RuntimeError)
    True
    """


class DeferredNpuCallError(Exception):
    """A call that had waited for the runtime to be initialised failed then; the text says where it was made.

    >>> issubclass(torch.npu.DeferredNpuCallError, Exception)
    True
    """


@dataclass(frozen=True)
class DeviceNode:
    """A device file of the driver."""

    path: Path
    accessible: bool


def device_nodes(folder: Path = DEVICES) -> list[DeviceNode]:
    """Return the driver's devices by number; `/dev/davinci_manager` and its like are not devices."""
    numbered = ((re.fullmatch(r"davinci(\d+)", path.name), path) for path in folder.glob("davinci*"))
    found = sorted((int(match.group(1)), path) for match, path in numbered if match)
    return [DeviceNode(path, os.access(path, os.R_OK | os.W_OK)) for _, path in found]


def unavailable_reason(folder: Path = DEVICES) -> str | None:
    """Return why no device can be used, None when one may. Loads no vendor library."""
    if loader.simulated():
        return None
    nodes = device_nodes(folder)
    if not nodes:
        return f"no Ascend device: no {folder}/davinci<number>"
    if not any(node.accessible for node in nodes):
        return f"no permission to open {nodes[0].path}; ask for membership of its group"
    return loader.why_not()


def describe() -> str:
    """Return one line on the devices of this host. Loads no vendor library."""
    if loader.simulated():
        return f"{device_count()} simulated device(s): {os.environ[loader.SIMULATOR]}"
    nodes = device_nodes()
    reason = unavailable_reason()
    return f"{len(nodes)} device(s)" if reason is None else f"not available: {reason}"


def device_count() -> int:
    """Return the number of devices this process may use, 0 when there is none or it cannot be told.

    It asks pyACL, which honours ASCEND_RT_VISIBLE_DEVICES, and initialises nothing. Never raises.

    >>> torch.npu.device_count()
    2
    """
    try:
        count, code = loader.load().rt.get_device_count()
        return int(count) if code == codes.SUCCESS else 0
    except _VENDOR_ERRORS:
        return 0


def is_available() -> bool:
    """Return whether there is a device. Never raises, initialises nothing.

    >>> torch.npu.is_available()
    True
    """
    return device_count() > 0


def is_initialized() -> bool:
    """Return whether this process has initialised the runtime.

    >>> torch.npu.init()
    >>> torch.npu.is_initialized()
    True
    """
    return _acl is not None and not _bad_fork


def init() -> ModuleType:
    """Initialise the runtime once per process and return pyACL.

    Raises:
        NpuUnavailableError: pyACL cannot be loaded, or there is no device.
        RuntimeError: the runtime was initialised before this process was forked.
        AclError: the runtime refuses.
    """
    global _acl, _owner
    with _lock:
        if _bad_fork:
            raise RuntimeError(
                "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the "
                "'spawn' start method"
            )
        if _acl is not None:
            return _acl
        try:
            acl = loader.load()
        except loader.AclNotFoundError as error:
            raise NpuUnavailableError(f"NPU is not available: {error}") from error
        # Initialised by someone else in this process is fine, but then finalising is not ours.
        settings = configuration.settings_file()
        code = acl.init(settings) if settings else acl.init()
        if code != codes.REPEAT_INITIALIZE:
            check(code, "acl.init()", acl)
        count, count_code = acl.rt.get_device_count()
        if count_code != codes.SUCCESS or count < 1:
            if code == codes.SUCCESS:
                acl.finalize()
            check(count_code, "acl.rt.get_device_count()", acl)
            raise NpuUnavailableError("No NPUs are available")
        _acl, _owner = acl, code == codes.SUCCESS
        _watch_process()
        for call, origin in _at_init:
            try:
                call()
            except Exception as error:
                raise DeferredNpuCallError(
                    f"NPU call failed lazily at initialization with error: {error}\n\n"
                    f"NPU call was originally invoked at:\n\n{''.join(origin)}"
                ) from error
        return acl


def at_init(call: Callable[[], None]) -> None:
    """Run `call` when the runtime is initialised, now when it is; calls run in the order they came."""
    with _lock:
        if _acl is None:
            _at_init.append((call, traceback.format_stack()))
            return
    call()


def at_exit(call: Callable[[], None]) -> None:
    """Run `call` before the runtime is given back, the last registered first."""
    _at_exit.append(call)


def on(device: int) -> ModuleType:
    """Return pyACL with `device` current in the calling thread, initialising the runtime where needed.

    Raises AclError for a device that is not there, and whatever `init` raises.
    """
    acl = _acl if _acl is not None and not _bad_fork else init()
    if getattr(_thread, "device", None) != device:
        check(acl.rt.set_device(device), f"acl.rt.set_device({device})", acl)
        _thread.device = device
        with _lock:
            _set_counts[device] = _set_counts.get(device, 0) + 1
        changed()
        if device not in _open:
            with _lock:
                _open.add(device)
            for call in _at_open:
                call(acl)
    return acl


def at_change(call: Callable[[], None]) -> None:
    """Run `call` when another device, or another stream, is made current in a thread."""
    _at_change.append(call)


def changed() -> None:
    """Tell that another stream is current in the calling thread."""
    for call in _at_change:
        call()


def at_open(call: Callable[[ModuleType], None]) -> None:
    """Run `call` with pyACL when a device is used for the first time; the device is current then."""
    _at_open.append(call)


def opened() -> list[int]:
    """Return the devices that this process has used."""
    return sorted(_open)


def thread_device() -> int | None:
    """Return the device that ACL has current in the calling thread, None when it has none."""
    found: int | None = getattr(_thread, "device", None)
    return found


def in_bad_fork() -> bool:
    """Return whether this process was forked from one that had initialised the runtime."""
    return _bad_fork


def _watch_process() -> None:
    """Notice a fork, which the runtime does not survive, and the end of the process."""
    global _fork_hook_set
    if _fork_hook_set:
        return
    _fork_hook_set = True
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_mark_fork)
    atexit.register(_finalize)


def _mark_fork() -> None:
    global _bad_fork, _lock
    _lock = RLock()  # another thread may have held it
    _bad_fork = _bad_fork or _acl is not None


def _finalize() -> None:
    """Give the runtime back when this process took it; a forked child has nothing to give back.

    What one device refuses does not keep the others: the first error is raised when all is done.
    """
    global _acl, _thread
    acl = _acl
    if acl is None or _bad_fork:
        return
    refused: list[Exception] = []
    for call in reversed(_at_exit):
        try:
            call()
        except RuntimeError as error:
            refused.append(error)
    _acl = None
    for device in sorted(_open):  # in reach of others again, also where another module goes on with the runtime
        for _ in range(_set_counts.pop(device, 1)):
            acl.rt.reset_device(device)
    _open.clear()
    _thread = local()  # no thread has a device current any more: whoever comes later asks for one anew
    if _owner:
        acl.finalize()
    if refused:
        raise refused[0]


__all__ = [
    "AclError",
    "DeferredNpuCallError",
    "DeviceNode",
    "NpuUnavailableError",
    "at_change",
    "at_exit",
    "at_init",
    "at_open",
    "changed",
    "describe",
    "device_count",
    "device_nodes",
    "in_bad_fork",
    "init",
    "is_available",
    "is_initialized",
    "on",
    "opened",
    "thread_device",
    "unavailable_reason",
]
