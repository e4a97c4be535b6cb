"""The groups that this process knows, and questions about them."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from typing import Any

import mindtorch
from mindtorch.distributed._gloo import ProcessGroupGloo
from mindtorch.distributed._names import Backend, BackendConfig
from mindtorch.distributed._process_group import ProcessGroup
from mindtorch.distributed._registry import Current, Names, World
from mindtorch.distributed.constants import default_pg_nccl_timeout, default_pg_timeout
from mindtorch_distributed import mpi

_NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."


_world = Current(World())
_pg_map = _world.pg_map
_pg_names = _world.pg_names
_pg_group_ranks = _world.pg_group_ranks
_pg_backend_config = _world.pg_backend_config
_tags_to_pg = _world.tags_to_pg
_pg_to_tag = _world.pg_to_tag


class _WorldMeta(type):
    @property
    def WORLD(cls) -> Any:
        """The group of all processes, or None."""
        return _world.default_pg

    @WORLD.setter
    def WORLD(cls, pg: Any) -> None:
        _world.default_pg = pg


class group(metaclass=_WorldMeta):
    """Where `WORLD` is."""


class GroupMember(metaclass=_WorldMeta):
    """Where `WORLD` and the mark of processes outside of a group are."""

    NON_GROUP_MEMBER = -100


def is_mpi_available() -> bool:
    """Return whether MPI is installed."""
    return mpi.is_installed()


def is_nccl_available() -> bool:
    """Return whether NCCL is there: False.

    >>> import torch.distributed as dist
    >>> dist.is_nccl_available()
    False
    """
    return False


def is_gloo_available() -> bool:
    """Return whether the backend `gloo` is there: True. With several processes it needs MPI.

    >>> import torch.distributed as dist
    >>> dist.is_gloo_available()
    True
    """
    return True


def is_ucc_available() -> bool:
    """Return whether UCC is there: False.

    >>> import torch.distributed as dist
    >>> dist.is_ucc_available()
    False
    """
    return False


def is_xccl_available() -> bool:
    """Return whether XCCL is there: False.

    >>> import torch.distributed as dist
    >>> dist.is_xccl_available()
    False
    """
    return False


_AVAILABLE = {
    "mpi": is_mpi_available,
    "nccl": is_nccl_available,
    "gloo": is_gloo_available,
    "ucc": is_ucc_available,
    "xccl": is_xccl_available,
}


def is_backend_available(backend: str) -> bool:
    """Return whether a backend, or all of a string of devices and backends, is there.

    >>> import torch.distributed as dist
    >>> dist.is_backend_available("gloo"), dist.is_backend_available("none of these")
    (True, False)
    """
    names = BackendConfig(Backend(backend)).device_backend_map.values() if ":" in backend.lower() else (backend,)
    return all(
        _AVAILABLE[str(name).lower()]()
        if str(name).lower() in _AVAILABLE
        else str(name).lower() in Backend.backend_list
        for name in names
    )


def is_initialized() -> bool:
    """Return whether there is a default group.

    >>> import torch.distributed as dist
    >>> dist.is_initialized()
    False
    """
    return _world.default_pg is not None


def is_torchelastic_launched() -> bool:
    """Return whether torchrun started this process.

    >>> import torch.distributed as dist
    >>> dist.is_torchelastic_launched()
    False
    """
    return os.getenv("TORCHELASTIC_RUN_ID") is not None


def _get_default_group() -> Any:
    if _world.default_pg is None:
        raise ValueError(_NOT_INITIALIZED)
    return _world.default_pg


def _get_default_store() -> Any:
    return _world.pg_map[_get_default_group()][1]


def _update_default_pg(pg: Any) -> None:
    _world.default_pg = pg


def _group_or_default_group(group: Any = None) -> Any:
    return _get_default_group() if group is None or group is _world.default_pg else group


def _working_group(group: Any = None) -> Any:
    """Return the group that a collective starts on; ValueError for what is no group."""
    group = group or _get_default_group()
    if _world.default_pg is not None and not hasattr(group, "allreduce"):
        raise _unknown(group)
    return group


def _unknown(group: object) -> ValueError:
    return ValueError(
        f"Process group {group} is not initialized in the world group map. Please initialize the group first."
    )


def _rank_not_in_group(group: Any) -> bool:
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _warn_not_in_group(op_name: str) -> None:
    rank = -1 if _world.default_pg is None else _world.default_pg.rank()
    warnings.warn(f"Running {op_name} on global rank {rank} which does not belong to the given group.", stacklevel=3)


def _registered_ranks(group: Any) -> dict[int, int]:
    if group not in _world.pg_group_ranks:
        raise ValueError(f"Group {group} is not registered, please create group with torch.distributed.new_group API")
    return _world.pg_group_ranks[group]


def get_group_rank(group: Any, global_rank: int) -> int:
    """The rank in `group` of a rank of the world."""
    if group is _world.default_pg:
        return global_rank
    ranks = _registered_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks[global_rank]


def get_global_rank(group: Any, group_rank: int) -> int:
    """The rank in the world of a rank of `group`."""
    if group is _world.default_pg:
        return group_rank
    for rank, within in _registered_ranks(group).items():
        if within == group_rank:
            return rank
    raise ValueError(f"Group rank {group_rank} is not part of group {group}")


def _get_global_rank(group: Any, rank: int) -> int:
    warnings.warn(
        "`torch.distributed.distributed_c10d._get_global_rank` is deprecated, "
        "please use `torch.distributed.distributed_c10d.get_global_rank` instead",
        FutureWarning,
        stacklevel=2,
    )
    return get_global_rank(group, rank)


def get_process_group_ranks(group: Any) -> list[int]:
    """The ranks in the world of a group's processes."""
    return list(_world.pg_group_ranks[group or _get_default_group()])


