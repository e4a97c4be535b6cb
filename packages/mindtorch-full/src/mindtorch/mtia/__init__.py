"""`torch.mtia`: there is no such device; questions are answered, and what needs one raises."""

from mindtorch._naming import adopt

__all__ = ["current_device", "device_count", "is_available", "is_initialized"]


def is_available() -> bool:
    """Return whether there is a device: False."""
    return False


def device_count() -> int:
    """Return how many devices there are: none."""
    return 0


def is_initialized() -> bool:
    """Return whether a device is in use: False."""
    return False


def current_device() -> int:
    """Return the current device; raises, there is none."""
    raise AssertionError("Torch not compiled with MTIA enabled")


adopt(globals())
