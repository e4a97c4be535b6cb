"""`torch.Stream` and `torch.Event`: of the CPU, which has one stream and is done when a call returns.

For a device with streams of its own they make that device's, which are theirs by `isinstance`.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any, NoReturn

from mindtorch import _backends
from mindtorch._naming import adopt
from mindtorch_storage.device import accelerator
from mindtorch_storage.device import device as Device

__all__ = ["Event", "Stream"]


_NUMBERS = {"cpu": 0, "meta": 14}
"""Type of device to torch's number of it."""


accelerated: dict[str, dict[str, type]] = {}
"""By type of device, what its backend has for `Stream` and `Event`."""


class _Kind(ABCMeta):
    """Makes what the device that is named has."""

    def __call__(cls, device: Any = None, **options: Any) -> Any:
        kind = accelerator() if device is None or isinstance(device, int) else Device(device).type
        if kind and kind not in _NUMBERS and _backends.is_installed(kind):
            _backends.load_backend(kind)
        own = accelerated.get(kind or "", {}).get(cls.__name__)
        if own is None:
            return super().__call__(device, **options)
        return _of_accelerator(own, f"{kind}:{device}" if isinstance(device, int) else device, options)


def _of_accelerator(own: type, device: Any, options: dict[str, Any]) -> Any:
    """Return a stream of a device; an event is of the device whose stream records it first."""
    return own(**options) if own.__name__ == "Event" else own(device, **options)


def accelerate(kind: str, stream: type, event: type) -> None:
    """Let `Stream` and `Event` make a device's own, which are theirs."""
    accelerated[kind] = {"Stream": stream, "Event": event}
    Stream.register(stream)
    Event.register(event)


def _device(given: Any) -> Device:
    if isinstance(given, int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    found = Device("cpu") if given is None else Device(given)
    if found.type not in _NUMBERS:
        raise RuntimeError(f"PyTorch is not linked with support for {found.type} devices")
    return Device(found.type)  # it has one stream, whatever the index


_NO_PROCESSES = "torch.Event ipc is not supported yet, please open an issue if you need this!"


class Stream(metaclass=_Kind):
    """The stream of a device that has one.

    Raises:
        RuntimeError: a device that has streams of its own, or that is not there.

    >>> isinstance(torch.Stream, type)
    True
    """

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = _device(device)
        self.device_type = _NUMBERS[self.device.type]
        self.device_index = -1
        self.stream_id = 0

    def query(self) -> bool:
        """Return whether all work is done: True."""
        return True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def is_capturing(self) -> bool:
        """Return whether calls are captured into a graph: False."""
        return False

    def wait_stream(self, stream: Stream) -> NoReturn:
        """Wait for another stream; raises, as the CPU has no events."""
        raise RuntimeError(f"{self.device.type} backend doesn't support events.")

    def wait_event(self, event: Event) -> None:
        """Wait for an event, which is done."""

    def record_event(self, event: Event | None = None) -> NoReturn:
        """Record an event; raises, as the CPU has none."""
        raise RuntimeError(f"{self.device.type} backend doesn't support events.")

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *args: Any) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.device == other.device

    def __hash__(self) -> int:
        return hash((self.device.type, self.stream_id))

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, stream_id={self.stream_id}"
        )


class Event(metaclass=_Kind):
    """A point in a stream's work.

    Raises:
        RuntimeError: as for `Stream`.

    >>> torch.Event("cpu").query()
    True
    """

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = _device(device)
        self.event_id = 0
        self._timing = enable_timing

    def query(self) -> bool:
        """Return whether the work before the event is done: True."""
        return True

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait(self, stream: Stream | None = None) -> None:
        """Let a stream wait for the event, which is done."""

    def record(self, stream: Stream | None = None) -> NoReturn:
        """Record the event; raises, as the CPU has none."""
        raise RuntimeError(f"{self.device.type} backend doesn't support events.")

    def elapsed_time(self, end_event: Event) -> NoReturn:
        """Return the time between two events; raises.

        Raises:
            ValueError: the events take no time, or were not recorded: the CPU records none.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        raise ValueError("Both events must be recorded before calculating elapsed time.")

    def ipc_handle(self) -> NoReturn:
        """Return what another process finds the event by; raises."""
        raise NotImplementedError(_NO_PROCESSES)

    @classmethod
    def from_ipc_handle(cls, device: Any, ipc_handle: bytes) -> NoReturn:
        """Return the event of another process; raises."""
        raise NotImplementedError(_NO_PROCESSES)

    def __repr__(self) -> str:
        return (
            f"torch.Event device_type={self.device.type}, device_index=-1, event_flag={int(self._timing)}, "
            f"event_id={self.event_id}"
        )


adopt(globals())
for _kind in (Stream, Event):
    _kind.__module__ = "torch"
