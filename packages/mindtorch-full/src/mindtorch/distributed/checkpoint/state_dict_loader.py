"""`torch.distributed.checkpoint.state_dict_loader`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "_load_state_dict load load_state_dict"))

adopt(globals())
