"""`torch_npu.testing.common_distributed`: tests of several devices."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple, ParamSpec, Protocol, TypeVar

from mindtorch import distributed, npu

__all__ = ["TEST_SKIPS", "TestSkip", "init_pg", "skipIfUnsupportMultiNPU", "with_comms"]

P = ParamSpec("P")
R = TypeVar("R")


class TestSkip(NamedTuple):
    """Why a process of a test ends early, and the code it ends with."""

    exit_code: int
    message: str


TEST_SKIPS = {
    "multi-npu": TestSkip(75, "Multi-NPU condition not satisfied"),
    **{f"multi-npu-{count}": TestSkip(75, f"Need at least {count} ASCEND devices") for count in range(1, 9)},
    "hccl": TestSkip(76, "c10d not compiled with HCCL support"),
    "known_issues": TestSkip(77, "Test skipped due to known issues"),
}


class _OfRank(Protocol):
    world_size: int
    rank: int
    file_name: str

    def destroy_pg(self) -> None: ...


def skipIfUnsupportMultiNPU(npu_number_needed: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that skips a test where there are fewer devices."""

    def decorate(func: Callable[P, R]) -> Callable[P, R]:
        @wraps(func)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            if not npu.is_available() or npu.device_count() < npu_number_needed:
                raise unittest.SkipTest(f"Multi-NPU {npu_number_needed} condition not satisfied")
            return func(*args, **kwargs)

        return run

    return decorate


def _enough(count: int) -> None:
    if npu.device_count() < count:
        raise RuntimeError(TEST_SKIPS[f"multi-npu-{count}"].message)


def init_pg(backend: str = "hccl", world_size: int = 1, rank: int = 0, file_name: str = "file://") -> None:
    """Join the processes of a test, and choose this one's device."""
    if backend not in ("hccl", "gloo"):
        raise RuntimeError(f"Backend {backend} not supported!")
    if backend == "hccl":
        _enough(world_size)
    distributed.init_process_group(backend=backend, world_size=world_size, rank=rank, init_method=f"file://{file_name}")
    if backend == "hccl":
        npu.set_device(rank)


def with_comms(func: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a method: joins the processes before, and parts them after."""
    if func is None:
        raise RuntimeError("Test function is None.")

    @wraps(func)
    def run(self: _OfRank, *args: object, **kwargs: object) -> None:
        backend = "hccl" if npu.is_available() and npu.device_count() >= self.world_size else "gloo"
        init_pg(backend, self.world_size, self.rank, self.file_name)
        npu.manual_seed(0)
        func(self, *args, **kwargs)
        self.destroy_pg()

    return run
