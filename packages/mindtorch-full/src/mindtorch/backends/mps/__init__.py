"""`torch.backends.mps`: MPS is not built in."""

from mindtorch._absent import no_binding
from mindtorch._naming import adopt

__all__ = ["get_core_count", "get_name", "is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"]


def is_built() -> bool:
    """Return whether MPS is built in: False.

    >>> torch.backends.mps.is_built()
    False
    """
    return False


def is_available() -> bool:
    """Return whether MPS can be used: False.

    >>> torch.backends.mps.is_available()
    False
    """
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Return whether the system is this macOS or a newer one; raises, the check is part of MPS.

    >>> torch.backends.mps.is_macos_or_newer(14, 0)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute isOnMacOSorNewer() without MPS backend.
    """
    raise RuntimeError("Cannot execute isOnMacOSorNewer() without MPS backend.")


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Return whether the system is macOS 13 or newer; raises, the check is part of MPS.

    >>> torch.backends.mps.is_macos13_or_newer()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute isOnMacOSorNewer() without MPS backend.
    """
    return is_macos_or_newer(13, minor)


def get_name() -> str:
    """Return the name of the device; raises, there is none.

    >>> torch.backends.mps.get_name()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_mps_get_name'
    """
    no_binding("_mps_get_name")


def get_core_count() -> int:
    """Return the number of the device's cores; raises, there is none.

    >>> torch.backends.mps.get_core_count()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_mps_get_core_count'
    """
    no_binding("_mps_get_core_count")


adopt(globals())
