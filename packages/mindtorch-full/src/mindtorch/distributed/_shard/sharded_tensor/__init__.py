"""`torch.distributed._shard.sharded_tensor`: tensors in parts that the processes of a group have."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata as ShardMetadata
from mindtorch.distributed._shard.sharded_tensor.api import ShardedTensor as ShardedTensor
from mindtorch.distributed._shard.sharded_tensor.api import ShardedTensorBase as ShardedTensorBase
from mindtorch.distributed._shard.sharded_tensor.metadata import ShardedTensorMetadata as ShardedTensorMetadata
from mindtorch.distributed._shard.sharded_tensor.metadata import TensorProperties as TensorProperties
from mindtorch.distributed._shard.sharded_tensor.shard import Shard as Shard


def init_from_local_shards(
    local_shards: list[Shard], *global_size: Any, process_group: Any = None, init_rrefs: bool = False
) -> ShardedTensor:
    """Return the tensor of this size whose parts the processes of a group give."""
    return ShardedTensor._init_from_local_shards(
        local_shards, *global_size, process_group=process_group, init_rrefs=init_rrefs
    )


adopt(globals())
