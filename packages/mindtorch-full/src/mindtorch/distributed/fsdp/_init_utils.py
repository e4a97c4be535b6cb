"""`torch.distributed.fsdp._init_utils`: strategies by what they do after forward."""

from mindtorch._naming import adopt
from mindtorch.distributed.fsdp.api import ShardingStrategy

HYBRID_SHARDING_STRATEGIES = [ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2]
NO_RESHARD_AFTER_FORWARD_STRATEGIES = (ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy._HYBRID_SHARD_ZERO2)

adopt(globals())
