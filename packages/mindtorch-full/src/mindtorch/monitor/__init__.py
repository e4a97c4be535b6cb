"""`torch.monitor`: counting in intervals, and events for those who listen."""

from __future__ import annotations

import enum
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from mindtorch._naming import adopt

__all__ = [
    "Aggregation",
    "Event",
    "EventHandlerHandle",
    "Stat",
    "TensorboardEventHandler",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]

STAT_EVENT = "torch.monitor.Stat"
data_value_t = str | int | float | bool


class Aggregation(enum.Enum):
    """What a `Stat` makes of its values.

    >>> [str(one) for one in (torch.monitor.Aggregation.SUM, torch.monitor.Aggregation.MEAN)]
    ['Aggregation.SUM', 'Aggregation.MEAN']
    """

    VALUE = 0
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6

    def __str__(self) -> str:
        return f"Aggregation.{self.name}"


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation


class Event:
    """Something that happened: a name, a time and data.

    Raises:
        TypeError: data that are no dict of texts and numbers.

    >>> from datetime import datetime
    >>> event = torch.monitor.Event("saved", datetime(2026, 1, 2), {"step": 3})
    >>> event.name, event.data
    ('saved', {'step': 3})
    """

    def __init__(self, name: str, timestamp: datetime, data: dict[str, data_value_t]) -> None:
        kinds = (str, int, float)
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            raise TypeError(f"Event(): data must be a dict of names, got {data!r}")
        if not all(isinstance(value, kinds) for value in data.values()):
            raise TypeError(f"Event(): values of data must be str, int, float or bool, got {data!r}")
        self.name = name
        self.timestamp = timestamp
        self.data = data


class EventHandlerHandle:
    """What `register_event_handler` gives, to take the handler back with.

    >>> handle = torch.monitor.register_event_handler(lambda event: print(event.name))
    >>> type(handle).__name__
    'EventHandlerHandle'
    >>> torch.monitor.unregister_event_handler(handle)
    """

    def __init__(self, handler: Callable[[Event], None]) -> None:
        self._handler = handler


_handlers: list[EventHandlerHandle] = []
_lock = threading.Lock()


def register_event_handler(handler: Callable[[Event], None]) -> EventHandlerHandle:
    """Call `handler` with every event from now on.

    >>> from datetime import datetime
    >>> handle = torch.monitor.register_event_handler(lambda event: print(event.name, event.data))
    >>> torch.monitor.log_event(torch.monitor.Event("saved", datetime(2026, 1, 2), {"step": 3}))
    saved {'step': 3}
    >>> torch.monitor.unregister_event_handler(handle)
    """
    handle = EventHandlerHandle(handler)
    with _lock:
        _handlers.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Take back the handler that `register_event_handler` gave this for.

    >>> from datetime import datetime
    >>> handle = torch.monitor.register_event_handler(print)
    >>> torch.monitor.unregister_event_handler(handle)
    >>> print(torch.monitor.log_event(torch.monitor.Event("heard by nobody", datetime(2026, 1, 2), {})))
    None
    """
    with _lock:
        _handlers.remove(handler)


def log_event(event: Event) -> None:
    """Give an event to every handler.

    >>> from datetime import datetime
    >>> handle = torch.monitor.register_event_handler(lambda event: print("heard", event.name))
    >>> torch.monitor.log_event(torch.monitor.Event("saved", datetime(2026, 1, 2), {}))
    heard saved
    >>> torch.monitor.unregister_event_handler(handle)
    """
    with _lock:
        handlers = list(_handlers)
    for one in handlers:
        one._handler(event)


class Stat:
    """Values of an interval, aggregated; each full interval is an event.

    Args:
        aggregations: what to make of the values.
        window_size: the length of an interval.
        max_samples: values that fill an interval before its time.

    >>> from datetime import timedelta
    >>> stat = torch.monitor.Stat("loss", [torch.monitor.Aggregation.MEAN], timedelta(hours=1))
    >>> stat.add(1.0)
    >>> stat.add(2.0)
    >>> stat.name, stat.count
    ('loss', 2)
    """

    def __init__(
        self, name: str, aggregations: list[Aggregation], window_size: timedelta, max_samples: int = 2**63 - 1
    ) -> None:
        self._name = name
        self._aggregations = sorted(set(aggregations), key=lambda one: one.value)
        self._length = window_size.total_seconds()
        self._most = max_samples
        self._window = int(time.time() // self._length)
        self._values: list[float] = []
        self._finished: list[float] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def count(self) -> int:
        """How many values the interval at hand has."""
        with self._lock:
            self._turn()
            return len(self._values)

    def add(self, v: float) -> None:
        """Add a value."""
        with self._lock:
            self._turn()
            self._values.append(float(v))
            if len(self._values) >= self._most:
                self._close()

    def get(self) -> dict[Aggregation, float]:
        """Return the aggregations of the last full interval."""
        with self._lock:
            self._turn()
            return self._aggregated(self._finished)

    def _turn(self) -> None:
        window = int(time.time() // self._length)
        if window != self._window:
            self._window = window
            if self._values:
                self._close()

    def _close(self) -> None:
        self._finished, self._values = self._values, []
        found = self._aggregated(self._finished)
        data: dict[str, Any] = {f"{self._name}.{one.name.lower()}": value for one, value in found.items()}
        log_event(Event(STAT_EVENT, datetime.now(), data))

    def _aggregated(self, values: list[float]) -> dict[Aggregation, float]:
        made = {
            Aggregation.VALUE: lambda: values[-1],
            Aggregation.MEAN: lambda: sum(values) / len(values),
            Aggregation.COUNT: lambda: float(len(values)),
            Aggregation.SUM: lambda: sum(values),
            Aggregation.MAX: lambda: max(values),
            Aggregation.MIN: lambda: min(values),
        }
        return {one: made[one]() if values else 0.0 for one in self._aggregations}


class _WaitCounterTracker:
    """The block of one wait. What is counted goes to backends that a build of torch adds; there are none."""

    def __enter__(self) -> None:
        """Begin to wait."""

    def __exit__(self, *error: object) -> None:
        """End the wait."""


class _WaitCounter:
    """Counts how often, and how long, a program waits for something."""

    def __init__(self, key: str) -> None:
        self._key = key

    def guard(self) -> _WaitCounterTracker:
        """Return a context manager around what is waited for."""
        return _WaitCounterTracker()


class TensorboardEventHandler:
    """A handler that writes the numbers of `Stat` events to a `SummaryWriter`.

    >>> from datetime import datetime
    >>> class Writer:
    ...     def add_scalar(self, name, value, walltime=None):
    ...         print(name, value)
    >>> handle = torch.monitor.register_event_handler(torch.monitor.TensorboardEventHandler(Writer()))
    >>> torch.monitor.log_event(
    ...     torch.monitor.Event("torch.monitor.Stat", datetime(2026, 1, 2), {"loss.mean": 1.5})
    ... )
    loss.mean 1.5
    >>> torch.monitor.unregister_event_handler(handle)
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == STAT_EVENT:
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())


adopt(globals())
