"""`torch.distributed.fsdp`: parameters spread over processes."""

from mindtorch._naming import adopt
from mindtorch.distributed.fsdp import api
from mindtorch.distributed.fsdp._fully_shard import CPUOffloadPolicy as CPUOffloadPolicy
from mindtorch.distributed.fsdp._fully_shard import DataParallelMeshDims as DataParallelMeshDims
from mindtorch.distributed.fsdp._fully_shard import FSDPModule as FSDPModule
from mindtorch.distributed.fsdp._fully_shard import MixedPrecisionPolicy as MixedPrecisionPolicy
from mindtorch.distributed.fsdp._fully_shard import OffloadPolicy as OffloadPolicy
from mindtorch.distributed.fsdp._fully_shard import UnshardHandle as UnshardHandle
from mindtorch.distributed.fsdp._fully_shard import fully_shard as fully_shard
from mindtorch.distributed.fsdp._fully_shard import register_fsdp_forward_method as register_fsdp_forward_method
from mindtorch.distributed.fsdp._fully_shard import share_comm_ctx as share_comm_ctx
from mindtorch.distributed.fsdp.api import *  # noqa: F403 - the same names are here in torch
from mindtorch.distributed.fsdp.fully_sharded_data_parallel import (
    FullyShardedDataParallel as FullyShardedDataParallel,
)
from mindtorch.distributed.fsdp.fully_sharded_data_parallel import OptimStateKeyType as OptimStateKeyType

__all__ = [
    *api.__all__,
    "CPUOffloadPolicy",
    "DataParallelMeshDims",
    "FSDPModule",
    "FullyShardedDataParallel",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "OptimStateKeyType",
    "UnshardHandle",
    "fully_shard",
    "register_fsdp_forward_method",
    "share_comm_ctx",
]

adopt(globals())
