"""`torch.distributed.elastic`: groups of processes that are started, watched and started again together."""

from mindtorch._naming import adopt

adopt(globals())
