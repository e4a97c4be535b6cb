"""`torch.cpu`: the CPU in the form of an accelerator, for code that treats devices alike.

It has one device and one stream; work is done when a call returns, so waiting is free.
"""

from contextlib import AbstractContextManager
from typing import Any

from mindtorch._absent import DeviceLike
from mindtorch._naming import adopt
from mindtorch.cpu import amp as amp
from mindtorch.cpu._capabilities import capabilities, request_tiles

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """The stream of the CPU. All work is done when it is asked for, so there is nothing to wait for.

    >>> torch.cpu.Stream().__class__.__name__
    'Stream'
    """

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Wait for another stream's work, which is done."""

    def record_event(self) -> None:
        """Record an event; the work before it is done."""

    def wait_event(self, event: Any) -> None:
        """Wait for an event, which has happened."""


class Event:
    """A point in the CPU's work, which has always been reached.

    >>> torch.cpu.Event().query()
    True
    """

    def query(self) -> bool:
        """Return whether the work before it is done: True."""
        return True

    def record(self, stream: Any = None) -> None:
        """Record it."""

    def synchronize(self) -> None:
        """Wait for it."""

    def wait(self, stream: Any = None) -> None:
        """Let a stream wait for it."""


_DEFAULT_STREAM = Stream()
_current_stream = _DEFAULT_STREAM


class StreamContext(AbstractContextManager):
    """Context manager that makes a stream the current one.

    >>> with torch.cpu.StreamContext(torch.cpu.current_stream()) as inside:
    ...     print(inside)
    None
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.prev_stream = _DEFAULT_STREAM

    def __enter__(self) -> None:
        global _current_stream
        if self.stream is not None:
            self.prev_stream, _current_stream = _current_stream, self.stream

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        global _current_stream
        if self.stream is not None:
            _current_stream = self.prev_stream


def is_available() -> bool:
    """Return whether there is a CPU: True.

    >>> torch.cpu.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Return whether the CPU is initialised: True.

    >>> torch.cpu.is_initialized()
    True
    """
    return True


def synchronize(device: DeviceLike = None) -> None:
    """Wait for the CPU's work, which is done.

    >>> torch.cpu.synchronize()
    """


def current_stream(device: DeviceLike = None) -> Stream:
    """Return the current stream.

    >>> torch.cpu.current_stream().__class__.__name__
    'Stream'
    """
    return _current_stream


def stream(stream: Stream) -> AbstractContextManager:
    """Return a context manager that makes ``stream`` the current one.

    >>> with torch.cpu.stream(torch.cpu.Stream()):
    ...     torch.ones(1)
    tensor([1.])
    """
    return StreamContext(stream)


def device_count() -> int:
    """Return the number of CPU devices: 1.

    >>> torch.cpu.device_count()
    1
    """
    return 1


def set_device(device: DeviceLike) -> None:
    """Choose the current device; there is one.

    >>> torch.cpu.set_device(0)
    """


def get_capabilities() -> dict[str, Any]:
    """Return what the processor can do: the instructions it has, its name and its numbers of cores.

    >>> "architecture" in torch.cpu.get_capabilities()
    True
    """
    return dict(capabilities())


def _is_avx2_supported() -> bool:
    return bool(capabilities().get("avx2"))


def _is_avx512_supported() -> bool:
    return all(capabilities().get(name) for name in ("avx512_f", "avx512_bw", "avx512_dq", "avx512_vl"))


def _is_avx512_bf16_supported() -> bool:
    return bool(capabilities().get("avx512_bf16"))


def _is_vnni_supported() -> bool:
    return bool(capabilities().get("avx512_vnni"))


def _is_amx_tile_supported() -> bool:
    return bool(capabilities().get("amx_tile"))


def _is_amx_fp16_supported() -> bool:
    return bool(capabilities().get("amx_fp16"))


def _init_amx() -> bool:
    """Ask the operating system for the processor's tiles; True when it grants them."""
    return request_tiles()


def current_device() -> str:
    """Return the current device: "cpu".

    >>> torch.cpu.current_device()
    'cpu'
    """
    return "cpu"


adopt(globals())
