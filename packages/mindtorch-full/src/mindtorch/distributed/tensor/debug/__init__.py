"""`torch.distributed.tensor.debug`: what spread tensors do: the collectives that they begin, and where their parts lie."""

from mindtorch._naming import adopt
from mindtorch.distributed.tensor.debug._comm_mode import CommDebugMode
from mindtorch.distributed.tensor.debug._visualize_sharding import visualize_sharding

__all__ = ["CommDebugMode", "visualize_sharding"]

adopt(globals())