def _get_group_size(group: Any) -> int:
    return int(_group_or_default_group(group).size())


def _canonicalize_group_rank(
    group: Any, global_rank: int | None = None, group_rank: int | None = None, return_global: bool = False
) -> int:
    if group_rank is not None:
        if global_rank is not None:
            raise ValueError("Can't specify both group_rank and global_rank")
        return get_global_rank(group, group_rank) if return_global else group_rank
    if global_rank is None:
        raise ValueError("Must specify global_rank or group_rank")
    return global_rank if return_global else get_group_rank(group, global_rank)


def _rank_of_root(group: Any, rank: int | None, group_rank: int | None) -> int:
    """Return the rank in a group of a collective's root: the group's of rank 0 among all where none is named."""
    rank = 0 if rank is None and group_rank is None else rank
    return _canonicalize_group_rank(group, rank, group_rank)


def get_rank(group: Any = None) -> int:
    """This process's rank in a group; -1 outside of it."""
    if _rank_not_in_group(group):
        return -1
    everybody = _get_default_group()
    return int(everybody.rank()) if group is None or group is everybody else get_group_rank(group, everybody.rank())


def get_world_size(group: Any = None) -> int:
    """How many processes a group has; -1 outside of it."""
    return -1 if _rank_not_in_group(group) else _get_group_size(group)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """LOCAL_RANK, or `fallback_rank`; RuntimeError without both.

    >>> import torch.distributed as dist
    >>> dist.get_node_local_rank(fallback_rank=0)
    0
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, "
        "assuming you are not running in a multi-device context and want the code to run locally instead."
    )


def get_pg_count() -> int:
    """How many groups were named so far."""
    return _world.group_count


def _member_of(group: Any) -> Any:
    pg = group or _get_default_group()
    if _rank_not_in_group(pg):
        raise ValueError("Invalid process group specified")
    return pg


def get_backend_config(group: Any = None) -> str:
    """The devices and backends of a group."""
    return str(_world.pg_backend_config.get(_member_of(group)))


def get_backend(group: Any = None) -> Any:
    """The name of a group's backend."""
    pg = _member_of(group)
    known = _world.pg_map.get(pg)
    if known is None:
        raise _unknown(pg)
    return Backend(known[0])


def get_default_backend_for_device(device: Any) -> str:
    """The backend that serves a device by default.

    >>> import torch.distributed as dist
    >>> dist.get_default_backend_for_device("cpu")
    'gloo'
    """
    kind = device.type if isinstance(device, mindtorch.device) else mindtorch.device(device).type
    backend = Backend.default_device_backend_map.get(kind)
    if backend is None:
        raise ValueError(f"Default backend not registered for device : {device}")
    return backend


def _get_default_timeout(backend: str) -> timedelta:
    if backend == Backend.NCCL and default_pg_nccl_timeout is not None:
        return default_pg_nccl_timeout
    return default_pg_timeout


def _check_valid_timeout(timeout: Any) -> None:
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")


def _set_pg_timeout(timeout: timedelta, group: Any = None) -> None:
    pg = _group_or_default_group(group)
    if _rank_not_in_group(pg):
        raise ValueError("Invalid process group specified")
    if not isinstance(pg, ProcessGroup):
        raise AssertionError(f"Expected ProcessGroup, got {type(pg)}")
    backends = [pg._get_backend(device) for device in pg._device_types]
    backends = [getattr(backend, "wrapped_pg", backend) for backend in backends]
    known = [backend for backend in backends if isinstance(backend, ProcessGroupGloo)]
    if not known:
        warnings.warn("Set timeout is now only supported for either nccl or gloo.", stacklevel=2)
    for backend in known:
        backend.set_timeout(timeout)


def _get_object_coll_device(group: Any = None) -> str:
    pg = group or _get_default_group()
    kinds = [device.type for device in pg._device_types]
    return "cpu" if not kinds or "cpu" in kinds else str(kinds[0])


def _get_pg_default_device(group: Any = None) -> Any:
    return mindtorch.device(_get_object_coll_device(group))


def _device_capability(group: Any = None) -> list[str]:
    return [device.type for device in (group or _get_default_group())._device_types]


def _get_group_tag(pg: Any) -> str:
    tag = _world.pg_to_tag[pg]
    return tag.removeprefix("user:")


def _get_process_group_name(pg: Any) -> str:
    return _world.pg_names.get(pg, "None")


def _get_process_group_store(pg: Any) -> Any:
    return _world.pg_map[pg][1]


_by_name = Names()


def _set_thread_isolation_mode(enable: bool) -> None:
    _by_name.isolated = enable


def _register_process_group(group_name: str, group: Any) -> None:
    _by_name.known[group_name] = group


def _resolve_process_group(group_name: Any) -> Any:
    if not isinstance(group_name, str):
        return group_name
    if group_name not in _by_name.known:
        raise RuntimeError(f"Could not resolve the process group registered under the name {group_name}")
    return _by_name.known[group_name]


def _unregister_process_group(group_name: str) -> None:
    _by_name.known.pop(group_name, None)


def _unregister_all_process_groups() -> None:
    _by_name.known.clear()


def _get_group_size_by_name(group_name: Any) -> int:
    return int(_resolve_process_group(group_name).size())
