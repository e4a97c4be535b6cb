"""`torch._dynamo.test_case`: test cases around a tracer, over PyTorch's test infrastructure where that is there."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.lazy_import import load

_infrastructure = load("torch.testing._internal.common_utils")


class TestCase(_infrastructure.TestCase):  # type: ignore[misc,name-defined]
    """A test case; nothing is traced, so there is nothing to forget between tests."""


def run_tests(needs: str | tuple[str, ...] = ()) -> Any:
    """Run the tests of the program."""
    return _infrastructure.run_tests()
