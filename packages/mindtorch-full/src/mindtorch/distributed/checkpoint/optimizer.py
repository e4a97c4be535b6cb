"""`torch.distributed.checkpoint.optimizer`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "load_sharded_optimizer_state_dict"))

adopt(globals())
