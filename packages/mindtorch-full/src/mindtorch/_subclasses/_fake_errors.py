"""What a fake tensor raises where an operator needs data."""

from __future__ import annotations

from typing import Any


class UnsupportedFakeTensorException(RuntimeError):
    """A fake tensor met what it cannot do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class DynamicOutputShapeException(RuntimeError):
    """An operator's shape depends on data, which a fake tensor lacks."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class DataDependentOutputException(RuntimeError):
    """An operator's answer depends on data, which a fake tensor lacks."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class UnsupportedOperatorException(RuntimeError):
    """Nothing describes an operator's results without running it."""

    def __init__(self, func: Any) -> None:
        super().__init__(func)
        self.func = func


class UnsupportedMutationAliasingException(RuntimeError):
    """An operator writes or aliases in a way that cannot be described."""


class MetadataMismatchError(RuntimeError):
    """Two descriptions of one result differ."""


class FakeTensorDeviceMismatchError(RuntimeError):
    """Operands of one call are on different devices."""


for _error in (
    UnsupportedFakeTensorException, DynamicOutputShapeException, DataDependentOutputException,
    UnsupportedOperatorException, UnsupportedMutationAliasingException, MetadataMismatchError,
    FakeTensorDeviceMismatchError,
):  # fmt: skip
    _error.__module__ = "torch._subclasses.fake_tensor"
