"""`torch.distributed.rpc`: calls to other processes are not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes, functions
from mindtorch_storage.lazy_import import submodules

globals().update(functions(__name__, "init_rpc remote rpc_async rpc_sync shutdown get_worker_info"))
globals().update(classes(__name__, "RRef TensorPipeRpcBackendOptions WorkerInfo"))


def is_available() -> bool:
    """Return whether calls to other processes are offered: False."""
    return False


__getattr__ = submodules(__name__, "api", "torch.distributed.rpc")

adopt(globals())
