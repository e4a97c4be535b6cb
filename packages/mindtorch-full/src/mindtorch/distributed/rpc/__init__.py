"""`torch.distributed.rpc`: calls to other processes are not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed import _not_offered
from mindtorch_storage.lazy_import import submodules

globals().update(_not_offered.functions(__name__, "init_rpc remote rpc_async rpc_sync shutdown get_worker_info"))
globals().update(_not_offered.functions(__name__, "method_factory new_method backend_registered register_backend"))
globals().update(_not_offered.functions(__name__, "construct_rpc_backend_options init_backend"))
globals().update(_not_offered.classes(__name__, "RRef TensorPipeRpcBackendOptions WorkerInfo"))
globals().update(
    _not_offered.classes(__name__, "AllGatherStates BackendType BackendValue PyRRef RpcAgent RpcBackendOptions")
)
globals().update(_not_offered.classes(__name__, "TensorPipeAgent"))


def is_available() -> bool:
    """Return whether calls to other processes are offered: False."""
    return False


__getattr__ = submodules(
    __name__,
    "api backend_registry constants functions internal options rref_proxy server_process_global_profiler",
    "torch.distributed.rpc",
)

adopt(globals())
