"""`torch.distributed.checkpoint.format_utils`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions

globals().update(functions(__name__, "_load_state_dict dcp_to_torch_save torch_save_to_dcp"))
globals().update(classes(__name__, "_EmptyStateDictLoadPlanner"))

adopt(globals())
