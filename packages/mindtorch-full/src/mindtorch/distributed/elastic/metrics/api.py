"""Streams of figures, a group each, and who gets them."""

from __future__ import annotations

import abc
import functools
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from mindtorch._naming import adopt

__all__ = [
    "ConsoleMetricHandler",
    "MetricData",
    "MetricHandler",
    "MetricStream",
    "MetricsConfig",
    "NullMetricHandler",
    "configure",
    "getStream",
    "get_elapsed_time_ms",
    "prof",
    "profile",
    "publish_metric",
    "put_metric",
]


class MetricData(NamedTuple):
    """A figure."""

    timestamp: int
    group_name: str
    name: str
    value: int


class MetricsConfig:
    """What a handler is configured with."""

    __slots__ = ["params"]

    def __init__(self, params: dict[str, str] | None = None) -> None:
        self.params = {} if params is None else params


class MetricHandler(abc.ABC):
    """Gets figures."""

    @abc.abstractmethod
    def emit(self, metric_data: MetricData) -> None:
        """Take a figure."""


class ConsoleMetricHandler(MetricHandler):
    """Prints figures."""

    def emit(self, metric_data: MetricData) -> None:
        """Print a figure."""
        print(f"[{metric_data.timestamp}][{metric_data.group_name}]: {metric_data.name}={metric_data.value}")


class NullMetricHandler(MetricHandler):
    """Drops figures."""

    def emit(self, metric_data: MetricData) -> None:
        """Drop a figure."""


class MetricStream:
    """The figures of a group."""

    def __init__(self, group_name: str, handler: MetricHandler) -> None:
        self.group_name = group_name
        self.handler = handler

    def add_value(self, metric_name: str, metric_value: int) -> None:
        """Hand on a figure, with the time."""
        self.handler.emit(MetricData(time.time(), self.group_name, metric_name, metric_value))  # type: ignore[arg-type] # torch's time is a fraction too


_metrics_map: dict[str, MetricHandler] = {}
_default_metrics_handler: MetricHandler = NullMetricHandler()


def configure(handler: MetricHandler, group: str | None = None) -> None:
    """Let a handler get the figures of a group, or of all that have no handler of their own."""
    global _default_metrics_handler
    if group is None:
        _default_metrics_handler = handler
    else:
        _metrics_map[group] = handler


def getStream(group: str) -> MetricStream:
    """Return the stream of a group."""
    return MetricStream(group, _metrics_map.get(group, _default_metrics_handler))


def _get_metric_name(fn: Callable[..., Any]) -> str:
    """Return `Class.method`, or `module.function`."""
    name = fn.__qualname__
    return name if "." in name else f"{fn.__module__.rpartition('.')[2]}.{name}" if fn.__module__ else name


def prof(fn: Callable[..., Any] | None = None, group: str = "torchelastic") -> Any:
    """Count how long a function takes, and how often it returns and raises."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        key = _get_metric_name(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.time()
            try:
                result = function(*args, **kwargs)
            except Exception:
                put_metric(f"{key}.failure", 1, group)
                raise
            else:
                put_metric(f"{key}.success", 1, group)
            finally:
                put_metric(f"{key}.duration.ms", get_elapsed_time_ms(start), group)
            return result

        return wrapper

    return wrap(fn) if fn else wrap


def profile(group: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Count how long functions take; `prof` is its successor."""
    warnings.warn(
        "`torch.distributed.elastic.metrics.profile` is deprecated, use `torch.distributed.elastic.metrics.prof` instead",
        FutureWarning,
        stacklevel=2,
    )
    return lambda function: prof(function, group or "torchelastic")  # type: ignore[no-any-return] # a function gives one


def put_metric(metric_name: str, metric_value: int, metric_group: str = "torchelastic") -> None:
    """Add a figure to a group."""
    getStream(metric_group).add_value(metric_name, metric_value)


def publish_metric(metric_group: str, metric_name: str, metric_value: int) -> None:
    """Add a figure to a group; `put_metric` is its successor."""
    warnings.warn(
        "Deprecated, use put_metric(metric_group)(metric_name, metric_value) instead", FutureWarning, stacklevel=2
    )
    getStream(metric_group).add_value(metric_name, metric_value)


def get_elapsed_time_ms(start_time_in_seconds: float) -> int:
    """Return the milliseconds since a time."""
    return int((time.time() - start_time_in_seconds) * 1000)


adopt(globals())
