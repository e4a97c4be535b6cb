"""`torch.distributed.fsdp._runtime_utils`: not offered."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "_root_pre_forward _lazy_init"))

adopt(globals())
