"""Groups come and go: `init_process_group`, `new_group`, `destroy_process_group`."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
import warnings
from datetime import timedelta
from typing import Any

import mindtorch
from mindtorch.distributed._backend_base import Backend as BackendBase
from mindtorch.distributed._debug import get_debug_level
from mindtorch.distributed._gloo import FakeProcessGroup, ProcessGroupGloo
from mindtorch.distributed._names import Backend, BackendConfig
from mindtorch.distributed._options import DebugLevel
from mindtorch.distributed._process_group import BackendType, ProcessGroup
from mindtorch.distributed._world import (
    GroupMember,
    _check_valid_timeout,
    _get_default_group,
    _get_default_timeout,
    _register_process_group,
    _unregister_all_process_groups,
    _unregister_process_group,
    _update_default_pg,
    _world,
    get_process_group_ranks,
    get_rank,
    is_mpi_available,
)
from mindtorch.distributed._wrapper import _ProcessGroupWrapper
from mindtorch.distributed.rendezvous import rendezvous
from mindtorch_distributed import DistStoreError, HashStore, PrefixStore, Store
from mindtorch_storage.lazy_import import load

STORE_BASED_BARRIER_PREFIX = "store_based_barrier_key"


class _DistributedBackendOptions:
    """What a backend with `extended_api` is told."""

    store: Any = None
    group_rank: int = -1
    group_size: int = -1
    timeout: Any = None
    group_id: str = ""
    global_ranks_in_group: list[int]


_PLUGINS = {"hccl": ("npu", "mindtorch.distributed._hccl")}
"""Backends of other devices: the device, and the module that registers the backend."""


def load_plugins(backend: str | None) -> None:
    """Make a backend of another device known, when it is named or its device is this process's accelerator."""
    accelerator = mindtorch.accelerator.current_accelerator()
    kind = None if accelerator is None else accelerator.type
    for name, (device, module) in _PLUGINS.items():
        if kind == device or name in str(backend).lower() or name in Backend.stands_for.get(str(backend).lower(), ""):
            load(module)


def _hash_ranks_to_str(ranks: list[int]) -> str:
    text = "_".join([*map(str, ranks), str(len(_world.pg_names))])
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _process_group_name(ranks: list[int], use_hashed_name: bool) -> str:
    if use_hashed_name:
        return _hash_ranks_to_str(ranks)
    _world.group_count += 1
    return str(_world.group_count - 1)


def _check_device(device_id: Any) -> Any:
    current = mindtorch.accelerator.current_accelerator()
    if isinstance(device_id, int):
        if current is None:
            raise ValueError(
                "device_id is an int, but no accelerator support is found from the current compilation. "
                "Please use a different compiled version that supports your accelerator."
            )
        device_id = mindtorch.device(current.type, device_id)
    if device_id is None or device_id.type == "cpu":
        return device_id
    if current is None or device_id.type != current.type:
        raise ValueError(
            f"device_id {device_id} does not match the current compilation's accelerator support: {current}. "
            "Please use a different compiled version that supports your accelerator."
        )
    if device_id.index is None:
        raise ValueError("Please use a device_id with index.")
    count = mindtorch.accelerator.device_count()
    if device_id.index >= count:
        raise ValueError(
            f"device_id {device_id} is out of range. Please use a device index less than the number of accelerators "
            f"available: {count}."
        )
    return device_id


