"""`torch._C._distributed_c10d`: the classes behind `torch.distributed`, under the name that some libraries import."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._control_collectives import _ControlCollectives, _StoreCollectives
from mindtorch.distributed._debug import get_debug_level, set_debug_level, set_debug_level_from_env
from mindtorch.distributed._gloo import FakeProcessGroup, FakeWork, ProcessGroupGloo
from mindtorch.distributed._not_offered import classes
from mindtorch.distributed._options import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    BuiltinCommHookType,
    DebugLevel,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from mindtorch.distributed._process_group import ProcessGroup
from mindtorch.distributed._reduce_op import ReduceOp, _make_nccl_premul_sum
from mindtorch.distributed._setup import _DistributedBackendOptions
from mindtorch.distributed._work import FutureWork, OpType, Work
from mindtorch.distributed._world import (
    _register_process_group,
    _resolve_process_group,
    _set_thread_isolation_mode,
    _unregister_all_process_groups,
    _unregister_process_group,
)
from mindtorch.distributed._wrapper import _ProcessGroupWrapper
from mindtorch.distributed.constants import default_pg_timeout as _DEFAULT_PG_TIMEOUT
from mindtorch.futures import Future
from mindtorch_distributed import FileStore, HashStore, PrefixStore, Store, TCPStore
from mindtorch_storage.lazy_import import LazyModule

__all__ = [
    "_DEFAULT_FIRST_BUCKET_BYTES",
    "_DEFAULT_PG_TIMEOUT",
    "AllToAllOptions",
    "AllgatherOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "Backend",
    "BarrierOptions",
    "BroadcastOptions",
    "BuiltinCommHookType",
    "DebugLevel",
    "FakeProcessGroup",
    "FakeWork",
    "FileStore",
    "GatherOptions",
    "HashStore",
    "OpType",
    "PrefixStore",
    "ProcessGroup",
    "ProcessGroupGloo",
    "ReduceOp",
    "ReduceOptions",
    "ReduceScatterOptions",
    "ScatterOptions",
    "Store",
    "TCPStore",
    "Work",
    "_ControlCollectives",
    "_DistributedBackendOptions",
    "_ProcessGroupWrapper",
    "_StoreCollectives",
    "_SymmetricMemory",
    "_create_work_from_future",
    "_make_nccl_premul_sum",
    "_register_process_group",
    "_resolve_process_group",
    "_set_thread_isolation_mode",
    "_unregister_all_process_groups",
    "_unregister_process_group",
    "get_debug_level",
    "set_debug_level",
    "set_debug_level_from_env",
]

_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024
_SYMMETRIC_MEMORY = (
    "empty_strided_p2p get_backend get_mempool_allocator is_symm_mem_tensor memset32 rendezvous set_backend set_group_info "
    "stream_write_value32"
)


class _SymmetricMemory(classes(__name__, "_SymmetricMemory", _SYMMETRIC_MEMORY)["_SymmetricMemory"]):  # type: ignore[misc]
    """Memory of several devices at one address, not offered: no device has it."""

    @staticmethod
    def has_multicast_support(device_type: Any, device_idx: int) -> bool:
        """Return whether a device can write to many at once: False."""
        return False


def _create_work_from_future(future: Future[Any]) -> Work:
    """Return a work that is done when a future is, for process groups that are written in Python."""
    return FutureWork(future)


_reducer = LazyModule("mindtorch.nn.parallel._reducer", "modules that average gradients stand on this one")


def __getattr__(name: str) -> Any:
    if name == "Reducer":
        return _reducer.Reducer
    raise AttributeError(f"module 'torch._C._distributed_c10d' has no attribute {name!r}")


for _own in (Backend, FakeProcessGroup, FakeWork, _ProcessGroupWrapper):
    _own.__module__ = "torch._C._distributed_c10d"
for _store in (FileStore, HashStore, TCPStore):
    _store.__module__ = "torch._C._distributed_c10d"

adopt(globals())
