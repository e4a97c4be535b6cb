"""`torch.distributed._composable.fsdp`: the former place of `fully_shard`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed._composable.fsdp.fully_shard import FSDPModule as FSDPModule
from mindtorch.distributed._composable.fsdp.fully_shard import fully_shard as fully_shard
from mindtorch.distributed._composable.fsdp.fully_shard import (
    register_fsdp_forward_method as register_fsdp_forward_method,
)
from mindtorch.distributed.fsdp import CPUOffloadPolicy as CPUOffloadPolicy
from mindtorch.distributed.fsdp import MixedPrecisionPolicy as MixedPrecisionPolicy
from mindtorch.distributed.fsdp import OffloadPolicy as OffloadPolicy

__getattr__ = missing_attribute(__name__)
