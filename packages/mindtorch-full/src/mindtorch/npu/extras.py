"""Names of `torch_npu.npu` for what these devices do otherwise or not at all."""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

import mindtorch
from mindtorch._naming import adopt
from mindtorch.npu._npugraph_handlers import NpuGraphOpHandler, register_npu_graph_handler
from mindtorch_npu import runtime, stream
from mindtorch_npu.device import current_device
from mindtorch_npu.graph_tasks import (
    ExternalEvent,
    graph_task_group_begin,
    graph_task_group_end,
    graph_task_update_begin,
    graph_task_update_end,
)

__all__ = [
    "ExternalEvent",
    "NpuGraphOpHandler",
    "SyncLaunchStream",
    "empty_virt_addr_cache",
    "get_amp_supported_dtype",
    "get_autocast_dtype",
    "get_stream_limit",
    "graph_task_group_begin",
    "graph_task_group_end",
    "graph_task_update_begin",
    "graph_task_update_end",
    "is_autocast_enabled",
    "npurt",
    "obfuscation_calculate",
    "obfuscation_finalize",
    "obfuscation_initialize",
    "register_npu_graph_handler",
    "reset_stream_limit",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_stream_limit",
    "super_kernel_scope_begin",
    "super_kernel_scope_end",
]


class SyncLaunchStream(stream.Stream):
    """A stream whose operators are launched in the calling thread, as those of all streams are here.

    >>> stream = torch.npu.SyncLaunchStream()
    >>> with torch.npu.stream(stream):
    ...     x = torch.ones(2, device="npu") * 2
    >>> stream.synchronize()
    >>> x.tolist()
    [2.0, 2.0]
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        super().__init__(device, priority, is_sync_launch=True, **kwargs)


def _absent(name: str, why: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.npu.{name}: {why}")

    call.__name__ = call.__qualname__ = name
    shown = f">>> torch.npu.{name}()\nTraceback (most recent call last):\n    ...\nNotImplementedError: torch.npu.{name}: {why}"
    call.__doc__ = f"Raises NotImplementedError: {why}.\n\n{shown}"
    return call


super_kernel_scope_begin = _absent("super_kernel_scope_begin", "operators are not joined into one kernel")
super_kernel_scope_end = _absent("super_kernel_scope_end", "operators are not joined into one kernel")
_CORES = "pyACL has no limits of cores for a stream, only for a device: set_device_limit"
set_stream_limit = _absent("set_stream_limit", _CORES)
get_stream_limit = _absent("get_stream_limit", _CORES)
reset_stream_limit = _absent("reset_stream_limit", _CORES)
_SECRET = "models are not obfuscated"
obfuscation_initialize = _absent("obfuscation_initialize", _SECRET)
obfuscation_finalize = _absent("obfuscation_finalize", _SECRET)
obfuscation_calculate = _absent("obfuscation_calculate", _SECRET)


class _Runtime:
    """Functions of the runtime by torch_npu's names. They return ACL's codes, 0 where all went well."""

    def npuHostRegister(self, address: int, size: int, flags: int) -> int:
        """Let devices reach memory of the host; the flags say for what, which is the same to them."""
        return int(runtime.on(current_device()).rt.host_register(address, size, 0)[1])

    def npuHostUnregister(self, address: int) -> int:
        """End that."""
        return int(runtime.on(current_device()).rt.host_unregister(address))

    def npuStreamCreate(self, place: int) -> int:
        """Write the handle of a new stream to an address."""
        if not place:
            return _NULL
        handle, code = runtime.on(current_device()).rt.create_stream()
        if not code:
            ctypes.c_void_p.from_address(place).value = handle
        return int(code)

    def npuStreamDestroy(self, handle: int) -> int:
        """Give a stream back, when it is done."""
        return int(runtime.init().rt.destroy_stream(handle)) if handle else _NULL


_NULL = 100000  # of all codes the one for arguments
_runtime = _Runtime()


def npurt() -> Any:
    """Return functions of the runtime by torch_npu's names.

    >>> torch.npu.npurt() is torch.npu.npurt()
    True
    """
    runtime.init()
    return _runtime


def empty_virt_addr_cache() -> None:
    """Give addresses back that no memory is behind; with the cache's segments they go.

    >>> torch.npu.empty_virt_addr_cache()
    >>> torch.npu.memory_allocated() >= 0
    True
    """
    mindtorch.npu.empty_cache()


def get_amp_supported_dtype() -> list[Any]:
    """Return what autocast may compute in.

    >>> torch.npu.get_amp_supported_dtype()
    [torch.float16, torch.bfloat16, torch.float32]
    """
    return [mindtorch.float16, mindtorch.bfloat16, mindtorch.float32]


def is_autocast_enabled() -> bool:
    """Return whether autocast is on for these devices.

    >>> torch.npu.is_autocast_enabled()
    False
    """
    return bool(mindtorch.is_autocast_enabled("npu"))


def set_autocast_enabled(enable: bool) -> None:
    """Turn autocast on or off for these devices.

    >>> torch.npu.set_autocast_enabled(True)
    >>> torch.npu.is_autocast_enabled()
    True
    >>> torch.npu.set_autocast_enabled(False)
    """
    mindtorch.set_autocast_enabled("npu", enable)


def get_autocast_dtype() -> Any:
    """Return what autocast computes in on these devices.

    >>> torch.npu.get_autocast_dtype()
    torch.float16
    """
    return mindtorch.get_autocast_dtype("npu")


def set_autocast_dtype(dtype: Any) -> None:
    """Choose what autocast computes in on these devices.

    >>> torch.npu.set_autocast_dtype(torch.bfloat16)
    >>> torch.npu.get_autocast_dtype()
    torch.bfloat16
    >>> torch.npu.set_autocast_dtype(torch.float16)
    """
    mindtorch.set_autocast_dtype("npu", dtype)


adopt(globals())
