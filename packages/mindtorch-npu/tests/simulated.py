"""A simulated device for tests: each test gets a host of its own and a runtime that was never initialised."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mindtorch_npu import allocator, device, host, runtime, simulator, stream, stream_pools, switches
from mindtorch_npu.allocator import limiting


@contextmanager
def simulated(monkeypatch: pytest.MonkeyPatch, settings: str = "Ascend910B3:2,memory=1GiB") -> Iterator[Any]:
    """Simulate a host within the block and yield its machine."""
    monkeypatch.setenv(simulator.VARIABLE, settings)
    switches.forget_plans()
    machine = simulator.replace(settings)
    states = (("_acl", None), ("_owner", False), ("_bad_fork", False), ("_thread", threading.local()), ("_open", set()))
    for name, value in states:
        monkeypatch.setattr(runtime, name, value)
    monkeypatch.setattr(runtime, "_fork_hook_set", True)  # no hooks in the process of the tests
    device._thread.device = 0
    stream_pools.forget(), stream._defaults.clear(), stream._thread.current.clear()
    (
        allocator._allocators.clear(),
        allocator._changed.clear(),
        host._allocator.clear(),
        limiting.process_fractions.clear(),
    )
    try:
        yield machine
    finally:
        switches.forget_plans()
        stream_pools.forget(), stream._defaults.clear(), stream._thread.current.clear()
        (
            allocator._allocators.clear(),
            allocator._changed.clear(),
            host._allocator.clear(),
            limiting.process_fractions.clear(),
        )
        switches.launched.clear()
        runtime._acl = None
