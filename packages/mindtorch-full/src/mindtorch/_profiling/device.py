"""The kinds of devices that events are attributed to."""

from enum import Enum

from .._naming import torch_name


class DeviceType(Enum):
    """Where an event ran; the numbers are those of traces."""

    CPU = 0
    CUDA = 1
    XPU = 12
    HPU = 18
    MTIA = 19
    PrivateUse1 = 20


def kineto_available() -> bool:
    """Whether PyTorch's own tracing library is there; it never is."""
    return False


DeviceType.__module__ = torch_name("mindtorch.autograd")
