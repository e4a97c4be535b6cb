"""Choosing an XPU and asking about it."""

from typing import Any, NoReturn

from mindtorch import _absent
from mindtorch._absent import DeviceLike, device_index, own_copies
from mindtorch._absent.devices import (  # noqa: F401 - they become functions of this module
    current_device,
    get_arch_list,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    synchronize,
)
from mindtorch.xpu._lazy import refuse

_NO_PYZES = "pyzes is required; install it with 'pip install pyzes'."


def _exchange_device(device: Any) -> NoReturn:
    raise NotImplementedError("PyTorch was compiled without XPU support")


_maybe_exchange_device = _exchange_device


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    return device_index("xpu", device, optional, allow_cpu)


class device(_absent.device):
    """Context manager that selects a device; raises on entry, there is none.

    >>> with torch.xpu.device(0):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    NotImplementedError: PyTorch was compiled without XPU support
    """

    kind = "xpu"

    def exchange(self, index: Any) -> int:
        """Select a device, as the function does."""
        return _exchange_device(index)


class device_of(device):
    """Context manager that selects the device of a tensor; raises on entry.

    >>> with torch.xpu.device_of(torch.ones(1)) as given:
    ...     print(given)
    Traceback (most recent call last):
        ...
    NotImplementedError: PyTorch was compiled without XPU support
    """

    def __init__(self, obj: Any) -> None:
        super().__init__(_absent.index_of("xpu", obj))


def set_device(device: DeviceLike) -> None:
    """Select the current device; raises, there is none.

    >>> torch.xpu.set_device(0)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()


def get_device_capability(device: DeviceLike = None) -> dict[str, Any]:
    """Return what a device is capable of; raises, there is none.

    >>> torch.xpu.get_device_capability()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()


def can_device_access_peer(device: DeviceLike, peer: DeviceLike) -> bool:
    """Return whether one device reaches another's memory; raises, there is none.

    >>> torch.xpu.can_device_access_peer(0, 1)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()


def utilization(device: DeviceLike = None) -> float:
    """Return how busy a device is; raises, the vendor's package is missing.

    >>> torch.xpu.utilization()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


def memory_usage(device: DeviceLike = None) -> float:
    """Return how busy a device's memory is; raises, the vendor's package is missing.

    >>> torch.xpu.memory_usage()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


def device_memory_used(device: DeviceLike = None) -> int:
    """Return the bytes in use on a device; raises, the vendor's package is missing.

    >>> torch.xpu.device_memory_used()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


def temperature(device: DeviceLike = None) -> float:
    """Return a device's temperature; raises, the vendor's package is missing.

    >>> torch.xpu.temperature()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


def power_draw(device: DeviceLike = None) -> float:
    """Return a device's power; raises, the vendor's package is missing.

    >>> torch.xpu.power_draw()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


def clock_rate(device: DeviceLike = None) -> float:
    """Return a device's clock; raises, the vendor's package is missing.

    >>> torch.xpu.clock_rate()
    Traceback (most recent call last):
        ...
    ImportError: pyzes is required; install it with 'pip install pyzes'.
    """
    raise ImportError(_NO_PYZES)


own_copies(globals(), "xpu")
