"""Types that every layer uses in annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

from .device import device as Device

Array: TypeAlias = npt.NDArray[Any]
"""Elements of a tensor in main memory."""

Scalar: TypeAlias = "bool | int | float | complex"
"""A Python number."""

DeviceLike: TypeAlias = "Device | str | int"
"""What torch takes for a device."""
