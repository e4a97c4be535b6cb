"""Asking about devices, of which there are none."""

from typing import NoReturn

from mindtorch._absent import DeviceLike
from mindtorch._absent.initialization import refuse


def current_device() -> int:
    """Return the index of the current device; raises, there is none.

    >>> torch.KIND.current_device()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def get_device_name(device: DeviceLike = None) -> str:
    """Return the name of a device; raises, there is none.

    >>> torch.KIND.get_device_name()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def get_device_properties(device: DeviceLike = None) -> NoReturn:
    """Return the properties of a device; raises, there is none.

    >>> torch.KIND.get_device_properties()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def get_arch_list() -> list[str]:
    """Return the architectures this library was compiled for: none.

    >>> torch.KIND.get_arch_list()
    []
    """
    return []


def get_gencode_flags() -> str:
    """Return the compiler's flags for them: none.

    >>> torch.KIND.get_gencode_flags()
    ''
    """
    return ""


def synchronize(device: DeviceLike = None) -> None:
    """Wait for a device; raises, there is none.

    >>> torch.KIND.synchronize()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()
