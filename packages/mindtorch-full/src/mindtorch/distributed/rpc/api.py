"""`torch.distributed.rpc.api`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "_all_gather _require_initialized init_rpc shutdown"))

adopt(globals())
