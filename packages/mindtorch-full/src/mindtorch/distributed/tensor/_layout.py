"""Where the parts of a tensor are, and how one arrangement becomes another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mindtorch as torch
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.distributed.tensor.placement_types import (
    Partial,
    Placement,
    Replicate,
    Shard,
    _NormPartial,
    _StridedShard,
)

_REDUCTIONS = {"sum": "sum", "avg": "sum", "max": "max", "min": "min", "product": "product"}
_OF_TRUTHS = {"sum": "max", "product": "min"}
"""What `any` and `all` of parts are reduced by: a sum of truth values is whether one is true."""


@dataclass(frozen=True)
class Layout:
    """A tensor's mesh, its placements, and its geometry as a whole."""

    mesh: Any
    placements: tuple[Placement, ...]
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        """The number of the tensor's dimensions."""
        return len(self.shape)

    def plain(self) -> Layout:
        """Return the layout without what a description adds to it."""
        return Layout(self.mesh, tuple(self.placements), tuple(self.shape), tuple(self.stride), self.dtype)


def check_partials(placements: Sequence[Placement]) -> None:
    """ValueError for terms of several reductions: which comes first would matter, but for sums and means."""
    found = {placement.reduce_op for placement in placements if isinstance(placement, Partial)}
    if len(found) > 1 and found != {"sum", "avg"}:
        raise ValueError(
            f"Mixed Partial reduce types are not supported in the same placement list. Found reduce ops: {found}. "
            "Please ensure all Partial placements use the same reduce operation."
        )


def normalize(placements: Sequence[Placement] | None, mesh: Any, ndim: int) -> tuple[Placement, ...]:
    """Return one placement for every dimension of the mesh, with dimensions counted from the front."""
    if placements is None:
        return (Replicate(),) * mesh.ndim
    if len(placements) != mesh.ndim:
        raise ValueError(
            "`placements` must have the same length as `device_mesh.ndim`! "
            f"Found placements length: {len(placements)}, and device_mesh.ndim: {mesh.ndim}."
        )
    check_partials(placements)
    result: list[Placement] = []
    for placement in placements:
        if isinstance(placement, (Shard, _StridedShard)):
            dim = placement.dim + ndim if placement.dim < 0 else placement.dim
            if dim >= ndim:
                raise AssertionError(f"Sharding dim {dim} greater than tensor ndim {ndim}")
            if isinstance(placement, _StridedShard):
                result.append(_StridedShard(dim, split_factor=placement.split_factor))
            else:
                result.append(Shard(dim))
        else:
            result.append(placement)
    return tuple(result)


def cutting_order(placements: Sequence[Placement]) -> list[int]:
    """Return the dimensions of the mesh in the order in which they cut a tensor: those of strided shards come last."""
    return sorted(range(len(placements)), key=lambda at: isinstance(placements[at], _StridedShard))


