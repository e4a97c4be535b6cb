"""How processes hold the parameters of a module that FSDP1's class wraps, and what the class refuses to wrap."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.distributed.fsdp._fully_shard._fsdp_param import MeshInfo
from mindtorch.distributed.fsdp.api import ShardingStrategy
from mindtorch.tensor.tensor import Tensor

_HYBRID = (ShardingStrategy.HYBRID_SHARD, ShardingStrategy._HYBRID_SHARD_ZERO2)
_ON_DEVICES = (
    "The module has CPU parameters or buffers when `sync_module_states=True`, which requires them to be on GPU. Please "
    "specify the `device_id` argument or move the module to GPU before passing it to FSDP."
)
_ALONE = "FSDP is switching to use `NO_SHARD` instead of {} since the world size is 1."
_PLAIN = (
    "The `NO_SHARD` sharding strategy is deprecated. If having issues, please use `DistributedDataParallel` instead."
)


class Holding(NamedTuple):
    """Which processes hold parts, and the strategy that is left when a group has one process."""

    info: MeshInfo
    strategy: ShardingStrategy


def holding(group: Any, strategy: ShardingStrategy | None, mesh: DeviceMesh | None, kind: str) -> Holding:
    """Return how processes hold parameters under a strategy.

    Where parts have one holder the strategy becomes `NO_SHARD`, as in torch. Copies over a mesh of (n, 1) stay copies:
    torch divides their gradients by n and adds nothing up, so that they drift apart.
    """
    chosen = ShardingStrategy.FULL_SHARD if strategy is None else strategy
    if mesh is not None and chosen in _HYBRID:
        if mesh.ndim != 2:
            raise ValueError(f"Expected device_mesh to have ndim=2 but got {mesh.ndim}")
        info = MeshInfo(mesh)
    elif mesh is not None:
        info = MeshInfo(mesh if mesh.ndim == 1 else DeviceMesh.from_group(mesh.get_group(0), kind))
    elif chosen in _HYBRID:
        inner, outer = group
        ranks = torch.arange(dist.get_world_size()).view(dist.get_world_size(outer), -1)
        info = MeshInfo(DeviceMesh(kind, ranks, mesh_dim_names=("replicate", "shard"), _groups=[outer, inner]))
    else:
        info = MeshInfo(DeviceMesh.from_group(dist.group.WORLD if group is None else group, kind))
    if info.shard_size == 1 and chosen is not ShardingStrategy.NO_SHARD:
        warnings.warn(_ALONE.format(chosen), stacklevel=3)
        return Holding(info, ShardingStrategy.NO_SHARD)
    if not isinstance(chosen, ShardingStrategy):
        raise KeyError(chosen)
    if chosen is ShardingStrategy.NO_SHARD:
        warnings.warn(_PLAIN, FutureWarning, stacklevel=3)
        info = _whole_copies(info, kind)
    return Holding(info, chosen)


def groups_of_copies(group: Any, strategy: Any, mesh: DeviceMesh | None, kind: str, wraps_children: bool) -> Any:
    """Return the group that is used: for copies of parts, those of the parts and of the copies."""
    if strategy not in _HYBRID or mesh is not None:
        return group
    if group is None and not wraps_children:
        raise ValueError(
            f"Manual wrapping with {strategy} requires explicit specification of process group or device_mesh."
        )
    if group is None:
        return _hosts(kind)
    if isinstance(group, tuple) and len(group) == 2 and all(isinstance(one, dist.ProcessGroup) for one in group):
        return group
    raise ValueError(
        f"Expected process_group to be passed in as either None or Tuple[dist.ProcessGroup, dist.ProcessGroup] but "
        f"got {type(group)}"
    )


def _hosts(kind: str) -> tuple[Any, Any]:
    """Return the group of this host's processes, and that of the processes with this one's place on all hosts."""
    size, rank = dist.get_world_size(), dist.get_rank()
    module: Any = torch.get_device_module(kind)
    here = min(int(module.device_count()), size)
    inner = [dist.new_group(list(range(start, start + here))) for start in range(0, size, here)]
    outer = [dist.new_group(list(range(place, size, here))) for place in range(here)]
    return inner[rank // here], outer[rank % here]


def _whole_copies(info: MeshInfo, kind: str) -> MeshInfo:
    """Return that every process of a group holds all of it; the groups are made by all processes, in one order."""
    group = info.shard_group
    if info.shard_size == 1:
        return MeshInfo(DeviceMesh.from_group(group, kind))
    ranks = torch.tensor(dist.get_process_group_ranks(group)).view(-1, 1)
    alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
    return MeshInfo(DeviceMesh(kind, ranks, mesh_dim_names=("replicate", "shard"), _groups=[group, alone]))


def ignored_parameters(
    modules: Iterable[nn.Module] | None, states: Iterable[Any] | None, wrapper: type[nn.Module]
) -> set[nn.Parameter]:
    """Return the parameters that stay as they are."""
    if modules is not None and states is not None:
        raise ValueError(
            "Cannot pass both ignored_modules and ignored_states at the same time. Please just pass ignored_states."
        )
    given = [] if states is None else list(states)
    kind = nn.Parameter if given and isinstance(given[0], nn.Parameter) else nn.Module
    if not all(isinstance(one, kind) for one in given):
        raise ValueError(
            f"ignored_states expects all nn.Parameter or all nn.Module list elements but got types {_kinds(given)}"
        )
    chosen = [] if modules is None else list(modules)
    for one in chosen:
        if not isinstance(one, nn.Module):
            raise ValueError(f"ignored_modules expects nn.Module list elements but got types {_kinds(chosen)}")
        if isinstance(one, wrapper):
            raise ValueError("`ignored_modules` should not include FSDP modules")
    found: set[nn.Parameter] = set()
    for one in [*chosen, *given]:
        found.update(one.parameters() if isinstance(one, nn.Module) else [one])
    return found


def _kinds(values: Sequence[Any]) -> list[type]:
    return [type(value) for value in values]


def materialize(module: nn.Module, init: Callable[[nn.Module], None] | None, device: torch.device | None) -> None:
    """Give parameters on `meta` data: by a function of the program's, else on a device by `reset_parameters`."""
    parts = [part for part in module.modules() if _has_meta_state(part)]
    if not parts:
        return
    if init is not None:
        if not callable(init):
            raise ValueError(f"Expected {init} to be callable but got {type(init)}")
        for part in parts:
            init(part)
    elif device is not None:
        with torch.no_grad():
            for part in parts:
                part.to_empty(device=device, recurse=False)
                reset: Any = getattr(part, "reset_parameters", None)
                if reset is None:
                    raise AttributeError(f"'{type(part).__name__}' object has no attribute 'reset_parameters'")
                reset()


