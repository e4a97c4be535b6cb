"""What `fully_shard` checks and collects before it spreads parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from mindtorch.distributed.fsdp._fully_shard._fsdp_param import FSDPParam, MeshInfo
from mindtorch.distributed.fsdp._fully_shard._fsdp_state import state_of
from mindtorch.distributed.tensor import Shard

Placing = Callable[[nn.Parameter], Shard | None]


def check_module(module: nn.Module) -> None:
    """ValueError for a container that cannot be run."""
    if isinstance(module, (nn.ModuleList, nn.ModuleDict)) and type(module).forward is nn.Module.forward:
        raise ValueError(f"fully_shard does not support containers that do not implement forward: {module}")


def mesh_info(mesh: DeviceMesh | None) -> MeshInfo:
    """Return how a mesh, or all processes, hold parameters."""
    if mesh is None:
        if not dist.is_initialized():
            dist.init_process_group()
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    if mesh.ndim == 2 and mesh.mesh_dim_names is None:
        raise AssertionError("Please init the 2D mesh for HSDP with mesh_dim_names specified")
    return MeshInfo(mesh)


def reshards(given: bool | int, info: MeshInfo) -> bool:
    """Return whether parameters are freed after forward: all of them, also where a part of the mesh is to keep some."""
    if not isinstance(given, (bool, int)):
        raise ValueError(
            f"reshard_after_forward should be a bool or an int representing the group size to reshard to, not {given}"
        )
    if isinstance(given, bool):
        return given
    size = info.shard_size
    if given < 1 or given > size or size % given:
        raise ValueError(f"If passing reshard_after_forward as an int, it should be a factor of {size}, not {given}")
    return given > 1


def managed_modules(roots: Sequence[nn.Module]) -> list[nn.Module]:
    """Return the modules below `roots` that are not sharded by a call of their own."""
    found: list[nn.Module] = []
    seen: set[nn.Module] = set()

    def visit(module: nn.Module) -> None:
        if module not in roots and state_of(module) is not None:
            return
        seen.add(module)
        for child in module.children():
            if child not in seen:
                visit(child)
        found.append(module)

    for root in roots:
        if root not in seen:
            visit(root)
    return found


def owners_of(
    modules: Sequence[nn.Module], ignored: set[nn.Parameter]
) -> dict[nn.Parameter, list[tuple[nn.Module, str]]]:
    """Return the parameters of modules, and where each is found."""
    found: dict[nn.Parameter, list[tuple[nn.Module, str]]] = {}
    for module in modules:
        for name, param in module._parameters.items():
            if param is None or param in ignored:
                continue
            if not param.shape:
                raise ValueError(
                    "fully_shard doesn't support scalar parameters. "
                    f"Change {name} to a 1D tensor with numel equal to 1."
                )
            found.setdefault(param, []).append((module, name))
    return found


def move_to(modules: Sequence[nn.Module], ignored: set[nn.Parameter], device: torch.device) -> None:
    """Move what is not on `meta` to the device that is computed on."""
    for module in modules:
        for values in (module._parameters, module._buffers):
            for value in values.values():
                if value is None or value.device.type in (device.type, "meta"):
                    continue
                if not isinstance(value, nn.Parameter) or value not in ignored:
                    value.data = value.data.to(device)


def spread(
    owners: dict[nn.Parameter, list[tuple[nn.Module, str]]],
    info: MeshInfo,
    placing: Placing | None,
    dtype: torch.dtype | None,
    device: torch.device,
    offload: bool,
) -> list[FSDPParam]:
    """Spread parameters."""
    params = []
    for param, places in owners.items():
        placement = placing(param) if placing is not None else None
        if placement is not None and not isinstance(placement, Shard):
            raise NotImplementedError(f"fully_shard: {placement!r} as a placement of a parameter is not offered")
        params.append(FSDPParam(param, places, info, placement, dtype, device, offload))
    return params
