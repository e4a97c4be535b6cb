"""Modules on several devices, or in several processes."""

from typing import Any

from mindtorch._naming import adopt, names_of
from mindtorch.nn.parallel.data_parallel import DataParallel, data_parallel
from mindtorch_storage.lazy_import import load

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def __getattr__(name: str) -> Any:
    """Import what needs `torch.distributed` when a program first names it."""
    if name == "distributed":
        return load("mindtorch.nn.parallel.distributed")
    if name == "DistributedDataParallel":
        return load("mindtorch.nn.parallel.distributed").DistributedDataParallel
    raise AttributeError(f"module 'torch.nn.parallel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return names_of(__name__, globals(), __all__, ["distributed"])


adopt(globals())
