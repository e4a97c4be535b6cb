"""Profiling MPS: every function raises."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._absent import no_binding
from mindtorch._naming import adopt
from mindtorch.mps import _refusal

__all__ = ["is_capturing_metal", "is_metal_capture_enabled", "metal_capture", "profile", "start", "stop"]


def start(mode: str = "interval", wait_until_completed: bool = False) -> None:
    """Start a trace; raises."""
    _refusal.refuse("profilerStartTrace")


def stop() -> None:
    """Stop a trace; raises."""
    _refusal.refuse("profilerStopTrace")


@contextmanager
def profile(mode: str = "interval", wait_until_completed: bool = False) -> Iterator[None]:
    """Context manager that traces; raises on entry."""
    # Starting fails, and the error that remains is that of stopping.
    try:
        start(mode, wait_until_completed)
        yield
    finally:
        stop()


def is_metal_capture_enabled() -> bool:
    """Return whether captures are enabled; raises."""
    no_binding("_mps_isCaptureEnabled")


def is_capturing_metal() -> bool:
    """Return whether a capture is running; raises."""
    no_binding("_mps_isCapturing")


@contextmanager
def metal_capture(fname: str) -> Iterator[None]:
    """Context manager that captures into a file; raises on entry."""
    no_binding("_mps_stopCapture")
    yield


adopt(globals())
