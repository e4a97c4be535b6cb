"""Ops on spread tensors whose parts' results are compared: where the largest element is, and whether two are equal."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.distributed.tensor._layout import local_shape_and_offset, redistribute_local
from mindtorch.distributed.tensor.placement_types import Partial, Replicate, Shard


def cut_along(tensor: Any, dim: int | None = None, keepdim: bool = False) -> list[int]:
    """Return the dimensions of the mesh that cut what `argmax` reduces; none where another way is needed."""
    spec = tensor._dtensor_spec
    whole = {dim % tensor.ndim} if dim is not None and tensor.ndim else set(range(tensor.ndim))
    cut = [at for at, p in enumerate(spec.placements) if isinstance(p, Shard) and p.dim in whole]
    simple = len(cut) == 1 and all(isinstance(p, Replicate) for at, p in enumerate(spec.placements) if at not in cut)
    return cut if simple and 0 not in tensor._local_tensor.shape and _all_have_some(tensor, cut[0]) else []


def _all_have_some(tensor: Any, mesh_dim: int) -> bool:
    spec = tensor._dtensor_spec
    size, ways = spec.shape[spec.placements[mesh_dim].dim], spec.mesh.size(mesh_dim)
    return bool(-(-size // ways) * (ways - 1) < size)


def place(cls: Any, name: str, tensor: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return where the largest or smallest elements are: of all processes' candidates the first of the best."""
    spec, local = tensor._dtensor_spec, tensor._local_tensor
    (mesh_dim,) = cut_along(tensor, dim)
    group, ways = spec.mesh.get_group(mesh_dim), spec.mesh.size(mesh_dim)
    _, offset = local_shape_and_offset(spec.shape, spec.mesh, spec.placements)
    find = getattr(torch, name)
    if dim is None:
        place = find(local)
        best, own = local.reshape(-1)[place], _in_whole(place, local.shape, spec.shape, offset)
    else:
        place = find(local, dim, keepdim=True)
        best, own = local.gather(dim, place), place + offset[dim]
    values = finished.all_gather_single(best.unsqueeze(0).contiguous(), 0, group)
    places = finished.all_gather_single(own.unsqueeze(0).contiguous(), 0, group)
    assert values.shape[0] == ways
    result = places.gather(0, find(values, 0, keepdim=True)).squeeze(0)
    if dim is None:
        result = result.reshape((1,) * tensor.ndim) if keepdim else result
    elif not keepdim:
        result = result.squeeze(dim)
    return cls._wrap(result, spec.mesh, (Replicate(),) * spec.mesh.ndim)


def _in_whole(place: Any, local: Any, whole: Any, offset: Any) -> Any:
    """Return the place in the whole, counted through all dimensions, of one in the part."""
    found, step = torch.zeros_like(place), 1
    for size, own, start in reversed(list(zip(whole, local, offset, strict=True))):
        found = found + (place % own + start) * step
        place = place // own
        step *= size
    return found


def equal(cls: Any, left: Any, right: Any) -> bool:
    """Return whether two tensors are equal on all processes."""
    spread = left if isinstance(left, cls) else right
    mesh = spread._dtensor_spec.mesh
    copies = (Replicate(),) * mesh.ndim
    both = [one if isinstance(one, cls) else cls._wrap(one, mesh, copies) for one in (left, right)]
    specs = [one._dtensor_spec for one in both]
    aligned = specs[0].placements == specs[1].placements and not any(
        isinstance(p, Partial) for p in specs[0].placements
    )
    parts = [one._local_tensor for one in both]
    if left.shape != right.shape:
        return False
    if not aligned:
        parts = [redistribute_local(part, spec, copies) for part, spec in zip(parts, specs, strict=True)]
    found = torch.tensor(int(torch.equal(*parts)), device=parts[0].device)
    for mesh_dim in range(mesh.ndim):
        dist.all_reduce(found, op=dist.ReduceOp.MIN, group=mesh.get_group(mesh_dim))
    return bool(found.item())
