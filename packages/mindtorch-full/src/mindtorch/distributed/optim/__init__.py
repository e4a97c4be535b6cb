"""`torch.distributed.optim`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(functions(__name__, "_apply_optimizer_in_backward"))
globals().update(classes(__name__, "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer"))

adopt(globals())
