"""`torch.distributed.tensor`: tensors spread over processes."""

from mindtorch._naming import adopt
from mindtorch.distributed.device_mesh import DeviceMesh as DeviceMesh
from mindtorch.distributed.device_mesh import init_device_mesh as init_device_mesh
from mindtorch.distributed.tensor._api import (
    DTensor,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]

adopt(globals())
