"""States of models and optimizers by the names of parameters, the same on any number of processes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed.tensor import DTensor, distribute_tensor
from mindtorch.nn.modules.module import _IncompatibleKeys
from mindtorch.optim.optimizer import Optimizer
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "FQNS_T",
    "DictValueType",
    "ListDictValueType",
    "OptimizerStateType",
    "PrimitiveType",
    "StateDictOptions",
    "ValueType",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

PrimitiveType = Any
ValueType = Any
DictValueType = dict[str, Any]
ListDictValueType = list[dict[str, Any]]
OptimizerStateType = dict[str, Any]
FQNS_T = set[str]

_STATE, _GROUPS, _PARAMS = "state", "param_groups", "params"
_WRAPPERS = ("module.", "_orig_mod.", "_checkpoint_wrapped_module.", "_fsdp_wrapped_module.")


@dataclass
class StateDictOptions:
    """How states are given and taken."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _checked(options: StateDictOptions | None) -> StateDictOptions:
    chosen = options if options is not None else StateDictOptions()
    if chosen.broadcast_from_rank0 and not chosen.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    return chosen


def _plain_name(model: nn.Module, name: str) -> str:
    """Return a parameter's name without the names of modules that wrap others."""
    parts, module, result = name.split("."), model, []
    for index, part in enumerate(parts):
        inner = getattr(module, part, None)
        hidden = f"{part}." in _WRAPPERS and index < len(parts) - 1
        if hidden and part == "module":
            hidden = isinstance(module, (nn.parallel.DistributedDataParallel, nn.DataParallel))
        if not hidden:
            result.append(part)
        module = inner if isinstance(inner, nn.Module) else module
    return ".".join(result)


def _names(model: nn.Module) -> dict[nn.Parameter, str]:
    """Return every parameter's plain name, its first where it has several."""
    return {param: _plain_name(model, name) for name, param in model.named_parameters()}


def _gathered(value: Any, options: StateDictOptions) -> Any:
    """Return a value whole and on the host, as options say."""
    if isinstance(value, dict):
        return {key: _gathered(inner, options) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_gathered(inner, options) for inner in value)
    if not isinstance(value, Tensor):
        return value
    if options.full_state_dict and isinstance(value, DTensor):
        value = value.full_tensor()
    return value.cpu() if options.cpu_offload and value.device.type != "cpu" else value


def _check_model_state(state: dict[str, Any], options: StateDictOptions) -> None:
    """RuntimeError for a model without a state, where there is to be one."""
    elsewhere = options.cpu_offload and options.full_state_dict
    lenient = elsewhere or options.ignore_frozen_params or options.broadcast_from_rank0 or not options.strict
    if not state and not lenient:
        raise RuntimeError(
            "The option indicates that model state_dict is required to save or load, but model state_dict is empty."
            f"rank = {dist.get_rank()=}."
        )


def _for_this_rank(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """Return whole states, or nothing where another process keeps them for all."""
    result: dict[str, Any] = _gathered(state, options)
    elsewhere = options.full_state_dict and options.cpu_offload and dist.is_initialized() and dist.get_rank() != 0
    return {} if elsewhere else result


def get_model_state_dict(
    model: nn.Module, *, submodules: set[nn.Module] | None = None, options: StateDictOptions | None = None
) -> dict[str, ValueType]:
    """Return a model's state by plain names.

    get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    """
    chosen = _checked(options)
    with torch.no_grad():
        state = {_plain_name(model, name): value for name, value in model.state_dict().items()}
    if chosen.ignore_frozen_params:
        frozen = {_plain_name(model, name) for name, p in model.named_parameters() if not p.requires_grad}
        state = {name: value for name, value in state.items() if name not in frozen}
    if submodules:
        state = _of_submodules(model, submodules, state, chosen)
    else:
        _check_model_state(state, chosen)
    return _for_this_rank(state, chosen)


def _of_submodules(
    model: nn.Module, submodules: set[nn.Module], state: dict[str, Any], options: StateDictOptions
) -> dict[str, Any]:
    result = {}
    for name, module in model.named_modules():
        if module in submodules:
            prefix = _plain_name(model, name) + "."
            for key, value in state.items():
                if key.startswith(prefix):
                    result[key if options.keep_submodule_prefixes else key.removeprefix(prefix)] = value
    return result


def _init_optim_state(optimizer: Optimizer) -> None:
    """Let an optimizer make its states, by a step that changes nothing."""
    if optimizer.state:
        return
    params = [param for group in optimizer.param_groups for param in group[_PARAMS]]
    if any(param.grad is not None for param in params):
        return
    rates = []
    for param in params:
        if param.requires_grad:
            param.grad = torch.zeros_like(param)
    for group in optimizer.param_groups:
        rates.append(group.get("lr"))
        if "lr" in group:
            group["lr"] = torch.tensor(0.0) if isinstance(group["lr"], Tensor) else 0.0
    optimizer.step(closure=None)
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if "lr" in group:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)


