"""Groups of some of the world's processes."""

from __future__ import annotations

import os
from typing import Any

import mindtorch
from mindtorch.distributed._names import Backend
from mindtorch.distributed._setup import (
    _find_pg_by_ranks_and_tag,
    _new_process_group_helper,
    _process_group_name,
    _store_based_barrier,
)
from mindtorch.distributed._world import (
    _check_valid_timeout,
    _get_default_group,
    _get_default_timeout,
    _world,
    get_backend,
    get_process_group_ranks,
    get_rank,
    get_world_size,
)


def new_group(
    ranks: Any = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some of the world's processes. All processes call it, members or not.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group = dist.new_group([0])
    >>> dist.get_world_size(group)
    1
    >>> dist.destroy_process_group()
    """
    return _new_group_with_tag(
        ranks, timeout, backend, pg_options, None, use_local_synchronization, group_desc, device_id, sort_ranks
    )


def _new_group_with_tag(
    ranks: Any = None,
    timeout: Any = None,
    backend: Any = None,
    backend_options: Any = None,
    pg_tag: str | None = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    everybody = _get_default_group()
    if device_id is None:
        device_id = everybody.bound_device_id
    elif everybody.bound_device_id is not None and device_id != everybody.bound_device_id:
        raise AssertionError("Mismatched bound device between new pg and the default pg.")
    default_backend, store = _world.pg_map[everybody]
    rank, size = everybody.rank(), everybody.size()
    backend = Backend(backend or default_backend)
    timeout = _get_default_timeout(backend) if timeout is None else timeout
    _check_valid_timeout(timeout)
    if use_local_synchronization:
        if backend == Backend.MPI:
            raise ValueError("MPI backend doesn't support use_local_synchronization=True")
        if ranks is not None and rank not in ranks:
            return None
    ranks = list(range(size)) if ranks is None else (sorted(ranks) if sort_ranks else list(ranks))
    _check_ranks(ranks, size)
    group_rank = ranks.index(rank) if rank in ranks else None
    name = _process_group_name(ranks, use_hashed_name=use_local_synchronization)
    pg, pg_store = _new_process_group_helper(
        len(ranks), group_rank, ranks, backend, store, name, backend_options, timeout, pg_tag, device_id, group_desc
    )
    _world.pg_group_ranks[pg] = {world: within for within, world in enumerate(ranks)}
    if os.getenv("TORCH_DIST_INIT_BARRIER", "0") == "1":
        local = use_local_synchronization
        _store_based_barrier(rank, pg_store if local else store, name, len(ranks) if local else size, timeout)
    return pg


def _check_ranks(ranks: list[int], size: int) -> None:
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {ranks}")
    if len(ranks) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in ranks:
        if rank < 0 or rank >= size:
            raise ValueError(f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})")


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Divide a group into subgroups of `group_size` neighbours.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group, groups = dist.new_subgroups(group_size=1)
    >>> group.size(), len(groups)
    (1, 1)
    >>> dist.destroy_process_group()
    """
    if group_size is None:
        if not mindtorch.cuda.is_available():
            raise ValueError(
                "Default group size only takes effect when CUDA is available."
                "If your subgroup using a backend that does not depend on CUDA,"
                "please pass in 'group_size' correctly."
            )
        group_size = mindtorch.cuda.device_count()
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    size = get_world_size(group=group)
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size != 0:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size!r}'")
    ranks = get_process_group_ranks(group=group)
    parts = [ranks[start : start + group_size] for start in range(0, len(ranks), group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Any,
    timeout: Any = None,
    backend: Any = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make a group of each list of ranks; return this process's, and all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group, groups = dist.new_subgroups_by_enumeration([[0]])
    >>> dist.get_process_group_ranks(group)
    [0]
    >>> dist.destroy_process_group()
    """
    if ranks_per_subgroup_list is None or len(ranks_per_subgroup_list) == 0:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    subgroups, own = [], None
    seen: dict[int, list[int]] = {}
    for ranks in ranks_per_subgroup_list:
        subgroup = new_group(
            ranks=ranks, timeout=timeout, backend=backend, pg_options=pg_options, group_desc=group_desc
        )
        subgroups.append(subgroup)
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
            if get_rank() == rank:
                own = subgroup
    return own, subgroups


def split_group(
    parent_pg: Any = None,
    split_ranks: Any = None,
    timeout: Any = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: Any = None,
) -> Any:
    """Divide a group whose processes are bound to devices; raises without, as in torch.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.split_group(split_ranks=[[0]])
    Traceback (most recent call last):
        ...
    RuntimeError: No device associated with the default pg, not safe to split any process groups
    >>> dist.destroy_process_group()
    """
    if split_ranks is None or len(split_ranks) == 0:
        raise ValueError("split_ranks cannot be None or empty")
    everybody = _get_default_group()
    if not everybody.bound_device_id:
        raise RuntimeError("No device associated with the default pg, not safe to split any process groups")
    parent = parent_pg or everybody
    if parent not in _world.pg_group_ranks:
        raise ValueError(f"Group {parent} is not registered")
    within = _world.pg_group_ranks[parent]
    rank = everybody.rank()
    if rank not in within:
        raise ValueError(f"Global rank {rank} is not part of the parent group {parent}")
    for part in split_ranks:
        if len(part) == 0:
            raise ValueError("the split group cannot be empty")
        if len(part) > everybody.size():
            raise ValueError(
                "the split group's size should be less or equal to the world_size set by init_process_group"
            )
        if len(part) != len(set(part)):
            raise ValueError("the split group cannot have duplicate ranks")
    by_rank = {inner: outer for outer, inner in within.items()}
    own = None
    for part in split_ranks:
        made = new_group(
            [by_rank[inner] for inner in part], timeout, backend or get_backend(parent), pg_options,
            group_desc=group_desc or f"{parent.group_desc}:split",
        )  # fmt: skip
        own = made if within[rank] in part else own
    return own


def shrink_group(ranks_to_exclude: list[int], group: Any = None, shrink_flags: int = 0, pg_options: Any = None) -> Any:
    """Leave processes out of a group. No backend of the host can; TypeError, as in torch.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.shrink_group([0])
    Traceback (most recent call last):
        ...
    ValueError: Cannot shrink a process group with size 1. Group must have at least 2 ranks to support shrinking.
    >>> dist.destroy_process_group()
    """
    pg = _get_default_group() if group is None else group
    size = int(pg.size())
    if not isinstance(ranks_to_exclude, list):
        raise TypeError(f"ranks_to_exclude must be a list, but got {type(ranks_to_exclude).__name__}.")
    if size <= 1:
        raise ValueError(
            f"Cannot shrink a process group with size {size}. Group must have at least 2 ranks to support shrinking."
        )
    raise TypeError(f"Process group backend for '{_world.pg_names[pg]}' does not support shrinking operations.")


def _find_or_create_pg_by_ranks_and_tag(tag: str, ranks: list[int], stride: int) -> Any:
    if len(ranks) % stride != 0:
        raise ValueError(f"Ranks length ({len(ranks)}) must be divisible by stride ({stride})")
    rank = get_rank()
    own = next((ranks[i : i + stride] for i in range(0, len(ranks), stride) if rank in ranks[i : i + stride]), None)
    if own is None:
        raise AssertionError("rankset doesn't include the current node")
    pg = _find_pg_by_ranks_and_tag(tag, sorted(own))
    if pg is not None:
        return pg
    if tag == "":
        raise ValueError("Cannot automatically create PG with empty tag")
    return _new_group_with_tag(sorted(own), pg_tag=tag)


def _resolve_group_name_by_ranks_and_tag(ranks: list[int], tag: str) -> str:
    pg = _find_pg_by_ranks_and_tag(tag, ranks)
    if pg is None:
        raise ValueError("")
    return str(pg.group_name)
