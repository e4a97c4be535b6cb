"""`torch.distributed._composable`: the former place of `fully_shard`."""

from mindtorch._naming import adopt

adopt(globals())
