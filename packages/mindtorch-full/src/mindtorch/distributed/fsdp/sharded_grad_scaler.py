"""`torch.distributed.fsdp.sharded_grad_scaler`: not offered."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes

ShardedGradScaler = classes(__name__, "ShardedGradScaler")["ShardedGradScaler"]

adopt(globals())
