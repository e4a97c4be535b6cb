"""`torch._C._distributed_c10d`: the classes behind `torch.distributed`, under the name that some libraries import."""

from mindtorch._naming import adopt
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._debug import get_debug_level, set_debug_level, set_debug_level_from_env
from mindtorch.distributed._gloo import FakeProcessGroup, FakeWork, ProcessGroupGloo
from mindtorch.distributed._options import (
    AllgatherOptions,
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
from mindtorch.distributed._reduce_op import ReduceOp, _make_nccl_premul_sum
from mindtorch.distributed._setup import _DistributedBackendOptions
from mindtorch.distributed._work import OpType, Work
from mindtorch.distributed._world import (
    _register_process_group,
    _resolve_process_group,
    _unregister_all_process_groups,
    _unregister_process_group,
)
from mindtorch.distributed.constants import default_pg_timeout as _DEFAULT_PG_TIMEOUT
from mindtorch_distributed import FileStore, HashStore, PrefixStore, Store, TCPStore

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
    "_DistributedBackendOptions",
    "_make_nccl_premul_sum",
    "_register_process_group",
    "_resolve_process_group",
    "_unregister_all_process_groups",
    "_unregister_process_group",
    "get_debug_level",
    "set_debug_level",
    "set_debug_level_from_env",
]

_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024

for _own in (Backend, FakeProcessGroup, FakeWork):
    _own.__module__ = "torch._C._distributed_c10d"
for _store in (FileStore, HashStore, TCPStore):
    _store.__module__ = "torch._C._distributed_c10d"

adopt(globals())
