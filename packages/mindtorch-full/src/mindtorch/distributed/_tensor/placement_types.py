"""`torch.distributed._tensor.placement_types`: the former place of placements and of their descriptions."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

__all__ = ["DTensorSpec", "Partial", "Placement", "Replicate", "Shard", "TensorMeta"]

__getattr__ = missing_attribute(__name__)
