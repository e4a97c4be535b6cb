"""Starting and stopping NVIDIA's profiler: raises, as the runtime is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._naming import adopt
from mindtorch.cuda._lazy import refuse

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start collecting; raises."""
    refuse()


def stop() -> None:
    """Stop collecting; raises."""
    refuse()


@contextmanager
def profile() -> Iterator[None]:
    """Context manager that collects; raises on entry."""
    start()
    yield


adopt(globals())
