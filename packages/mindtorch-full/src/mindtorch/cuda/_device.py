"""Choosing a CUDA device and asking about it."""

from typing import Any, NoReturn

from mindtorch import _absent
from mindtorch._absent import DeviceLike, no_binding, own_copies
from mindtorch._absent.devices import (  # noqa: F401 - they become functions of this module
    current_device,
    get_arch_list,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    synchronize,
)
from mindtorch.cuda._lazy import _get_device_index, refuse

_NO_NVML = "nvidia-ml-py does not seem to be installed or it can't be imported."


def _exchange_device(device: int) -> int:
    if device < 0:
        return -1
    raise RuntimeError("PyTorch was compiled without CUDA support")


_maybe_exchange_device = _exchange_device


class device(_absent.device):
    """Context manager that selects a device. A negative index selects none; everything else raises on entry.

    >>> with torch.cuda.device(0):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    RuntimeError: PyTorch was compiled without CUDA support
    """

    kind = "cuda"

    def exchange(self, index: Any) -> int:
        """Select a device, as the function does."""
        return _exchange_device(index)


class device_of(device):
    """Context manager that selects the device of a tensor or storage; without effect for one on the CPU.

    >>> with torch.cuda.device_of(torch.ones(1)) as given:
    ...     print(given)
    None
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(_absent.index_of("cuda", obj))


def set_device(device: DeviceLike) -> None:
    """Select the current device; a negative index selects none.

    >>> torch.cuda.set_device(0)
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'
    """
    if _get_device_index(device) >= 0:
        no_binding("_cuda_setDevice")


def get_device_capability(device: DeviceLike = None) -> tuple[int, int]:
    """Return the compute capability of a device; raises, there is none.

    >>> torch.cuda.get_device_capability()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def can_device_access_peer(device: DeviceLike, peer_device: DeviceLike) -> bool:
    """Return whether one device reaches another's memory; raises, there is none.

    >>> torch.cuda.can_device_access_peer(0, 1)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def ipc_collect() -> None:
    """Release memory shared between processes; raises, there is none.

    >>> torch.cuda.ipc_collect()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def current_blas_handle() -> NoReturn:
    """Return the handle of the device's BLAS; raises, there is none.

    >>> torch.cuda.current_blas_handle()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def current_solver_handle() -> NoReturn:
    """Return the handle of the device's solver; raises, there is none.

    >>> torch.cuda.current_solver_handle()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Choose what happens on a synchronising operation; raises, there is no device.

    >>> torch.cuda.set_sync_debug_mode("warn")
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def get_sync_debug_mode() -> int:
    """Return what happens on a synchronising operation; raises, there is no device.

    >>> torch.cuda.get_sync_debug_mode()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def utilization(device: DeviceLike = None) -> int:
    """Return how busy a device is; raises, the vendor's package is missing.

    >>> torch.cuda.utilization()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def memory_usage(device: DeviceLike = None) -> int:
    """Return how busy a device's memory is; raises, the vendor's package is missing.

    >>> torch.cuda.memory_usage()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def device_memory_used(device: DeviceLike = None) -> int:
    """Return the bytes in use on a device; raises, the vendor's package is missing.

    >>> torch.cuda.device_memory_used()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def temperature(device: DeviceLike = None) -> int:
    """Return a device's temperature; raises, the vendor's package is missing.

    >>> torch.cuda.temperature()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def power_draw(device: DeviceLike = None) -> int:
    """Return a device's power; raises, the vendor's package is missing.

    >>> torch.cuda.power_draw()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def clock_rate(device: DeviceLike = None) -> int:
    """Return a device's clock; raises, the vendor's package is missing.

    >>> torch.cuda.clock_rate()
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: nvidia-ml-py does not seem to be installed or it can't be imported.
    """
    raise ModuleNotFoundError(_NO_NVML)


def _sleep(cycles: int) -> None:
    no_binding("_cuda_sleep")


own_copies(globals(), "cuda")
