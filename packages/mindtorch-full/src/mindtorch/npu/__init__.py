"""`torch.npu`: Ascend devices under the names of `torch.cuda`. The runtime is that of the distribution `mindtorch-npu`."""

import importlib.util
import sys
import warnings
from typing import Any, NoReturn

if importlib.util.find_spec("mindtorch_npu") is None:
    raise AttributeError("module 'torch' has no attribute 'npu'")

from mindtorch._errors import OutOfMemoryError
from mindtorch._submodules import offer
from mindtorch.npu import aclnn, amp, extras, graphs, memory, mstx, nvtx, options, random, streams
from mindtorch.npu._recovery import restart_device
from mindtorch.npu._versions import (  # noqa: F401 - torch_npu has them
    get_cann_version,
    get_soc_version,
    is_gte_cann_version,
)
from mindtorch.npu.extras import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.generators import default_generators as _default_generators
from mindtorch.npu.graphs import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.memory import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.options import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.random import *  # noqa: F403 - the names of its __all__
from mindtorch.npu.streams import *  # noqa: F403 - the names of its __all__
from mindtorch.tensor.legacy import legacy_types
from mindtorch_npu import AclError, NpuUnavailableError, hooks, runtime, switches
from mindtorch_npu.allocator import set_error_class
from mindtorch_npu.device import (
    current_device,
    device,
    device_index,
    device_of,
    set_device,
    set_device_class,
    set_device_names,
    synchronize,
)
from mindtorch_npu.peers import can_device_access_peer, disable_peer_access, enable_peer_access
from mindtorch_npu.properties import (
    NpuDeviceProperties,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_bf16_supported,
    utilization,
)
from mindtorch_npu.runtime import DeferredNpuCallError, device_count, is_available, is_initialized
from mindtorch_npu.smi import clock_rate, device_memory_used, memory_usage, power_draw, temperature
from mindtorch_npu.transforms import fft_plan_cache
from mindtorch_storage.device import intern_device, meant_by
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.storage import legacy_classes

_NpuDeviceProperties = NpuDeviceProperties
has_half = True
has_magma = False

set_error_class(OutOfMemoryError)
set_device_class(intern_device)
set_device_names(meant_by)
_SYNC_MODES = {"default": 0, "warn": 1, "error": 2}


hooks.look_in(sys.modules[__name__])

_OLD_TYPES: dict[str, type] = {
    **legacy_types("torch.npu", "npu"),
    **{
        name: one
        for name, one in legacy_classes("torch.npu", "npu").items()
        if "Complex" not in name and name[0] != "Q" and name != "UntypedStorage"
    },
}
globals().update(_OLD_TYPES)


