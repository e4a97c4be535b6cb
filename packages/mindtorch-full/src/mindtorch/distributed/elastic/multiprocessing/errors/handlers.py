"""The handler that `record` uses."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler

__all__ = ["get_error_handler"]


def get_error_handler() -> ErrorHandler:
    """Return a new handler."""
    return ErrorHandler()


adopt(globals())
