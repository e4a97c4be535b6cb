"""`torch.backends.nnpack`: NNPACK is not part of this library; its switch is kept."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._naming import adopt
from mindtorch.backends._flags import BoolFlag, flags_set

__all__ = ["flags", "is_available", "set_flags"]

_enabled = BoolFlag(True, "set_enabled_NNPACK")


def is_available() -> bool:
    """Return whether NNPACK is built in: False.

    >>> isinstance(torch.backends.nnpack.is_available(), bool)
    True
    """
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the switch and return what it was.

    >>> before = torch.backends.nnpack.set_flags(False)
    >>> torch.backends.nnpack.set_flags(*before)
    (False,)
    """
    before = _SWITCH.get()
    _SWITCH.put(_enabled)
    return (before,)


_SWITCH = _enabled


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Context manager that sets the switch.

    >>> with torch.backends.nnpack.flags(enabled=False):
    ...     print(torch.ones(1) + 1)
    tensor([2.])
    """
    with flags_set(set_flags, enabled):
        yield


adopt(globals())
