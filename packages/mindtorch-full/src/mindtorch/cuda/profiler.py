"""Starting and stopping NVIDIA's profiler: raises, as the runtime is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._naming import adopt
from mindtorch.cuda._lazy import refuse

__all__ = ["profile", "start", "stop"]


def start() -> None:
    """Start collecting; raises.

    >>> torch.cuda.profiler.start()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def stop() -> None:
    """Stop collecting; raises.

    >>> torch.cuda.profiler.stop()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


@contextmanager
def profile() -> Iterator[None]:
    """Context manager that collects; raises on entry.

    >>> with torch.cuda.profiler.profile():
    ...     print("inside")
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    start()
    yield


adopt(globals())