def _optimizers(given: Optimizer | Iterable[Optimizer]) -> list[Optimizer]:
    return [given] if isinstance(given, Optimizer) else list(given)


def get_optimizer_state_dict(
    model: nn.Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[nn.Module] | None = None,
    options: StateDictOptions | None = None,
) -> OptimizerStateType:
    """Return the states of optimizers by plain names of parameters."""
    chosen, names = _checked(options), _names(model)
    kept = None if not submodules else {p for module in submodules for p in module.parameters()}
    merged: OptimizerStateType = {_STATE: {}, _GROUPS: []}
    for optimizer in _optimizers(optimizers):
        with torch.no_grad():
            _init_optim_state(optimizer)
        state = optimizer.state_dict()
        params = [param for group in optimizer.param_groups for param in group[_PARAMS]]
        for index, param in enumerate(params):
            if (kept is None or param in kept) and index in state[_STATE]:
                merged[_STATE][names[param]] = state[_STATE][index]
        for group in state[_GROUPS]:
            members = [params[index] for index in group[_PARAMS] if kept is None or params[index] in kept]
            merged[_GROUPS].append({**group, _PARAMS: [names[param] for param in members]})
    result = _for_this_rank(merged, chosen)
    return _flat_optimizer_state(result) if chosen.flatten_optimizer_state_dict and result else result


def _flat_optimizer_state(state: OptimizerStateType) -> OptimizerStateType:
    """Return one level: `state.NAME.KEY` and `param_groups.NAME.KEY`."""
    flat: OptimizerStateType = {}
    for name, values in state[_STATE].items():
        flat.update({f"{_STATE}.{name}.{key}": value for key, value in values.items()})
    for group in state[_GROUPS]:
        for name in group[_PARAMS]:
            flat.update({f"{_GROUPS}.{name}.{key}": value for key, value in group.items() if key != _PARAMS})
    return flat