def init_process_group(
    backend: Any = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Make the group of all processes, which meet as `init_method` says or at `store`.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.get_rank(), dist.get_world_size()
    (0, 1)
    >>> dist.destroy_process_group()
    """
    if _world.default_pg is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None:
        if not world_size > 0:
            raise AssertionError("world_size must be positive if using store")
        if not rank >= 0:
            raise AssertionError("rank must be non-negative if using store")
    device_id = _check_device(device_id)
    load_plugins(backend)
    if backend is None and device_id is not None:
        backend = Backend.default_device_backend_map.get(device_id.type)
    backend = Backend("undefined" if backend is None else backend)
    timeout = _get_default_timeout(backend) if timeout is None else timeout
    _check_valid_timeout(timeout)
    name = _process_group_name(_ranks or [], use_hashed_name=bool(_ranks))
    if backend == Backend.MPI and store is None and init_method is None and "RANK" not in os.environ:
        store, rank, world_size = _launched(timeout)
    elif store is None:
        store, rank, world_size = _meet(backend, init_method or "env://", rank, world_size, timeout)
    pg, _ = _new_process_group_helper(
        world_size, rank, [], backend, store, name, pg_options, timeout, device_id=device_id, group_desc="default_pg"
    )
    _update_default_pg(pg)
    _world.pg_group_ranks[pg] = {i: i for i in range(pg.size())}
    _name_the_rank_in_errors()
    if os.getenv("TORCH_DIST_INIT_BARRIER", "0") == "1":
        _store_based_barrier(rank, store, name, world_size, timeout)


def _launched(timeout: timedelta) -> tuple[Any, int, int]:
    """Where MPI's launcher put this process: alone, when there was none."""
    if not is_mpi_available():
        raise RuntimeError(
            "Distributed package doesn't have MPI built in. MPI is only included if you build PyTorch from source on a "
            'host that has MPI installed. Here: pip install "mindtorch-distributed[mpi]"'
        )
    rank = next((os.environ[n] for n in ("PMI_RANK", "OMPI_COMM_WORLD_RANK") if n in os.environ), "0")
    size = next((os.environ[n] for n in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE") if n in os.environ), "1")
    if size == "1":
        return HashStore(), 0, 1
    raise RuntimeError(
        f"rank {rank} of {size} was started by an MPI launcher: give MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, "
        "at which the processes meet"
    )


def _meet(backend: str, init_method: str, rank: int, world_size: int, timeout: timedelta) -> tuple[Any, int, int]:
    if backend == Backend.FAKE:
        return PrefixStore("default_pg", HashStore()), rank, world_size
    store, rank, world_size = next(rendezvous(init_method, rank, world_size, timeout=timeout))
    store.set_timeout(timeout)
    return PrefixStore("default_pg", store), rank, world_size


def _name_the_rank_in_errors() -> None:
    """Begin every line of an error that nobody caught with the rank."""
    hook, prefix = sys.excepthook, f"[rank{get_rank()}]"

    def shown(*error: Any) -> None:
        stderr, sys.stderr = sys.stderr, io.StringIO()
        try:
            hook(*error)
        finally:
            text, sys.stderr = sys.stderr.getvalue(), stderr
        sys.stderr.write("\n".join(f"{prefix}: {line}" if line else "" for line in text.split("\n")))
        sys.stderr.flush()

    sys.excepthook = shown


def _store_based_barrier(
    rank: int, store: Any, group_name: str, rendezvous_count: int, timeout: timedelta, logging_interval: Any = None
) -> None:
    key = f"{STORE_BASED_BARRIER_PREFIX}:{group_name}"
    last = f"{key}:last_worker"
    if store.add(key, 1) == rendezvous_count:
        store.set(last, "1")
    start = time.monotonic()
    try:
        store.wait([last], timeout)
    except RuntimeError as error:
        joined = store.add(key, 0)
        raise DistStoreError(
            "Timed out initializing process group in store based barrier on "
            f"rank {rank}, for key: {key} (world_size={rendezvous_count}, "
            f"num_workers_joined={joined}, timeout={timeout} error={error})"
        ) from error
    assert time.monotonic() >= start


def _default_type(backend: Any, config: BackendConfig) -> BackendType:
    if "," in str(backend) or ":" in str(backend):
        return BackendType.GLOO
    if backend not in Backend.backend_type_map:
        raise AssertionError(f"Unknown backend type {backend}")
    known = Backend.backend_type_map[backend]
    return BackendType.GLOO if known is BackendType.UNDEFINED else known


_ABSENT = {
    Backend.NCCL: "Distributed package doesn't have NCCL built in",
    Backend.XCCL: "Distributed package doesn't have XCCL built in",
}


def _make_backend(name: Any, store: Any, rank: int, size: int, timeout: timedelta, ranks: list[int],
                  group_name: str, options: Any) -> tuple[Any, BackendType]:  # fmt: skip
    plugin = Backend._plugins.get(str(name).upper())
    if plugin is None:
        if name in (Backend.GLOO, Backend.MPI):
            made = ProcessGroupGloo(store, rank, size, timeout, str(name))
            made.options.global_ranks_in_group, made.options.group_name = ranks, group_name
            return made, Backend.backend_type_map[str(name)]
        if name == Backend.FAKE:
            return FakeProcessGroup(rank, size, options), BackendType.CUSTOM
        if name in _ABSENT:
            raise RuntimeError(_ABSENT[name])
        raise AssertionError(f"Unknown c10d backend type {str(name).upper()}")
    if not plugin.extended_api:
        return plugin.creator_fn(store, rank, size, timeout), BackendType.CUSTOM
    told = _DistributedBackendOptions()
    told.store, told.group_rank, told.group_size, told.timeout = store, rank, size, timeout
    told.group_id, told.global_ranks_in_group = group_name, ranks
    return plugin.creator_fn(told, options), BackendType.CUSTOM


def _new_process_group_helper(
    group_size: int,
    group_rank: Any,
    global_ranks_in_group: list[int],
    backend: Any,
    store: Any,
    group_name: str,
    backend_options: Any = None,
    timeout: Any = None,
    pg_tag: str | None = None,
    device_id: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, Any]:
    if group_name in _world.pg_names.values():
        raise ValueError("The specified group name has already been created, please use a different group name")
    if device_id is not None and (device_id.index is None or device_id.type == "cpu"):
        raise ValueError("init_process_group device_id parameter must be an accelerator with an index")
    _check_valid_timeout(timeout)
    load_plugins(backend)
    if pg_tag:
        existing = _find_pg_by_ranks_and_tag(pg_tag, global_ranks_in_group)
        if existing:
            return existing, _world.pg_map[existing][1]
    if global_ranks_in_group and _get_default_group().rank() not in global_ranks_in_group:
        return GroupMember.NON_GROUP_MEMBER, None
    prefix_store = PrefixStore(f"{group_name}/", store)
    pg: Any = ProcessGroup(prefix_store, group_rank, group_size)
    config = BackendConfig(backend)
    pg._set_default_backend(_default_type(backend, config))
    pg.bound_device_id = device_id
    made: dict[str, tuple[Any, BackendType]] = {}
    for device, name in config.get_device_backend_map().items():
        if str(name) not in made:
            device_store = PrefixStore(f"{device}/", prefix_store)
            new, kind = _make_backend(
                name, device_store, group_rank, group_size, timeout, global_ranks_in_group, group_name, backend_options
            )
            if get_debug_level() is DebugLevel.DETAIL and isinstance(new, BackendBase) and name != Backend.FAKE:
                new = _create_process_group_wrapper(new, "wrapper", device_store, group_rank, group_size, timeout)
            made[str(name)] = new, kind
        made_backend, kind = made[str(name)]
        if isinstance(made_backend, ProcessGroup):  # a group of its own, which knows its devices
            pg = made_backend
            break
        pg._register_backend(mindtorch.device(device), kind, made_backend)
    pg._set_group_name(group_name)
    pg._set_group_desc("undefined" if group_desc is None else group_desc)
    _register_pg_in_world(
        pg, backend, prefix_store, group_name, str(config),
        pg_tag=f"user:{pg_tag}" if pg_tag else None, add_to_default_tag=not pg_tag,
    )  # fmt: skip
    return pg, prefix_store


def _register_pg_in_world(
    pg: Any,
    backend_name: Any,
    store: Any,
    group_name: str,
    backend_config: str,
    rank_mapping: dict[int, int] | None = None,
    pg_tag: str | None = None,
    user_tag: str | None = None,
    add_to_default_tag: bool = False,
) -> None:
    _world.pg_map[pg] = (backend_name, store)
    _world.pg_names[pg] = group_name
    _world.pg_backend_config[pg] = backend_config
    _register_process_group(group_name, pg)
    if rank_mapping is not None:
        _world.pg_group_ranks[pg] = rank_mapping
    tag = f"user:{user_tag}" if user_tag is not None else pg_tag or f"ptd:{group_name}"
    if user_tag is not None or add_to_default_tag:
        _world.tags_to_pg.setdefault("", []).append(pg)
    _world.tags_to_pg.setdefault(tag, []).append(pg)
    _world.pg_to_tag[pg] = tag


def destroy_process_group(group: Any = None) -> None:
    """End a group, or with the default one all groups.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.destroy_process_group()
    >>> dist.is_initialized()
    False
    """
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    _end(group, "shutdown", "Invalid process group specified", "destroyed")


def _abort_process_group(group: Any = None) -> None:
    if group == GroupMember.NON_GROUP_MEMBER:
        return
    _end(group, "abort", "Invalid process group specified or has been destroyed.", "aborted")


def _end(group: Any, how: str, invalid: str, done: str) -> None:
    pg = _world.default_pg if group is None else group
    if pg is None:
        raise AssertionError("Process group cannot be None")
    if _world.pg_map.get(pg) is None:
        raise ValueError(invalid)
    if pg == _world.default_pg:
        for other in sorted(_world.pg_names, key=lambda x: _world.pg_names[x], reverse=True):
            getattr(other, how)()
        _update_default_pg(None)
        _world.clear()
        _unregister_all_process_groups()
        return
    getattr(pg, how)()
    _world.forget(pg)
    if _world.pg_coalesce_state.pop(pg, None) is not None:
        warnings.warn(
            f"Some coalesced collectives haven't been launched when ProcessGroup is {done}. They will be cleaned.",
            stacklevel=3,
        )
    _unregister_process_group(pg.group_name)


def _find_pg_by_ranks_and_tag(tag: str, ranks: list[int]) -> Any:
    if tag and not tag.startswith(("ptd:", "user:")):
        tag = f"user:{tag}"
    for pg in _world.tags_to_pg.get(tag, []):
        if pg.size() == len(ranks) and set(ranks) <= set(get_process_group_ranks(pg)):
            return pg
    return None


def _create_process_group_wrapper(
    wrapped_pg: Any, store_prefix: str, store: Store, rank: int, world_size: int, timeout: Any = None
) -> Any:
    """A backend whose collectives are compared between ranks before they start."""
    return _ProcessGroupWrapper(
        wrapped_pg, PrefixStore(store_prefix, store), timeout or _get_default_timeout(Backend.GLOO)
    )
