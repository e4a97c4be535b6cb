"""`torch.distributed._tensor`: the former place of `torch.distributed.tensor`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.tensor import (
    DTensor,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "init_device_mesh",
    "ones",
    "rand",
    "randn",
    "zeros",
]

__getattr__ = missing_attribute(__name__)
