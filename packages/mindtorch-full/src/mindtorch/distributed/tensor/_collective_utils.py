"""Collectives along a dimension of a mesh, and tensors that are made longer or shorter for them."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.distributed.device_mesh import DeviceMesh
from mindtorch.tensor.tensor import Tensor


def shard_dim_alltoall(input: Tensor, gather_dim: int, shard_dim: int, mesh: DeviceMesh, mesh_dim: int) -> Tensor:
    """Return the whole along one dimension of a tensor and this process's part along another."""
    whole = finished.all_gather_single(input, gather_dim, (mesh, mesh_dim))
    parts: tuple[Tensor, ...] = whole.chunk(mesh.size(mesh_dim), shard_dim)
    place = mesh.get_local_rank(mesh_dim)
    if place < len(parts):
        return parts[place].contiguous()
    return whole.narrow(shard_dim, 0, 0).contiguous()


def mesh_scatter(
    output: Tensor,
    scatter_list: list[Tensor],
    mesh: DeviceMesh,
    mesh_dim: int = 0,
    async_op: bool = False,
    *,
    group_src: int = 0,
) -> Any:
    """Write into `output` what the line's `group_src` has for this process; tensors on meta are let be."""
    if output.is_meta:
        return None
    group = mesh.get_group(mesh_dim)
    given = scatter_list if group_src == dist.get_rank(group) else None
    return dist.scatter(output, scatter_list=given, group=group, async_op=async_op, group_src=group_src)


def mesh_broadcast(
    tensor: Tensor, mesh: DeviceMesh, mesh_dim: int = 0, async_op: bool = False, *, group_src: int = 0
) -> Any:
    """Give a tensor the values of the line's `group_src`; tensors on meta are let be."""
    if tensor.is_meta:
        return None
    return dist.broadcast(tensor, group=mesh.get_group(mesh_dim), async_op=async_op, group_src=group_src)


def pad_tensor(tensor: Tensor, pad_dim: int, pad_size: int) -> Tensor:
    """Return a tensor with so many zeros more at the end of a dimension."""
    if pad_size == 0:
        return tensor
    return torch.nn.functional.pad(tensor, [0, 0] * (tensor.ndim - pad_dim - 1) + [0, pad_size])


def unpad_tensor(tensor: Tensor, pad_dim: int, pad_size: int) -> Tensor:
    """Return a view without the last elements of a dimension."""
    if pad_size == 0:
        return tensor
    return tensor.narrow(pad_dim, 0, tensor.size(pad_dim) - pad_size)


def fill_empty_tensor_to_shards(shards: list[Tensor], shard_dim: int, num_empty_tensors: int) -> list[Tensor]:
    """Add so many tensors of length zero to the parts of a tensor."""
    if num_empty_tensors:
        size = list(shards[0].size())
        size[shard_dim] = 0
        shards.extend(shards[0].new_zeros(size) for _ in range(num_empty_tensors))
    return shards


def check_tensor_meta(local_tensor: Tensor, check_shape_stride: bool = False) -> None:
    """ValueError where the processes' tensors differ in dtype, in whether they need gradients, or in shape and stride."""
    own: dict[str, object] = {"dtype": local_tensor.dtype, "requires_grad": local_tensor.requires_grad}
    if check_shape_stride:
        own |= {"shape": local_tensor.shape, "stride": local_tensor.stride()}
    told: list[object] = [None] * dist.get_world_size()
    dist.all_gather_object(told, own)
    if any(other != own for other in told):
        raise ValueError("Inconsistent tensor metadata (including shape and stride) across ranks.")


adopt(globals())
