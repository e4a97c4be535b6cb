"""One event of a profile, and the sum of several."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from typing import Any

from .._profiling.device import DeviceType
from ._event_table import format_time

Kernel = namedtuple("Kernel", ["name", "device", "duration"])
"""A piece of work on a device."""


class Interval:
    """From `start` to `end`, in microseconds.

    >>> torch.autograd.profiler_util.Interval(10, 25).elapsed_us()
    15
    """

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """Return how long it is."""
        return self.end - self.start


class StringTable(defaultdict):  # type: ignore[type-arg]
    """Names as they are shown: those that are missing stand for themselves."""

    def __missing__(self, key: str) -> str:
        self[key] = key
        return key


class FormattedTimesMixin:
    """Times as texts, and averages over the count.

    >>> with torch.autograd.profiler.profile() as found:
    ...     _ = torch.ones(2) + 1
    >>> event = found.key_averages()[0]
    >>> isinstance(event, torch.autograd.profiler_util.FormattedTimesMixin), event.cpu_time_str.endswith("us")
    (True, True)
    """

    count: int
    cpu_time_total: float
    device_time_total: float
    self_cpu_time_total: float
    self_device_time_total: float

    @property
    def cpu_time(self) -> float:
        """Mean time of a call, with what it called."""
        return 0.0 if self.count == 0 else 1.0 * self.cpu_time_total / self.count

    @property
    def device_time(self) -> float:
        """Mean time on a device."""
        return 0.0 if self.count == 0 else 1.0 * self.device_time_total / self.count

    @property
    def cuda_time(self) -> float:
        """Older name of `device_time`."""
        return self.device_time

    cpu_time_str = property(lambda self: format_time(self.cpu_time))
    device_time_str = property(lambda self: format_time(self.device_time))
    cpu_time_total_str = property(lambda self: format_time(self.cpu_time_total))
    device_time_total_str = property(lambda self: format_time(self.device_time_total))
    self_cpu_time_total_str = property(lambda self: format_time(self.self_cpu_time_total))
    self_device_time_total_str = property(lambda self: format_time(self.self_device_time_total))


class FunctionEvent(FormattedTimesMixin):
    """One call: when, inside which other, on what. Times are microseconds from the profile's beginning.

    >>> with torch.autograd.profiler.profile(record_shapes=True) as found:
    ...     _ = torch.ones(2, 3) + torch.ones(3)
    >>> [event.input_shapes[:2] for event in found.function_events if event.name == "aten::add"]
    [[[2, 3], [3]]]
    """

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: Any = None,
        stack: list[str] | None = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: Any = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: Any = None,
        kwinputs: Any = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
    ) -> None:
        self.id = id
        self.node_id = node_id
        self.name = name
        self.overload_name = overload_name
        self.trace_name = trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels: list[Kernel] = []
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes = input_shapes
        self.concrete_inputs = concrete_inputs
        self.kwinputs = kwinputs
        self.stack = stack
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = is_legacy
        self.flops = flops
        self.is_user_annotation = is_user_annotation
        self.is_python_function = is_python_function

    def append_kernel(self, name: str, device: int, duration: int) -> None:
        """Add a piece of device work."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add an event that ran directly inside this one."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Say inside which event this one ran."""
        self.cpu_parent = parent

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes of this event without those of the events inside of it."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self) -> int:
        """Device bytes of this event alone."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Its time."""
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Its time without that of the events inside of it."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:  # type: ignore[override]
        """Its time on a device: of the kernels it started."""
        return sum(kernel.duration for kernel in self.kernels)

    @property
    def self_device_time_total(self) -> float:  # type: ignore[override]
        """Its time on a device, without that of the events inside of it."""
        return self.device_time_total - sum(child.device_time_total for child in self.cpu_children)

    @property
    def key(self) -> str:
        """What it is counted under."""
        return self.name

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """Sums over events of one key.

    >>> with torch.autograd.profiler.profile() as found:
    ...     for _ in range(3):
    ...         _ = torch.ones(2).exp()
    >>> [event.count for event in found.key_averages() if event.key == "aten::exp"]
    [3]
    """

    _SUMMED = (
        "cpu_time_total",
        "device_time_total",
        "self_cpu_time_total",
        "self_device_time_total",
        "cpu_memory_usage",
        "device_memory_usage",
        "self_cpu_memory_usage",
        "self_device_memory_usage",
        "count",
    )
    _TAKEN = (
        "node_id",
        "is_async",
        "is_remote",
        "cpu_parent",
        "cpu_children",
        "overload_name",
        "input_shapes",
        "stack",
        "scope",
        "device_type",
        "is_legacy",
        "use_device",
        "is_user_annotation",
    )

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = self.is_remote = self.is_legacy = False
        self.use_device: str | None = None
        self.cpu_time_total = self.device_time_total = self.self_cpu_time_total = self.self_device_time_total = 0
        self.input_shapes = self.overload_name = self.stack = self.scope = None
        self.cpu_memory_usage = self.device_memory_usage = 0
        self.self_cpu_memory_usage = self.self_device_memory_usage = 0
        self.cpu_children = self.cpu_parent = None
        self.device_type = DeviceType.CPU
        self.flops = 0

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or a sum of events, of this key; the first one gives the key."""
        if self.key is None:
            self.key = other.key
            for name in self._TAKEN:
                setattr(self, name, getattr(other, name))
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("other must be a FunctionEvent or FunctionEventAvg")
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in self._SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.flops += other.flops or 0
        return self

    def __iadd__(self, other: Any) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )
