"""`torch.distributed.checkpoint.default_planner`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(functions(__name__, "create_default_local_load_plan"))
globals().update(classes(__name__, "DefaultLoadPlanner DefaultSavePlanner _EmptyStateDictLoadPlanner"))

adopt(globals())
