"""`torch.distributed` of a torch built without it: not available, and without the names that need it.

`is_available()` is what programs ask first; when it is False torch offers nothing else here, and neither do we: every
other name raises torch's `AttributeError`, every submodule `ModuleNotFoundError`. But `is_initialized()` answers, as many
programs ask nothing else; and `torch.distributed.tensor` and `device_mesh` are there: training loops ask whether a
parameter is a `DTensor`, and libraries annotate with `DeviceMesh`, without asking for availability first.
"""

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = ["ProcessGroup", "is_available", "is_initialized"]


class _ProcessGroupStub:
    """Stands for the type of process groups, so that it can be named in annotations."""


ProcessGroup = _ProcessGroupStub


def is_available() -> bool:
    """Return whether processes can work together: False."""
    return False


def is_initialized() -> bool:
    """Return whether a process group has been made: False."""
    return False


__getattr__ = _submodules(__name__, "device_mesh", "torch.distributed")


adopt(globals())
