"""The kinds of devices that events are attributed to."""

from enum import Enum

from .._naming import torch_name


class DeviceType(Enum):
    """Where an event ran; the numbers are those of traces.

    >>> torch.profiler.DeviceType.CPU.name, torch.profiler.DeviceType.CUDA.value
    ('CPU', 1)
    """

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20


def kineto_available() -> bool:
    """Whether PyTorch's own tracing library is there; it never is."""
    return False


DeviceType.__module__ = torch_name("mindtorch._C._autograd")
