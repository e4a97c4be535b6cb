"""`torch.npu`: Ascend devices under the names of `torch.cuda`. The runtime is that of the distribution `mindtorch-npu`."""

import importlib.util
from typing import Any, NoReturn

if importlib.util.find_spec("mindtorch_npu") is None:
    raise AttributeError("module 'torch' has no attribute 'npu'")

from mindtorch._errors import OutOfMemoryError
from mindtorch.npu import memory, random, streams
from mindtorch.npu.memory import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.random import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.streams import *  # noqa: F403 - the names of its __all__
from mindtorch_npu import AclError, NpuUnavailableError, runtime
from mindtorch_npu.allocator import set_error_class
from mindtorch_npu.device import current_device, device, device_of, set_device, set_device_class, synchronize
from mindtorch_npu.properties import (
    NpuDeviceProperties,
    can_device_access_peer,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_bf16_supported,
    utilization,
)
from mindtorch_npu.runtime import device_count, is_available, is_initialized
from mindtorch_storage.device import intern_device

_NpuDeviceProperties = NpuDeviceProperties
has_half = True
has_magma = False

set_error_class(OutOfMemoryError)
set_device_class(intern_device)
_sync_debug: dict[str, int] = {"mode": 0}
_SYNC_MODES = {"default": 0, "warn": 1, "error": 2}


def init() -> None:
    """Initialise the runtime; nothing happens when it is. Raises NpuUnavailableError without a device."""
    runtime.init()


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Choose whether waiting for the device is silent, warned of or an error; RuntimeError for another mode."""
    mode: Any = debug_mode
    if isinstance(mode, str):
        if mode not in _SYNC_MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        mode = _SYNC_MODES[mode]
    if mode != 0:
        raise NotImplementedError(f"torch.npu.set_sync_debug_mode({debug_mode!r}): only the default mode is supported")
    _sync_debug["mode"] = mode


def get_sync_debug_mode() -> int:
    """Return the mode that `set_sync_debug_mode` chose."""
    return _sync_debug["mode"]


def is_current_stream_capturing() -> bool:
    """Return whether the current stream is being recorded as a graph: no, graphs are not supported."""
    return False


def is_tf32_supported() -> bool:
    """Return whether the chip has TF32: no Ascend chip has."""
    return False


def check_error(res: int) -> None:
    """Raise AclError for a return code of the runtime that is not success."""
    if res != 0:
        raise AclError(res, "torch.npu.check_error")


class NPUGraph:
    """A recorded graph of operators; making one raises."""

    def __init__(self, keep_graph: bool = False) -> None:
        _no_graphs()


class graph:
    """Context manager that records a graph; making one raises."""

    def __init__(self, npu_graph: Any, pool: Any = None, stream: Any = None, **options: Any) -> None:
        _no_graphs()


def graph_pool_handle() -> NoReturn:
    """Return the identity of a memory pool for graphs; raises."""
    _no_graphs()


def make_graphed_callables(callables: Any, sample_args: Any, **options: Any) -> NoReturn:
    """Return functions that replay recorded graphs; raises."""
    _no_graphs()


def _no_graphs() -> NoReturn:
    raise NotImplementedError("torch.npu: recording graphs is not supported; it needs functions that pyACL lacks")


__all__ = [
    *memory.__all__,
    *random.__all__,
    *streams.__all__,
    "AclError",
    "NPUGraph",
    "NpuUnavailableError",
    "OutOfMemoryError",
    "can_device_access_peer",
    "check_error",
    "current_device",
    "device",
    "device_count",
    "device_of",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_sync_debug_mode",
    "graph",
    "graph_pool_handle",
    "has_half",
    "has_magma",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "memory",
    "random",
    "set_device",
    "set_sync_debug_mode",
    "streams",
    "synchronize",
    "utilization",
]