def get_state_dict(
    model: nn.Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    submodules: set[nn.Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[dict[str, ValueType], OptimizerStateType]:
    """Return the states of a model and of its optimizers."""
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(model, optimizers, submodules=submodules, options=options),
    )


def _fitted(value: Any, like: Any) -> Any:
    """Return a loaded value as the parameter's are: in parts, where those are."""
    if isinstance(like, DTensor) and isinstance(value, Tensor) and not isinstance(value, DTensor) and value.dim():
        return distribute_tensor(value.detach(), like.device_mesh, like.placements, src_data_rank=None)
    return value


def _broadcast(state: dict[str, Any], options: StateDictOptions) -> dict[str, Any]:
    """Give rank 0's whole state to all."""
    if not options.broadcast_from_rank0 or not dist.is_initialized():
        return state
    box: list[Any] = [state if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, src=0)
    received: dict[str, Any] = box[0]
    return received


def set_model_state_dict(
    model: nn.Module, model_state_dict: dict[str, ValueType], *, options: StateDictOptions | None = None
) -> _IncompatibleKeys:
    """Load a state by plain names; whole tensors become parts where the model's are."""
    chosen = _checked(options)
    _check_model_state(model_state_dict, chosen)
    if not model_state_dict and not chosen.broadcast_from_rank0:
        return _IncompatibleKeys([], [])
    given = _broadcast(model_state_dict, chosen)
    with torch.no_grad():
        own = model.state_dict()
        state = {}
        plain = {name: _plain_name(model, name) for name in own}
        for name, value in own.items():
            if plain[name] in given:
                state[name] = _fitted(given[plain[name]], value)
            elif name != plain[name] and chosen.strict:
                raise RuntimeError(f"Missing key: {plain[name]}.")
            elif chosen.full_state_dict and not (chosen.broadcast_from_rank0 and chosen.strict):
                state[name] = value  # what a whole state leaves out stays as it is
        known = set(plain.values())
        state.update({name: value for name, value in given.items() if name not in known})
        assign = any(param.device.type == "meta" for param in model.parameters())
        result: _IncompatibleKeys = model.load_state_dict(state, strict=chosen.strict, assign=assign)
    return result


def set_optimizer_state_dict(
    model: nn.Module,
    optimizers: Optimizer | Iterable[Optimizer],
    optim_state_dict: OptimizerStateType,
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load states of optimizers by plain names of parameters."""
    chosen, names = _checked(options), _names(model)
    if not optim_state_dict and not chosen.broadcast_from_rank0:
        if _optimizers(optimizers) and not (chosen.cpu_offload and chosen.full_state_dict):
            raise RuntimeError(
                "The option indicates that model state_dict is required to save, or load but optim state_dict is empty. "
                f"{optim_state_dict}"
            )
        return
    given = _broadcast(optim_state_dict, chosen)
    for optimizer in _optimizers(optimizers):
        with torch.no_grad():
            _init_optim_state(optimizer)
        if _STATE not in given:
            loaded = _nested_optimizer_state(given, optimizer, names)
        else:
            loaded = given
        optimizer.load_state_dict(_numbered(loaded, optimizer, names, chosen))


def _nested_optimizer_state(
    flat: OptimizerStateType, optimizer: Optimizer, names: dict[nn.Parameter, str]
) -> OptimizerStateType:
    """Return the state that `_flat_optimizer_state` was given, for one optimizer."""
    state: dict[str, Any] = {}
    groups = []
    for group in optimizer.param_groups:
        members = [names[param] for param in group[_PARAMS]]
        for param in group[_PARAMS]:
            prefix = f"{_STATE}.{names[param]}."
            kept = {key: flat[prefix + key] for key in optimizer.state.get(param, {}) if prefix + key in flat}
            if kept:
                state[names[param]] = kept
        made = {_PARAMS: members}
        for key in group:
            for name in members:
                if f"{_GROUPS}.{name}.{key}" in flat:
                    made[key] = flat[f"{_GROUPS}.{name}.{key}"]
        groups.append(made)
    return {_STATE: state, _GROUPS: groups}


def _numbered(
    given: OptimizerStateType, optimizer: Optimizer, names: dict[nn.Parameter, str], options: StateDictOptions
) -> OptimizerStateType:
    """Return a state by the numbers that an optimizer's `load_state_dict` wants."""
    if given[_STATE] and all(isinstance(key, int) for key in given[_STATE]):
        return given
    by_name = {name: group for group in given[_GROUPS] for name in group[_PARAMS]}
    state, groups, count = {}, [], 0
    for group in optimizer.param_groups:
        numbers = []
        loaded: dict[str, Any] = {}
        for param in group[_PARAMS]:
            name = names[param]
            loaded = by_name.get(name, loaded)
            if name in given[_STATE]:
                values = given[_STATE][name].items()
                state[count] = {key: _fitted(value, param) for key, value in values}
            elif options.strict and param.requires_grad and optimizer.state.get(param):
                raise RuntimeError(
                    f"Missing optimizer state for parameter '{name}' in checkpoint. "
                    "The parameter requires gradients but has no saved optimizer state. "
                    "To load anyway, use StateDictOptions(strict=False)."
                )
            numbers.append(count)
            count += 1
        kept = {key: value for key, value in group.items() if key != _PARAMS}
        groups.append({**kept, **{k: v for k, v in loaded.items() if k != _PARAMS}, _PARAMS: numbers})
    return {_STATE: state, _GROUPS: groups}


def set_state_dict(
    model: nn.Module,
    optimizers: Optimizer | Iterable[Optimizer],
    *,
    model_state_dict: dict[str, ValueType],
    optim_state_dict: OptimizerStateType,
    options: StateDictOptions | None = None,
) -> _IncompatibleKeys:
    """Load the states of a model and of its optimizers."""
    result = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return result


adopt(globals())
