"""Types of what callers give."""

from __future__ import annotations

from typing import Protocol, TypeAlias


class DeviceObject(Protocol):
    """A `torch.device`."""

    @property
    def type(self) -> str:
        """The name before the colon."""

    @property
    def index(self) -> int | None:
        """The number after it."""


DeviceLike: TypeAlias = "DeviceObject | str | int | None"
"""How a device is named; None is the current one."""
