"""`torch.distributed._shard.sharding_spec`: how a tensor is cut."""

from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata as ShardMetadata
from mindtorch.distributed._shard.sharding_spec.api import DevicePlacementSpec as DevicePlacementSpec
from mindtorch.distributed._shard.sharding_spec.api import EnumerableShardingSpec as EnumerableShardingSpec
from mindtorch.distributed._shard.sharding_spec.api import PlacementSpec as PlacementSpec
from mindtorch.distributed._shard.sharding_spec.api import ShardingSpec as ShardingSpec
from mindtorch.distributed._shard.sharding_spec.chunk_sharding_spec import ChunkShardingSpec as ChunkShardingSpec

adopt(globals())
