"""`torch.distributed.optim`: optimizers of many processes. Those over remote calls are not offered."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions
from mindtorch.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from mindtorch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

globals().update(functions(__name__, "_apply_optimizer_in_backward"))
globals().update(classes(__name__, "DistributedOptimizer"))

adopt(globals())
