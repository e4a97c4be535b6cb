"""What every sweep shares: seeding, time limits, calling both sides, and judging one sample."""

from __future__ import annotations

import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any, ClassVar

import numpy as np
import torch

from mindtorch_testing.convert import Unconvertible, map_structure
from mindtorch_testing.sweep.outcome import FIELDS, EntryResult, Outcome
from mindtorch_testing.sweep.rebind import MissingName, Rebinder

SEED = 1234


class EntryTimeout(BaseException):
    """An entry ran past its time limit. A BaseException, so that no `except Exception` on the way swallows it."""


@dataclass(frozen=True)
class Limits:
    """How much of an entry is run, and inside of which pipeline of the target, if any: see `PIPELINES`."""

    samples: int = 8
    form_samples: int = 3
    seconds: float = 60.0
    pipeline: str = ""


PIPELINES = ("plain", "fuse")
"""How entries may run inside of the target's `pipeline()`."""


def seed_generators(seed: int = SEED) -> None:
    """Seed every generator that sample functions draw from."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def spread(items: list[Any], count: int) -> list[Any]:
    """Pick up to `count` items spread evenly; the first two stay the same whatever the count (quick runs)."""
    if len(items) <= count:
        return items
    order = [0, len(items) // 2, *range(0, len(items), max(1, len(items) // count))]
    return [items[i] for i in sorted(dict.fromkeys(order).keys(), key=order.index)[:count]]


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `EntryTimeout` in the block after `seconds` (main thread only)."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise EntryTimeout

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def ask_oracle(ask: Callable[[], Any]) -> list[Any]:
    """Return what torch gives as a list of one; an empty one where torch refuses: then there is nothing to compare."""
    try:
        return [ask()]
    except Exception:  # noqa: BLE001 - a sample that torch refuses is no sample
        return []


class Runner:
    """Runs entries of one database against one target module; a subclass says what is judged."""

    fields: ClassVar[tuple[str, ...]] = FIELDS
    headline: ClassVar[tuple[str, ...]] = ("forward", "strides")
    """The fields that an entry which crashed or timed out fails."""

    def __init__(self, target: ModuleType, limits: Limits) -> None:
        self.target = target
        self.limits = limits
        self.rebind = Rebinder(target)
        self._target_seed: Callable[[int], Any] | None = getattr(target, "manual_seed", None)

    def run(self, info: Any) -> EntryResult:
        """Judge all fields of one entry; failures become reasons, never exceptions."""
        result = EntryResult(self.name_of(info), fields=self.fields)
        started = time.monotonic()
        try:
            with time_limit(self.limits.seconds):
                self._run(info, result)
        except EntryTimeout:
            for name in self.headline:
                result.outcome(name).bad(f"timed out after {self.limits.seconds:g} s")
        result.seconds = time.monotonic() - started
        return result

    @staticmethod
    def name_of(info: Any) -> str:
        """Return the name of an entry of the database."""
        return info.name

    def _run(self, info: Any, result: EntryResult) -> None:
        raise NotImplementedError

    def _on_oracle(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        torch.manual_seed(SEED)
        return fn(*args, **kwargs)

    def _on_target(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self._target_seed is not None:
            self._target_seed(SEED)
        with self._recording():  # leaving it shows the errors of kernels here
            return fn(*args, **kwargs)

    def _recording(self) -> AbstractContextManager[Any]:
        if not self.limits.pipeline:
            return nullcontext()
        context: AbstractContextManager[Any] = self.target.pipeline(fuse=self.limits.pipeline == "fuse")
        return context

    def rebind_function(self, value: Any) -> Any:
        """Translate a function found among a sample's arguments (a penalty, an activation); keep other values."""
        return self.rebind(value) if callable(value) and not isinstance(value, type) else value

    def _judge(self, outcomes: list[Outcome], run: Callable[[], list[str]]) -> None:
        """Run one sample; `run` returns one reason per outcome, empty where it agreed."""
        try:
            with self._recording():
                reasons = run()
        except Unconvertible as error:
            for outcome in outcomes:
                outcome.bad(f"cannot convert: {error}", missing=True)
        except Exception as error:  # noqa: BLE001 - whatever the target raises is a finding
            reason, missing = describe(error)
            for outcome in outcomes:
                outcome.bad(reason, missing=missing, where=origin(error))
        else:
            for outcome, reason in zip(outcomes, reasons, strict=True):
                outcome.bad(reason) if reason else outcome.ok()


def tensors_in(value: Any, is_tensor: Callable[[Any], bool]) -> list[Any]:
    """Return the tensors inside nested containers, in order."""
    found: list[Any] = []

    def collect(leaf: Any) -> None:
        if is_tensor(leaf):
            found.append(leaf)
        elif type(leaf).__name__ == "PackedSequence":
            found.extend(part for part in leaf if is_tensor(part))

    map_structure(value, collect)
    return found


def describe(error: Exception) -> tuple[str, bool]:
    """Return the reason text of an exception of the target, and whether it says that something does not exist."""
    if isinstance(error, MissingName):
        return str(error), True
    text = str(error).strip().splitlines()
    absent = isinstance(error, NotImplementedError) or (
        isinstance(error, AttributeError) and "has no attribute" in str(error)
    )
    return f"raised {type(error).__name__}: {text[0] if text else ''}"[:400], absent


def origin(error: Exception) -> str:
    """Return file:line of the innermost frame of the target that the exception went through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "mindtorch_testing" not in f.filename]
    if not frames:
        return ""
    return "/".join(frames[-1].filename.split("/")[-3:]) + f":{frames[-1].lineno}"
