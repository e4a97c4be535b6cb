"""Profiling MPS: every function raises."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._absent import no_binding
from mindtorch._naming import adopt
from mindtorch.mps import _refusal

__all__ = ["is_capturing_metal", "is_metal_capture_enabled", "metal_capture", "profile", "start", "stop"]


def start(mode: str = "interval", wait_until_completed: bool = False) -> None:
    """Start a trace; raises.

    >>> torch.mps.profiler.start()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute profilerStartTrace() without MPS backend.
    """
    _refusal.refuse("profilerStartTrace")


def stop() -> None:
    """Stop a trace; raises.

    >>> torch.mps.profiler.stop()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute profilerStopTrace() without MPS backend.
    """
    _refusal.refuse("profilerStopTrace")


@contextmanager
def profile(mode: str = "interval", wait_until_completed: bool = False) -> Iterator[None]:
    """Context manager that traces; raises on entry.

    >>> with torch.mps.profiler.profile():
    ...     print("inside")
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute profilerStopTrace() without MPS backend.
    """
    # Starting fails, and the error that remains is that of stopping.
    try:
        start(mode, wait_until_completed)
        yield
    finally:
        stop()


def is_metal_capture_enabled() -> bool:
    """Return whether captures are enabled; raises.

    >>> torch.mps.profiler.is_metal_capture_enabled()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_mps_isCaptureEnabled'
    """
    no_binding("_mps_isCaptureEnabled")


def is_capturing_metal() -> bool:
    """Return whether a capture is running; raises.

    >>> torch.mps.profiler.is_capturing_metal()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_mps_isCapturing'
    """
    no_binding("_mps_isCapturing")


@contextmanager
def metal_capture(fname: str) -> Iterator[None]:
    """Context manager that captures into a file; raises on entry.

    >>> with torch.mps.profiler.metal_capture("a.gputrace"):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_mps_stopCapture'
    """
    no_binding("_mps_stopCapture")
    yield


adopt(globals())
