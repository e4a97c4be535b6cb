"""Processes that exchange tensors through shared memory: Python's `multiprocessing` with tensors taught to its queues."""

import multiprocessing
import sys
from multiprocessing import *  # noqa: F403 (this module stands in for Python's)

from mindtorch._naming import missing_attribute
from mindtorch.multiprocessing import reductions as reductions
from mindtorch.multiprocessing._thread_names import _get_thread_name as _get_thread_name
from mindtorch.multiprocessing._thread_names import _set_thread_name as _set_thread_name
from mindtorch.multiprocessing.reductions import init_reductions
from mindtorch.multiprocessing.spawn import ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START
from mindtorch.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
)
from mindtorch.multiprocessing.spawn import (
    ProcessExitedException as ProcessExitedException,
)
from mindtorch.multiprocessing.spawn import (
    ProcessRaisedException as ProcessRaisedException,
)
from mindtorch.multiprocessing.spawn import (
    SpawnContext as SpawnContext,
)
from mindtorch.multiprocessing.spawn import (
    spawn as spawn,
)
from mindtorch.multiprocessing.spawn import (
    start_processes as start_processes,
)
from mindtorch_storage.storage import sharing

__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", *multiprocessing.__all__]  # type: ignore[attr-defined]

# Files need a lock that only POSIX has; anonymous files as descriptors are what macOS limits too much.
_all_sharing_strategies = (
    {sharing.FILE_SYSTEM} if sys.platform in ("darwin", "win32") else {sharing.FILE_DESCRIPTOR, sharing.FILE_SYSTEM}
)


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how CPU tensors are shared: "file_descriptor" or "file_system"; AssertionError for other names.

    >>> import torch.multiprocessing
    >>> torch.multiprocessing.set_sharing_strategy("file_system")
    >>> torch.multiprocessing.get_sharing_strategy()
    'file_system'
    >>> torch.multiprocessing.set_sharing_strategy("file_descriptor")
    """
    if new_strategy not in _all_sharing_strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_all_sharing_strategies!r}")
    if new_strategy == sharing.FILE_SYSTEM:
        sharing.start_tracking()
    sharing.Strategy.current = new_strategy


def get_sharing_strategy() -> str:
    """The way in which CPU tensors are shared.

    >>> import torch.multiprocessing
    >>> torch.multiprocessing.get_sharing_strategy()
    'file_descriptor'
    """
    return sharing.Strategy.current


def get_all_sharing_strategies() -> set[str]:
    """The ways that this system has.

    >>> import torch.multiprocessing
    >>> sorted(torch.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return _all_sharing_strategies


init_reductions()
__getattr__ = missing_attribute(__name__)
