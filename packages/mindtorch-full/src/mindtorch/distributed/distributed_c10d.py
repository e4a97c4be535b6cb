"""`torch.distributed.distributed_c10d`: groups and collectives under the name that many programs import them by."""

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any, NewType

from mindtorch._naming import adopt
from mindtorch.distributed import _world as _world_module
from mindtorch.distributed._arguments import (  # noqa: F401
    _check_single_tensor,
    _check_tensor_list,
    _ensure_all_tensors_same_dtype,
    supports_complex,
)
from mindtorch.distributed._coalescing import (  # noqa: F401
    _coalescing_manager,
    _CoalescingManager,
    _CollOp,
    _IllegalWork,
    _time_estimator,
    _TimeEstimator,
)
from mindtorch.distributed._collectives import (  # noqa: F401
    _reduce_scatter_base,
    all_reduce,
    all_reduce_coalesced,
    barrier,
    broadcast,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
)
from mindtorch.distributed._debug import get_debug_level
from mindtorch.distributed._gathers import (  # noqa: F401
    _all_gather_base,
    _validate_output_list_for_rank,
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_to_all,
    all_to_all_single,
    gather,
    scatter,
)
from mindtorch.distributed._gloo import ProcessGroupGloo
from mindtorch.distributed._messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from mindtorch.distributed._names import Backend, BackendConfig, _parse_backend_string  # noqa: F401
from mindtorch.distributed._objects import (  # noqa: F401
    _object_to_tensor,
    _tensor_to_object,
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from mindtorch.distributed._options import (
    AllgatherOptions,  # noqa: F401
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    DebugLevel,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from mindtorch.distributed._process_group import ProcessGroup
from mindtorch.distributed._reduce_op import RedOpType, ReduceOp
from mindtorch.distributed._registry import World as _World  # noqa: F401
from mindtorch.distributed._setup import (  # noqa: F401
    STORE_BASED_BARRIER_PREFIX,
    _abort_process_group,
    _create_process_group_wrapper,
    _DistributedBackendOptions,
    _find_pg_by_ranks_and_tag,
    _new_process_group_helper,
    _process_group_name,
    _register_pg_in_world,
    _store_based_barrier,
    destroy_process_group,
    init_process_group,
)
from mindtorch.distributed._subgroups import (  # noqa: F401
    _find_or_create_pg_by_ranks_and_tag,
    _new_group_with_tag,
    _resolve_group_name_by_ranks_and_tag,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    shrink_group,
    split_group,
)
from mindtorch.distributed._work import Work
from mindtorch.distributed._world import (  # noqa: F401
    GroupMember,
    _canonicalize_group_rank,
    _check_valid_timeout,
    _device_capability,
    _get_default_group,
    _get_default_store,
    _get_default_timeout,
    _get_global_rank,
    _get_group_size,
    _get_group_size_by_name,
    _get_group_tag,
    _get_object_coll_device,
    _get_pg_default_device,
    _get_process_group_name,
    _get_process_group_store,
    _group_or_default_group,
    _pg_backend_config,
    _pg_group_ranks,
    _pg_map,
    _pg_names,
    _pg_to_tag,
    _rank_not_in_group,
    _register_process_group,
    _resolve_process_group,
    _set_pg_timeout,
    _tags_to_pg,
    _unregister_all_process_groups,
    _unregister_process_group,
    _update_default_pg,
    _warn_not_in_group,
    get_backend,
    get_backend_config,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
)
from mindtorch.distributed.constants import default_pg_nccl_timeout, default_pg_timeout  # noqa: F401
from mindtorch.distributed.rendezvous import register_rendezvous_handler, rendezvous  # noqa: F401
from mindtorch_distributed import PrefixStore, Store

__all__ = [
    "AllToAllOptions", "AllreduceCoalescedOptions", "AllreduceOptions", "Backend", "BackendConfig", "BarrierOptions",
    "BroadcastOptions", "DebugLevel", "GatherOptions", "GroupMember", "GroupName", "P2POp", "PrefixStore",
    "ProcessGroup", "ProcessGroupGloo", "ReduceOp", "ReduceOptions", "ReduceScatterOptions", "ScatterOptions", "Store",
    "Work", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_gather_single",
    "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv",
    "broadcast", "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather", "gather_object",
    "get_backend", "get_backend_config", "get_debug_level", "get_default_backend_for_device", "get_global_rank",
    "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_process_group", "irecv", "is_backend_available", "is_gloo_available", "is_initialized",
    "is_mpi_available", "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
    "isend", "monitored_barrier", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "record_comm", "recv",
    "recv_object_list", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "scatter", "scatter_object_list", "send", "send_object_list", "shrink_group", "split_group", "supports_complex",
]  # fmt: skip

GroupName = NewType("GroupName", str)
_MPI_AVAILABLE = is_mpi_available()
_NCCL_AVAILABLE = _UCC_AVAILABLE = _XCCL_AVAILABLE = False
_GLOO_AVAILABLE = True


class _reduce_op:
    """The former name of `ReduceOp`."""

    SUM, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, AVG, PREMUL_SUM = (
        RedOpType.BAND,
        RedOpType.BOR,
        RedOpType.BXOR,
        RedOpType.AVG,
        RedOpType.PREMUL_SUM,
    )


reduce_op = _reduce_op()


@contextlib.contextmanager
def record_comm(name: str) -> Iterator[None]:
    """Name collectives in a profile: profiles show them by the name of their function already."""
    yield


Store.__module__ = PrefixStore.__module__ = "torch.distributed.distributed_c10d"

_TORCHCOMM_AVAILABLE = False
"""Whether groups may be made by torchcomms: it is not there."""


class _Module(types.ModuleType):
    """This module, whose `_world` a program may replace for all functions."""

    @property
    def _world(self) -> Any:
        return _world_module._world.held

    @_world.setter
    def _world(self, world: Any) -> None:
        _world_module._world.replace(world)


sys.modules[__name__].__class__ = _Module
adopt(globals())
