"""Processes that work together: groups, collectives and messages.

A world of one process needs nothing else. Several processes need MPI (`pip install "mindtorch-distributed[mpi]"`).
"""

# ruff: noqa: F401 (names that programs read here)

from mindtorch._naming import adopt
from mindtorch.distributed import constants as constants
from mindtorch.distributed import distributed_c10d as distributed_c10d
from mindtorch.distributed import rendezvous as _rendezvous_module
from mindtorch.distributed._backend_base import Backend as _Backend
from mindtorch.distributed._control_collectives import _ControlCollectives, _StoreCollectives
from mindtorch.distributed._debug import (
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from mindtorch.distributed._options import BuiltinCommHookType, DebugLevel
from mindtorch.distributed._process_group import ProcessGroup
from mindtorch.distributed._reduce_op import _make_nccl_premul_sum
from mindtorch.distributed._work import Work as _Work
from mindtorch.distributed.distributed_c10d import *  # noqa: F403
from mindtorch.distributed.distributed_c10d import (
    _all_gather_base,
    _coalescing_manager,
    _CoalescingManager,
    _create_process_group_wrapper,
    _get_process_group_name,
    _rank_not_in_group,
    _reduce_scatter_base,
    _time_estimator,
    get_node_local_rank,
)
from mindtorch.distributed.rendezvous import (
    _create_store_from_options,
    register_rendezvous_handler,
    rendezvous,
)
from mindtorch_distributed import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    FileStore,
    HashStore,
    PrefixStore,
    QueueEmptyError,
    Store,
    TCPStore,
)
from mindtorch_storage.lazy_import import load as _load
from mindtorch_storage.lazy_import import submodules as _submodules

for _class in (DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError):
    _class.__module__ = "torch.distributed"


def is_available() -> bool:
    """Return whether processes can work together: True."""
    return True


_lazy = _submodules(
    __name__,
    "_composable _functional_collectives _local_tensor _shard _state_dict_utils _tensor _tools "
    "algorithms autograd c10d_logger checkpoint collective_utils device_mesh elastic fsdp launch launcher "
    "logging_handlers nn optim pipelining remote_device rpc run tensor utils argparse_util config",
    "torch.distributed",
)
_OF_THE_MESH = frozenset({"DeviceMesh", "init_device_mesh"})


def __getattr__(name: str) -> object:
    if name in _OF_THE_MESH:
        return getattr(_lazy("device_mesh"), name)
    if name == "GradBucket":  # of data parallelism, which stands on this package
        return _load("mindtorch.nn.parallel._buckets").GradBucket
    if name == "_compute_bucket_assignment_by_size":
        return _load("mindtorch.nn.parallel._buckets").compute_bucket_assignment_by_size
    return _lazy(name)


set_debug_level_from_env()

adopt(globals())
