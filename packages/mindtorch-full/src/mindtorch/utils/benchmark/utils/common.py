"""`torch.utils.benchmark.utils.common`: what was measured, and how it is written."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import statistics
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindtorch import get_num_threads, set_num_threads, tensor
from mindtorch._naming import adopt

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
_SCALES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_NOISY = 0.1
"""Spread over the median above which a measurement warns."""


@dataclasses.dataclass(init=True, repr=False, eq=True, frozen=True)
class TaskSpec:
    """What is measured.

    >>> torch.utils.benchmark.TaskSpec("f(x)", "x = 1", label="calls", num_threads=2).title
    'calls'
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """Return the setup as the texts have it."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Return title, description and setup, a line each."""
        parts = [self.title, self.description or "", f"\n{self.setup_str()}" if self.setup_str() else ""]
        return "\n".join(part for part in parts if part)


class Measurement:
    """The times of one task.

    Args:
        number_per_run: how often the statement ran for each time.
        raw_times: seconds of each run.

    >>> from torch.utils.benchmark import Measurement, TaskSpec
    >>> found = Measurement(10, [1e-3, 3e-3, 2e-3], TaskSpec("f(x)", ""))
    >>> found.times, found.median
    ([0.0001, 0.00030000000000000003, 0.0002], 0.0002)
    """

    def __init__(
        self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec, metadata: dict[Any, Any] | None = None
    ) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.task_spec = task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if name in ("task_spec", "metadata"):  # asked for while a copy is half made
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    @property
    def times(self) -> list[float]:
        """Seconds of one execution, for each run."""
        return [one / self.number_per_run for one in self.raw_times]

    @property
    def median(self) -> float:
        """The median of the times."""
        self._need_times()
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """The mean of the times."""
        self._need_times()
        return statistics.fmean(self.times)

    def _quartile(self, q: float) -> float:
        return float(np.quantile(self.times, q))

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        self._need_times()
        return self._quartile(0.75) - self._quartile(0.25)

    def _need_times(self) -> None:
        if not self.raw_times:
            raise ValueError("No measurements.")

    @property
    def significant_figures(self) -> int:
        """How many figures of the median the spread of the inner half of the times leaves certain, from one to four."""
        count = len(self.times)
        inner = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        spread = 1.645 * float(np.std(inner)) / math.sqrt(len(inner))
        certain = math.log10(self.median / spread) if spread else 1.0
        return max(min(math.floor(certain), 4), 1)

    @property
    def has_warnings(self) -> bool:
        """Whether the times are too far apart."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _NOISY) -> bool:
        """Return whether the spread is below that part of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """The label, or the statement."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """The environment's name."""
        return "Unspecified env" if self.task_spec.env is None else self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of the task's row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        unit, scale = select_unit(self.median)
        count, threads = len(self.raw_times), self.task_spec.num_threads
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count > 3:
            low, high = self._quartile(0.25) / scale, self._quartile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        lines.append(
            f"  {count} measurement{'s' if count > 1 else ''}, {self.number_per_run} runs "
            f"{'per measurement' if count > 1 else ''}, {threads} thread{'s' if threads > 1 else ''}"
        )
        if self.has_warnings:
            lines.append(
                f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement."
            )
            lines.append("           This suggests significant environmental influence.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Return one measurement for all those of the same task."""
        grouped: dict[TaskSpec, list[Measurement]] = {}
        for one in measurements:
            grouped.setdefault(one.task_spec, []).append(one)
        return [
            Measurement(1, [time for one in group for time in one.times], spec, metadata=None)
            for spec, group in grouped.items()
        ]


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit in which `t` seconds are best written, and its length in seconds.

    >>> torch.utils.benchmark.select_unit(2.5e-4)
    ('us', 1e-06)
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(math.log10(t) // 3), "s")
    return unit, _SCALES[unit]


def unit_to_english(u: str) -> str:
    """Return a unit's name in words.

    >>> torch.utils.benchmark.unit_to_english("us")
    'microsecond'
    """
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Return `x` rounded to `n` significant figures, as a tensor of float32 rounds it.

    >>> torch.utils.benchmark.trim_sigfig(1.2345, 2)
    1.2000000476837158
    """
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10 ** (int(tensor(x).abs().log10().ceil().item()) - n)
    return float(tensor(x / scale).round() * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Return the elements without repetitions, in order.

    >>> torch.utils.benchmark.ordered_unique([3, 1, 3, 2])
    [3, 1, 2]
    """
    return list(dict.fromkeys(elements))


@contextlib.contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Run the block with `n` threads.

    >>> with torch.utils.benchmark.set_torch_threads(1):
    ...     print(torch.get_num_threads())
    1
    """
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)


adopt(globals())
