"""`torch.distributed.fsdp._common_utils`: states of a wrapped module, and names without those of wrappers."""

from __future__ import annotations

from enum import Enum, auto

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed.fsdp.fully_sharded_data_parallel import FullyShardedDataParallel

FSDP_WRAPPED_MODULE = "_fsdp_wrapped_module"
FSDP_PREFIX = FSDP_WRAPPED_MODULE + "."
FSDP_FLATTENED = "_fsdp_flattened"
_CHECKPOINTED = "_checkpoint_wrapped_module."


class TrainingState(Enum):
    """What a wrapped module does."""

    IDLE = auto()
    FORWARD_BACKWARD = auto()
    SUMMON_FULL_PARAMS = auto()


class HandleTrainingState(Enum):
    """What the parameters of a wrapped module are needed for."""

    IDLE = auto()
    FORWARD = auto()
    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()
    SUMMON_FULL_PARAMS = auto()


def clean_tensor_name(tensor_name: str) -> str:
    """Return a parameter's name without the names of modules that wrap others."""
    return tensor_name.replace(FSDP_PREFIX, "").replace(_CHECKPOINTED, "")


def _get_module_fsdp_state(module: nn.Module) -> FullyShardedDataParallel | None:
    """Return the wrapper that a module is, None where it is another module."""
    return module if isinstance(module, FullyShardedDataParallel) else None


def _named_parameters_with_duplicates(module: nn.Module, **kwargs: bool | str) -> list[tuple[str, nn.Parameter]]:
    """Return all names of all parameters, also those of one parameter."""
    return list(module.named_parameters(remove_duplicate=False, **kwargs))  # type: ignore[arg-type]


def _get_param_to_fqns(module: nn.Module, dedup_shared_params: bool = True) -> dict[nn.Parameter, list[str]]:
    """Return the clean names of every parameter: the first, or all of them."""
    found: dict[nn.Parameter, list[str]] = {}
    for name, parameter in _named_parameters_with_duplicates(module):
        names = found.setdefault(parameter, [])
        if not names or not dedup_shared_params:
            names.append(clean_tensor_name(name))
    return found


adopt(globals())
