"""The question libraries ask before they compile a function."""

from typing import Any

from mindtorch._naming import adopt

__all__ = ["is_compile_supported"]


def is_compile_supported(device_type: Any) -> bool:
    """Return whether functions can be compiled for a device: False, nothing is compiled."""
    return False


adopt(globals())
