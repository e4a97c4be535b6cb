"""Processes that work together: stores, and collectives over an engine. Bytes, counts and reductions, not tensors."""

from mindtorch_distributed.__about__ import __version__
from mindtorch_distributed.engine import Communicator, PeerEndedError, Request
from mindtorch_distributed.errors import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    EngineMissingError,
    QueueEmptyError,
)
from mindtorch_distributed.lane import Lane, LateError, Task
from mindtorch_distributed.local import LocalCommunicator
from mindtorch_distributed.stores import FileStore, HashStore, PrefixStore, Store, TCPStore

__all__ = [
    "Communicator",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "EngineMissingError",
    "FileStore",
    "HashStore",
    "Lane",
    "LateError",
    "LocalCommunicator",
    "PeerEndedError",
    "PrefixStore",
    "QueueEmptyError",
    "Request",
    "Store",
    "TCPStore",
    "Task",
    "__version__",
]