def local_shape_and_offset(
    shape: Sequence[int], mesh: Any, placements: Sequence[Placement], coordinate: Sequence[int] | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of a process's part, and where in the tensor it begins."""
    place = mesh.get_coordinate() if coordinate is None else coordinate
    size, offset = list(shape), [0] * len(shape)
    for mesh_dim in cutting_order(placements):
        placement = placements[mesh_dim]
        if isinstance(placement, (Shard, _StridedShard)):
            length, start = Shard.local_shard_size_and_offset(size[placement.dim], mesh.size(mesh_dim), place[mesh_dim])
            size[placement.dim] = length
            offset[placement.dim] += start
    return tuple(size), tuple(offset)


def _gather(local: Any, dim: int, size: int, mesh: Any, mesh_dim: int) -> Any:
    """Put together the parts of a dimension that has `size` elements in all."""
    parts = mesh.size(mesh_dim)
    lengths = [Shard.local_shard_size_and_offset(size, parts, rank)[0] for rank in range(parts)]
    part = local.movedim(dim, 0).contiguous()
    if part.shape[0] > lengths[0]:  # of a size that the shape given to `from_local` has no room for
        part = part[: lengths[0]]
    elif part.shape[0] < lengths[0]:
        filler = torch.zeros((lengths[0] - part.shape[0], *part.shape[1:]), dtype=part.dtype, device=part.device)
        part = torch.cat([part, filler])
    whole = finished.all_gather_single(part, 0, mesh.get_group(mesh_dim))
    return whole.narrow(0, 0, size).movedim(0, dim).contiguous()


def _reduce(local: Any, placement: Any, mesh: Any, mesh_dim: int) -> Any:
    if isinstance(placement, _NormPartial):
        return _reduce_norm(local, placement.norm_type, mesh.get_group(mesh_dim))
    name = _REDUCTIONS.get(placement.reduce_op)
    if name is None:
        raise NotImplementedError(f"Partial({placement.reduce_op!r}): this reduction is not offered")
    if local.dtype == torch.bool:
        name = _OF_TRUTHS.get(name, name)
    result = finished.all_reduce(local, name, mesh.get_group(mesh_dim))
    return result / mesh.size(mesh_dim) if placement.reduce_op == "avg" else result


def _reduce_norm(local: Any, power: float, group: Any) -> Any:
    """Return the norm of a whole from the norms of its parts."""
    if power in (float("inf"), float("-inf"), 0, 1):
        return finished.all_reduce(local, {float("inf"): "max", float("-inf"): "min"}.get(power, "sum"), group)
    return finished.all_reduce(local**power, "sum", group) ** (1.0 / power)


def chunk(local: Any, dim: int, mesh: Any, mesh_dim: int) -> Any:
    """Return this process's part of a dimension."""
    place = mesh.get_coordinate()[mesh_dim]
    length, start = Shard.local_shard_size_and_offset(local.shape[dim], mesh.size(mesh_dim), place)
    return local.narrow(dim, start, length).contiguous()


def _reduce_to_part(local: Any, name: str, dim: int, mesh: Any, mesh_dim: int) -> Any:
    """Reduce over processes and keep this one's part."""
    part = local.movedim(dim, 0).contiguous()
    result = finished.reduce_scatter_single(part, name, mesh.get_group(mesh_dim))
    return result.movedim(0, dim).contiguous()


def _one_step(local: Any, shape: Sequence[int], mesh: Any, current: list[Any], mesh_dim: int, target: Any) -> Any:
    """Change the placement along one dimension of the mesh."""
    source = current[mesh_dim]
    current[mesh_dim] = target
    if isinstance(source, Partial):
        if isinstance(target, (Shard, _StridedShard)):
            name = _REDUCTIONS.get(source.reduce_op)
            if name and local.shape[target.dim] % mesh.size(mesh_dim) == 0 and local.dtype != torch.bool:
                result = _reduce_to_part(local, name, target.dim, mesh, mesh_dim)
                return result / mesh.size(mesh_dim) if source.reduce_op == "avg" else result
            return chunk(_reduce(local, source, mesh, mesh_dim), target.dim, mesh, mesh_dim)
        return _reduce(local, source, mesh, mesh_dim)
    if isinstance(source, Shard):
        before, _ = local_shape_and_offset(shape, mesh, current[:mesh_dim])
        local = _gather(local, source.dim, before[source.dim], mesh, mesh_dim)
    if isinstance(source, _StridedShard):
        whole = [*current[:mesh_dim], Replicate(), *current[mesh_dim + 1 :]]
        before, _ = local_shape_and_offset(shape, mesh, whole)
        local = _gather(local, source.dim, before[source.dim], mesh, mesh_dim)
    if isinstance(target, (Shard, _StridedShard)):
        return chunk(local, target.dim, mesh, mesh_dim)
    if isinstance(target, Partial):
        if target.reduce_op == "sum":
            return local / mesh.size(mesh_dim)
        if target.reduce_op not in ("avg", "max", "min"):
            raise NotImplementedError(f"Partial({target.reduce_op!r}): nothing can be spread to it")
    return local


def _gather_strided(local: Any, shape: Sequence[int], mesh: Any, current: list[Any], final: list[Any]) -> Any:
    """Put together strided shards of dimensions of the tensor that are cut anew: they are the innermost cuts."""
    both = list(zip(current, final, strict=True))
    anew = {getattr(one, "dim", None) for pair in both if pair[0] != pair[1] for one in pair}
    for mesh_dim, source in enumerate(current):
        if isinstance(source, _StridedShard) and source.dim in anew:
            local = _one_step(local, shape, mesh, current, mesh_dim, Replicate())
    return local


def redistribute_local(local: Any, layout: Layout, placements: Sequence[Placement]) -> Any:
    """Return this process's part of the tensor in another arrangement."""
    current, mesh = list(layout.placements), layout.mesh
    if tuple(current) == tuple(placements):
        return local
    check_partials(current)
    check_partials(placements)
    final = list(placements)
    local = _gather_strided(local, layout.shape, mesh, current, final)
    for mesh_dim in reversed(range(mesh.ndim)):
        source = current[mesh_dim]
        nested = isinstance(source, Shard) and any(
            earlier != final[index]
            and source.dim in (getattr(earlier, "dim", None), getattr(final[index], "dim", None))
            for index, earlier in enumerate(current[:mesh_dim])
        )
        if nested:  # the parts of parts are put together before the parts are
            local = _one_step(local, layout.shape, mesh, current, mesh_dim, Replicate())
    for mesh_dim in cutting_order(final):
        target = final[mesh_dim]
        if current[mesh_dim] != target:
            inner = isinstance(target, Shard) and any(
                isinstance(later, Shard) and later.dim == target.dim for later in current[mesh_dim + 1 :]
            )
            if inner:
                raise NotImplementedError(f"redistribute from {layout.placements} to {tuple(placements)}")
            local = _one_step(local, layout.shape, mesh, current, mesh_dim, target)
    return local
