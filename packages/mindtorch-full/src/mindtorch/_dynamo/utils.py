"""The question libraries ask before they compile a function."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt

__all__ = ["LazyString", "is_compile_supported"]


class LazyString:
    """A text that is made when it is written: by a function and its arguments."""

    def __init__(self, func: Callable[..., str], *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __str__(self) -> str:
        return self.func(*self.args, **self.kwargs)


def is_compile_supported(device_type: Any) -> bool:
    """Return whether functions can be compiled for a device: False, nothing is compiled."""
    return False


adopt(globals())
