"""`torch.distributed.fsdp.fully_sharded_data_parallel`: the class can be named and asked about; none is made."""

from enum import Enum

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes
from mindtorch.distributed.fsdp.api import *  # noqa: F403 - the same names are here in torch

_METHODS = (
    "fsdp_modules optim_state_dict optim_state_dict_to_load rekey_optim_state_dict state_dict_type summon_full_params "
    "set_state_dict_type get_state_dict_type full_optim_state_dict sharded_optim_state_dict scatter_full_optim_state_dict"
)


class OptimStateKeyType(Enum):
    """How an optimizer's state dict names parameters."""

    PARAM_NAME = 1
    PARAM_ID = 2


FullyShardedDataParallel = classes(__name__, "FullyShardedDataParallel", _METHODS)["FullyShardedDataParallel"]

adopt(globals())