def _get_device_index(device: object, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the index that a device, a text or a number names, -1 of the CPU where it is allowed."""
    if allow_cpu and str(device) == "cpu":
        return -1
    return device_index(device, optional)


def init() -> None:
    """Initialise the runtime; nothing happens when it is. Raises NpuUnavailableError without a device.

    >>> torch.npu.init()
    >>> torch.npu.is_initialized()
    True
    """
    runtime.init()


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Choose whether waiting for the device is silent, warned of or an error; RuntimeError for another mode.

    >>> torch.npu.set_sync_debug_mode("warn")
    >>> torch.npu.get_sync_debug_mode()
    1
    >>> torch.npu.set_sync_debug_mode("default")
    """
    mode: Any = debug_mode
    if isinstance(mode, str):
        if mode not in _SYNC_MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        mode = _SYNC_MODES[mode]
    if mode not in _SYNC_MODES.values():
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    switches.sync_debug["mode"] = mode


def get_sync_debug_mode() -> int:
    """Return the mode that `set_sync_debug_mode` chose.

    >>> torch.npu.get_sync_debug_mode()
    0
    """
    return switches.sync_debug["mode"]


def get_arch_list() -> list[str]:
    """Return the architectures that kernels were compiled for: none, they come with the device's libraries.

    >>> torch.npu.get_arch_list()
    []
    """
    return []


def get_gencode_flags() -> str:
    """Return the compiler's flags for them: none.

    >>> torch.npu.get_gencode_flags()
    ''
    """
    return ""


def current_blas_handle() -> None:
    """Return None, with a warning: the device's operators have no handle of a matrix library.

    >>> print(torch.npu.current_blas_handle())
    None
    """
    warnings.warn("NPU does not use blas handle.", stacklevel=2)


def current_solver_handle() -> NoReturn:
    """Return the handle of the solver library; raises, the device's operators have none.

    >>> torch.npu.current_solver_handle()
    Traceback (most recent call last):
        ...
    NotImplementedError: torch.npu.current_solver_handle: the device's operators have no such handle
    """
    raise NotImplementedError("torch.npu.current_solver_handle: the device's operators have no such handle")


def ipc_collect() -> None:
    """Give memory back that other processes have released; none is shared with other processes.

    >>> torch.npu.ipc_collect()
    >>> torch.npu.is_available()
    True
    """
    runtime.init()


_kernels = LazyModule("mindtorch.backends.cuda", "its switches choose kernels of attention on every device")
_SWITCHES = {
    "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled", "math_sdp_enabled",
    "mem_efficient_sdp_enabled", "sdp_kernel",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _SWITCHES:
        return getattr(_kernels, name)
    if name == "default_generators":
        return _default_generators()
    raise AttributeError(f"module 'torch.npu' has no attribute '{name}'")


def preferred_linalg_library(backend: Any = None) -> Any:
    """Return the library for linear algebra, the device's operators; another one is warned of and not used."""
    if backend is not None:
        warnings.warn("torch.npu.preferred_linalg_library: there is no other library to prefer", stacklevel=2)
    return _kernels._LinalgBackend.Default


def is_tf32_supported() -> bool:
    """Return whether the chip has TF32: no Ascend chip has.

    >>> torch.npu.is_tf32_supported()
    False
    """
    return False


def check_error(res: int) -> None:
    """Raise AclError for a return code of the runtime that is not success."""
    if res != 0:
        raise AclError(res, "torch.npu.check_error")


__all__ = [
    *extras.__all__,
    *graphs.__all__,
    *memory.__all__,
    *options.__all__,
    *random.__all__,
    *streams.__all__,
    *_OLD_TYPES,
    "AclError",
    "DeferredNpuCallError",
    "NpuUnavailableError",
    "OutOfMemoryError",
    "amp",
    "can_device_access_peer",
    "check_error",
    "clock_rate",
    "current_blas_handle",
    "current_device",
    "current_solver_handle",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "disable_peer_access",
    "enable_peer_access",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_sync_debug_mode",
    "graphs",
    "has_half",
    "has_magma",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "memory",
    "memory_usage",
    "mstx",
    "nvtx",
    "power_draw",
    "random",
    "restart_device",
    "set_device",
    "set_sync_debug_mode",
    "streams",
    "synchronize",
    "temperature",
    "utilization",
]


offer(
    globals(),
    {
        "autocast_utils": (
            "get_amp_supported_dtype get_autocast_dtype is_autocast_enabled set_autocast_dtype set_autocast_enabled"
        ),
        "aclnn.backends": {"version": aclnn.version},
        "backends": {"fft_plan_cache": fft_plan_cache},
        "deterministic": "disable_deterministic_with_backward enable_deterministic_with_backward",
        "npu_config": (
            "CubeMathType finalize_dump get_device_limit get_mm_bmm_format_nd get_stream_limit init_dump "
            "is_jit_compile_false reset_stream_limit set_aoe set_compile_mode set_device_limit set_dump "
            "set_mm_bmm_format_nd set_option set_stream_limit"
        ),
        "graphs": (
            "graph_task_group_begin graph_task_group_end graph_task_update_begin graph_task_update_end "
            "super_kernel_scope_begin super_kernel_scope_end"
        ),
        "memory": "empty_virt_addr_cache",
        "streams": "ExternalEvent SyncLaunchStream",
        "utils": (
            "StreamContext check_uce_in_memory clear_npu_overflow_flag current_blas_handle current_device current_stream "
            "default_stream device device_of finalize_dump get_cann_version get_npu_overflow_flag get_sync_debug_mode "
            "init_dump ipc_collect is_bf16_supported is_support_inf_nan npu_check_overflow obfuscation_calculate "
            "obfuscation_finalize obfuscation_initialize set_device set_dump set_op_timeout_ms set_stream "
            "set_sync_debug_mode stream stress_detect synchronize get_soc_version"
        ),
    },
)
offer(globals(), {"utils": {"_is_gte_cann_version": is_gte_cann_version}})
_lazy_call = runtime.at_init
