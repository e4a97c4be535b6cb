"""`torch.utils.benchmark.utils.timer`: timing a statement."""

from __future__ import annotations

import enum
import textwrap
import timeit
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils.benchmark.utils.common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Language", "Timer", "timer"]


class Language(enum.Enum):
    """The language of a statement.

    >>> from torch.utils.benchmark import Language
    >>> [one.name for one in Language]
    ['PYTHON', 'CPP']
    """

    PYTHON = 0
    CPP = 1


def timer() -> float:
    """Return a time in seconds, after the accelerator, if there is one, has done what it was asked to.

    >>> from torch.utils.benchmark import timer
    >>> start = timer()
    >>> timer() >= start
    True
    """
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return timeit.default_timer()


class Timer:
    """Times a statement of Python.

    Args:
        stmt: what is timed.
        setup: what runs before, untimed.
        timer: gives the time in seconds.
        globals: the names that both see, besides `torch`.
        label, sub_label, description, env: say in texts and tables what it is.
        num_threads: how many threads operators use.

    Raises:
        ValueError: a statement that is no string.
        NotImplementedError: C++, or a `global_setup`, which is of C++.

    >>> from torch.utils.benchmark import Timer
    >>> found = Timer("x + 1", globals={"x": torch.ones(2)}).timeit(10)
    >>> found.number_per_run, found.median > 0
    (10, True)
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language not in (Language.PYTHON, "py", "python"):
            raise NotImplementedError("torch.utils.benchmark.Timer: statements of C++ are not offered")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        self._globals = {"torch": torch, **(globals or {})}
        stmt, setup = textwrap.dedent(stmt).strip(), textwrap.dedent(setup).strip()
        self._timer = timeit.Timer(stmt=stmt, setup=setup, timer=timer, globals=self._globals)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _time(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the statement `number` times, after a hundredth of it to warm up, and return the one time."""
        with set_torch_threads(self._task_spec.num_threads):
            self._time(max(number // 100, 2))
            return Measurement(number, [self._time(number)], self._task_spec)

    def autorange(self, callback: Callable[[int, float], NoReturn] | None = None) -> None:
        """Raises: use `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block_size(self, min_run_time: float) -> int:
        """Return how often the statement runs for a time that the cost of taking it does not matter to."""
        overhead = float(np.median([self._time(0) for _ in range(5)]))
        number = 1
        while True:
            taken = self._time(number)
            if overhead / taken <= 1e-4 and taken >= min_run_time / 1000:
                return number
            if taken > min_run_time:
                return number
            number *= 10

    def _measured(self, number: int, enough: Callable[[list[float]], bool], limit: float) -> list[float]:
        times: list[float] = []
        total = 0.0
        while total < limit and not enough(times):
            taken = self._time(number)
            times.append(taken)
            total += taken
        return times

    def blocked_autorange(
        self, callback: Callable[[int, float], NoReturn] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Return the times of blocks of runs, at least `min_run_time` seconds together."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(min_run_time)
            times = self._measured(number, self._told(number, callback, lambda taken: False), min_run_time)
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], NoReturn] | None = None,
    ) -> Measurement:
        """As `blocked_autorange`, until the spread is below `threshold` of the median, or for `max_run_time` seconds."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block_size(0.05)

            def enough(times: list[float]) -> bool:
                if len(times) <= 3 or sum(times) < min_run_time:
                    return False
                return Measurement(number, times, self._task_spec).meets_confidence(threshold)

            times = self._measured(number, self._told(number, callback, enough), max_run_time)
        return Measurement(number, times, self._task_spec)

    @staticmethod
    def _told(number: int, callback: Any, enough: Callable[[list[float]], bool]) -> Callable[[list[float]], bool]:
        def ask(times: list[float]) -> bool:
            if times and callback is not None:
                callback(number, times[-1])
            return enough(times)

        return ask

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ) -> NoReturn:
        """Count instructions with Valgrind; raises."""
        raise NotImplementedError("torch.utils.benchmark.Timer.collect_callgrind(): instructions are not counted")


adopt(globals())
