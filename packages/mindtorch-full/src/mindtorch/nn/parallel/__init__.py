"""Modules on several devices."""

from mindtorch._naming import adopt
from mindtorch.nn.parallel.data_parallel import DataParallel, data_parallel
from mindtorch.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

adopt(globals())
