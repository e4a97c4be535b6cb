"""`torch.distributed._composable.fsdp.fully_shard`: the former place of `fully_shard`."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed import fsdp as _fsdp

FSDPModule = _fsdp.FSDPModule
fully_shard = _fsdp.fully_shard
register_fsdp_forward_method = _fsdp.register_fsdp_forward_method

__getattr__ = missing_attribute(__name__)
