"""`torch.distributed._tensor.experimental`: the former place of `torch.distributed.tensor.experimental`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed.tensor.experimental import context_parallel as context_parallel
from mindtorch.distributed.tensor.experimental import implicit_replication as implicit_replication

__getattr__ = missing_attribute(__name__)
