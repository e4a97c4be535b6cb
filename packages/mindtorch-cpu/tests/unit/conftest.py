"""What tests of native kernels share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from mindtorch_cpu import native


@pytest.fixture
def set_threads() -> Iterator[Callable[[int], None]]:
    """Sets how many threads kernels use; it is as before after the test."""
    before = native.module.thread_count()
    yield native.module.set_thread_count
    native.module.set_thread_count(before)


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest, set_threads: Callable[[int], None]) -> int:
    """The number of threads the test runs with."""
    set_threads(request.param)
    return request.param
