"""`torch.distributed.fsdp`: parameters spread over processes. Its configurations can be made; sharding raises."""

from dataclasses import dataclass
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions
from mindtorch.distributed.fsdp.api import *  # noqa: F403 - the same names are here in torch
from mindtorch.distributed.fsdp.fully_sharded_data_parallel import (
    FullyShardedDataParallel as FullyShardedDataParallel,
)
from mindtorch.distributed.fsdp.fully_sharded_data_parallel import OptimStateKeyType as OptimStateKeyType


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of parameters, reductions and outputs."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are computed with."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters lie in the host's memory."""

    pin_memory: bool = True


globals().update(classes(__name__, "FSDPModule UnshardHandle"))
globals().update(functions(__name__, "fully_shard register_fsdp_forward_method share_comm_ctx"))

adopt(globals())