def _has_meta_state(part: nn.Module) -> bool:
    own = [*part._parameters.values(), *part._buffers.values()]
    return any(value is not None and value.device.type == "meta" for value in own)


def check_uniform(module: nn.Module, ignored: set[nn.Parameter], use_orig_params: bool) -> None:
    """ValueError where torch's flat parameter could not hold the parameters that one unit has."""
    mine = [
        param for param in module.parameters() if param not in ignored and not isinstance(param, dist.tensor.DTensor)
    ]
    for param in mine[1:]:
        if param.is_floating_point() and param.dtype != mine[0].dtype:
            raise ValueError(f"Must flatten tensors with uniform dtype but got {mine[0].dtype} and {param.dtype}")
        if not use_orig_params and param.requires_grad != mine[0].requires_grad:
            raise ValueError("Must flatten tensors with uniform `requires_grad` when `use_orig_params=False`")


def check_synced(module: nn.Module, given: torch.device | None) -> None:
    """ValueError for parameters of a host that shall become those of rank 0: torch sends those of devices alone.

    A program that names no device runs on hosts with ours alone, where they are sent.
    """
    if given is not None and any(state.device.type == "cpu" for state in [*module.parameters(), *module.buffers()]):
        raise ValueError(_ON_DEVICES)


def check_hook(strategy: ShardingStrategy, hook: object) -> None:
    """AssertionError where copies of parts are reduced, ValueError for what is no function."""
    if strategy in _HYBRID:
        raise AssertionError(f"Communication hook is not supported for hybrid strategies: {strategy}")
    if not callable(hook):
        raise ValueError(f"The communication hook must be callable but got {hook}")


def by_hook(
    hook: Callable[..., object], state: object, info: MeshInfo, whole: bool
) -> Callable[[list[Tensor]], list[Tensor]]:
    """Return what reduces the gradients of a unit as a function of a program does."""

    def reduce(inputs: list[Tensor]) -> list[Tensor]:
        size = info.shard_size
        packed = torch.cat([given.view(size, -1) for given in inputs], dim=1).view(-1)
        output = packed
        if whole:
            hook(state, packed)
        else:
            output = packed.new_empty(packed.numel() // size)
            hook(state, packed, output)
        return list(output.split([given.numel() // size for given in inputs]))

    return reduce
