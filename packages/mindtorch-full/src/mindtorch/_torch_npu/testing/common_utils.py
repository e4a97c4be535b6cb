"""`torch_npu.testing.common_utils`: inputs on both devices, and decorators that skip."""

from __future__ import annotations

import atexit
import json
import os
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from itertools import product
from pathlib import Path
from statistics import mean
from threading import Lock
from typing import ParamSpec, TypeVar

import numpy as np

import mindtorch as torch
from mindtorch import npu
from mindtorch.npu._versions import get_cann_version, is_gte_cann_version
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "PERF_TEST_ENABLE",
    "Baseline",
    "PerfBaseline",
    "SkipIfNoLapack",
    "SkipIfNotGteCANNVersion",
    "SkipIfNotRegistered",
    "SupportedDevices",
    "check_operators_in_prof",
    "create_common_tensor",
    "create_dtype_tensor",
    "dump_baseline",
    "freeze_rng_state",
    "get_cycles_per_ms",
    "get_npu_device",
    "is_iterable",
    "iter_indices",
    "set_npu_device",
    "test_2args_broadcast",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

PERF_TEST_ENABLE = os.getenv("PERF_TEST_ENABLE", "").upper() in ("ON", "1", "YES", "TRUE", "Y")


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Give the random state of the CPU back after the block."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


def iter_indices(tensor: Tensor) -> Iterable[int] | Iterable[tuple[int, ...]]:
    """Return all places of a tensor."""
    if tensor.dim() < 2:
        return range(tensor.numel() if tensor.dim() else 0)
    return product(*(range(size) for size in tensor.shape))


def is_iterable(obj: object) -> bool:
    """Return whether an object can be gone through."""
    return isinstance(obj, Iterable)


def get_npu_device() -> str:
    """Return the device to test: the first, or that of SET_NPU_DEVICE."""
    return f"npu:{os.environ.get('SET_NPU_DEVICE', '0')}"


def set_npu_device() -> str:
    """Make the device to test the current one, and return its name."""
    device = get_npu_device()
    npu.set_device(torch.device(device).index)
    return device


def _both(values: np.ndarray, acl_format: int, device: str | None) -> tuple[Tensor, Tensor]:
    given = torch.from_numpy(values)
    there = given.to(get_npu_device() if device is None else device)
    return given, there if acl_format == -1 else torch.ops.npu.npu_format_cast(there, acl_format)


def create_common_tensor(
    item: Sequence[object], minValue: float, maxValue: float, device: str | None = None
) -> tuple[Tensor, Tensor]:
    """Return random numbers on the CPU and on the device; `item` is numpy's dtype, a format and a shape."""
    dtype, acl_format, shape = item
    values = np.random.uniform(minValue, maxValue, shape).astype(dtype)  # type: ignore[call-overload]
    return _both(values, int(str(acl_format)), device)


def create_dtype_tensor(
    shape: Sequence[int], dtype: torch.dtype, npu_format: int = -1, min_value: float = -5, max_value: float = 5,
    no_zero: bool = False, device: str | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return random numbers on the CPU and on the device, integers where the dtype is none of half and float."""
    if dtype == torch.bool:
        values = np.random.randint(0, 2, size=shape).astype(bool)
    elif dtype in (torch.half, torch.float):
        kind = np.float16 if dtype == torch.half else np.float32
        values = np.random.uniform(min_value, max_value, shape).astype(kind)
    else:
        values = np.random.randint(int(min_value), int(max_value) + 1, size=shape).astype(np.int32)
    if no_zero:
        values = np.where(values != 0, values, np.ones_like(values))
    return _both(values, npu_format if dtype in (torch.float, torch.half) else -1, device)


def test_2args_broadcast(fn: Callable[[Tensor, Tensor], Tensor]) -> list[list[np.ndarray]]:
    """Return what a function makes of operands that broadcast, on the CPU and on the device."""
    found = []
    for shape in ((1, 1, 1), (4, 5)):
        values = [np.random.rand(*size).astype(np.float32) for size in ((2, 3, 4, 5), shape)]
        pairs = [_both(one, -1, None) for one in values]
        found.append([fn(*[pair[place] for pair in pairs]).cpu().numpy() for place in (0, 1)])
    return found


def check_operators_in_prof(
    expected_operators: list[str], prof: object, unexpected_operators: list[str] | None = None
) -> bool:
    """Return whether a profile has all of the operators, and none of those that must not be called."""
    names = {one.key.replace("cached_", "") for one in prof.key_averages()}  # type: ignore[attr-defined]
    return names.issuperset(expected_operators) and names.isdisjoint(unexpected_operators or ())


class SkipIfNoLapack:
    """Decorator: skips nothing, for linear algebra is always there."""

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        return fn


class SkipIfNotRegistered:
    """Decorator: skips, for there is no Caffe2 whose operators it asks for."""

    def __call__(self, message: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        return unittest.skip("Cannot import `caffe2.python.core`")


class SupportedDevices:
    """Decorator: skips a test on chips that are not named."""

    def __init__(self, supported_devices: list[str]) -> None:
        self.supported_devices = supported_devices

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        @wraps(fn)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            name = npu.get_device_name(0)
            length = 12 if name.startswith("Ascend910_") else 9 if name.startswith("Ascend950") else 10
            if name[:length] not in self.supported_devices:
                raise unittest.SkipTest(f"Only run on {self.supported_devices!r}, current device is {name[:length]}.")
            return fn(*args, **kwargs)

        return run


class SkipIfNotGteCANNVersion:
    """Decorator: skips a test with an installation that is older."""

    def __init__(self, base_version: str, module: str = "CANN") -> None:
        self.base_version, self.module = base_version, module

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        @wraps(fn)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_gte_cann_version(self.base_version, self.module):
                found = get_cann_version(self.module)
                raise unittest.SkipTest(f"Only run on {self.base_version} or greater, current cann version is {found}.")
            return fn(*args, **kwargs)

        return run


class Baseline:
    """Times of tests by name, in a file."""

    def __init__(self, baselineFile: str) -> None:
        self._file, self._lock = Path(baselineFile), Lock()
        self._times: dict[str, float] = {}
        if self._file.exists():
            self._times = json.loads(self._file.read_text(encoding="utf-8"))

    def get_baseline(self, resourceId: str) -> float | None:
        """Return a test's time, None for one that is not known."""
        return self._times.get(resourceId)

    def set_baseline(self, resourceId: str, baseline: float) -> None:
        """Keep a test's time."""
        with self._lock:
            self._times[resourceId] = baseline

    def save_baseline(self) -> None:
        """Write the file."""
        with self._lock:
            self._file.write_text(json.dumps(self._times), encoding="utf-8")


PerfBaseline = Baseline(os.path.realpath(os.getenv("PERF_BASELINE_FILE", "performance_baseline.json")))


@atexit.register
def dump_baseline() -> None:
    """Write the times of tests where PERF_TEST_ENABLE asks for them."""
    if PERF_TEST_ENABLE:
        PerfBaseline.save_baseline()


@cache
def get_cycles_per_ms() -> float:
    """Return how many cycles of a sleep of the device make a millisecond: the mean of six of ten tries."""
    found = []
    for _ in range(10):
        start, end = npu.Event(enable_timing=True), npu.Event(enable_timing=True)
        start.record()
        npu._sleep(1000000)
        end.record()
        end.synchronize()
        found.append(1000000 / start.elapsed_time(end))
    return mean(sorted(found)[2:8])
