"""What goes wrong between processes. The classes are those that `torch.distributed` shows."""

__all__ = [
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "EngineMissingError",
    "QueueEmptyError",
]


class DistError(RuntimeError):
    """Any error of the distributed package."""


class DistBackendError(DistError):
    """A collective failed."""


class DistStoreError(DistError):
    """A store did not answer as expected, most often in time."""


class DistNetworkError(DistError):
    """Another process could not be reached."""


class QueueEmptyError(DistStoreError):
    """A queue of a store has no element."""


class EngineMissingError(DistBackendError):
    """The engine that several processes need is not installed."""
