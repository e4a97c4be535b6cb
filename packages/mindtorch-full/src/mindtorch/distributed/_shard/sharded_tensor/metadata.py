"""What the parts of a tensor have in common."""

from mindtorch._naming import adopt
from mindtorch.distributed._shard._tensor_metadata import ShardedTensorMetadata as ShardedTensorMetadata
from mindtorch.distributed._shard._tensor_metadata import TensorProperties as TensorProperties
from mindtorch.distributed._tensor_properties import _MEM_FORMAT_ENCODING as MEM_FORMAT_ENCODING

__all__ = ["MEM_FORMAT_ENCODING", "ShardedTensorMetadata", "TensorProperties"]

adopt(globals())
