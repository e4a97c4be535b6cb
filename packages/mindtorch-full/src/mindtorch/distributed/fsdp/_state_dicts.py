"""FSDP1's forms of state dicts: whole tensors, parts as `DTensor`s, and each process's own parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    _names,
    _numbered,
    get_optimizer_state_dict,
)
from mindtorch.distributed.fsdp.api import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from mindtorch.distributed.tensor import DTensor, distribute_tensor
from mindtorch.optim.optimizer import Optimizer
from mindtorch.tensor.tensor import Tensor

PREFIX = "_fsdp_wrapped_module."
DEPRECATED = (
    "FSDP.state_dict_type() and FSDP.set_state_dict_type() are being deprecated. Please use APIs, get_state_dict() and "
    "set_state_dict(), which can support different parallelisms, FSDP1, FSDP2, DDP. API doc: https://pytorch.org/docs/"
    "stable/distributed.checkpoint.html#torch.distributed.checkpoint.state_dict.get_state_dict .Tutorial: "
    "https://pytorch.org/tutorials/recipes/distributed_checkpoint_recipe.html ."
)
CONFIGS: dict[StateDictType, tuple[type[StateDictConfig], type[OptimStateDictConfig]]] = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig, LocalOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (ShardedStateDictConfig, ShardedOptimStateDictConfig),
}


def settings(
    kind: StateDictType, config: StateDictConfig | None, optim_config: OptimStateDictConfig | None
) -> StateDictSettings:
    """Return a form with its configurations; RuntimeError for those of another form."""
    wanted, optim_wanted = CONFIGS[kind]
    config = wanted() if config is None else config
    optim_config = optim_wanted() if optim_config is None else optim_config
    if type(config) is not wanted:
        raise RuntimeError(f"Expected state_dict_config of type {wanted} but got {type(config)}")
    if type(optim_config) is not optim_wanted:
        raise RuntimeError(f"Expected optim_state_dict_config of type {optim_wanted} but got {type(optim_config)}")
    return StateDictSettings(kind, config, optim_config)


def chosen(module: nn.Module) -> StateDictSettings | None:
    """Return the form that was chosen for a module's state dicts; None where nothing in it is wrapped."""
    found = (getattr(part, "_settings", None) for part in module.modules())
    return next((one for one in found if isinstance(one, StateDictSettings)), None)


def convert(state: dict[str, Any], prefix: str, chosen: StateDictSettings) -> None:
    """Bring what a module put into a state dict into a form, under plain names."""
    config = chosen.state_dict_config
    full = chosen.state_dict_type is StateDictType.FULL_STATE_DICT
    dropped = full and getattr(config, "rank0_only", False) and dist.get_rank() != 0
    for name in [name for name in state if name.startswith(prefix + PREFIX)]:
        value = state.pop(name)
        if isinstance(value, DTensor):
            if full:
                value = value.full_tensor()
            elif chosen.state_dict_type is StateDictType.LOCAL_STATE_DICT:
                value = value.to_local()
        if config.offload_to_cpu and isinstance(value, Tensor) and value.device.type != "cpu":
            value = value.cpu()
        if not dropped:
            state[prefix + name.removeprefix(prefix + PREFIX)] = value


def restore(state: dict[str, Any], prefix: str, module: nn.Module, chosen: StateDictSettings) -> None:
    """Bring a state dict of some form under the names and into the parts of a module."""
    own = dict(module.named_parameters())
    for name in [name for name in state if name.startswith(prefix) and not name.startswith(prefix + PREFIX)]:
        value, key = state.pop(name), name.removeprefix(prefix)
        param = own.get(key)
        if isinstance(param, DTensor) and isinstance(value, Tensor) and not isinstance(value, DTensor):
            if chosen.state_dict_type is StateDictType.LOCAL_STATE_DICT:
                value = DTensor(value, param._dtensor_spec, requires_grad=False)
            elif value.shape == param.shape:
                value = distribute_tensor(value.detach(), param.device_mesh, param.placements, src_data_rank=None)
        state[prefix + PREFIX + key] = value


def optimizer_state(model: nn.Module, optimizer: Optimizer, chosen: StateDictSettings) -> dict[str, Any]:
    """Return an optimizer's state by names, in a form."""
    config = chosen.optim_state_dict_config
    full = chosen.state_dict_type is StateDictType.FULL_STATE_DICT
    state = get_optimizer_state_dict(model, optimizer, options=StateDictOptions(full_state_dict=full))
    for values in state["state"].values():  # counters of steps are the optimizer's own: it goes on counting
        values.update({key: v.clone() for key, v in values.items() if isinstance(v, Tensor) and not v.dim()})
    return {} if full and getattr(config, "rank0_only", False) and dist.get_rank() != 0 else state


def numbered(model: nn.Module, optimizer: Optimizer, state: dict[str, Any]) -> dict[str, Any]:
    """Return what an optimizer's `load_state_dict` takes from a state by names or by numbers."""
    names = _names(model)
    if state["state"] and all(isinstance(key, int) for key in state["state"]):
        order = [names[param] for group in optimizer.param_groups for param in group["params"]]
        state = rekeyed(state, dict(enumerate(order)))
    result = _numbered(state, optimizer, names, StateDictOptions(strict=False))
    given = {id(tensor) for values in state["state"].values() for tensor in values.values()}
    for values in result["state"].values():  # an optimizer goes on with what it loads: the state that is given stays
        values.update({key: v.clone() for key, v in values.items() if isinstance(v, Tensor) and id(v) in given})
    return result


def rekeyed(state: dict[str, Any], keys: dict[Any, Any]) -> dict[str, Any]:
    """Return a state with other keys."""
    groups: Iterable[dict[str, Any]] = state["param_groups"]
    return {
        "state": {keys[key]: value for key, value in state["state"].items()},
        "param_groups": [{**group, "params": sorted(keys[key] for key in group["params"])} for group in groups],
    }
