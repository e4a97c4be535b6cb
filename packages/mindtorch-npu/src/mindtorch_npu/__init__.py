"""Huawei Ascend runtime of MindTorch; this package's core imports the standard library only."""

from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import AclError, AclNotFoundError
from mindtorch_npu.runtime import NpuUnavailableError, device_count, init, is_available, is_initialized

__all__ = [
    "AclError",
    "AclNotFoundError",
    "NpuUnavailableError",
    "__version__",
    "device_count",
    "init",
    "is_available",
    "is_initialized",
]
