"""`torch.backends.python_native`: kernels that are written in languages inside of Python. There are none."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt

__all__ = [
    "all_dsls",
    "available_dsls",
    "disable_dispatch_keys",
    "disable_operations",
    "enable_dispatch_keys",
    "enable_operations",
    "get_dsl_operations",
    "operations_disabled",
]

available_dsls: list[str] = []
all_dsls: list[str] = []


def get_dsl_operations(dsl_name: str) -> list[str]:
    """Return the operations that a language overrides. Raises ValueError for a language that is not known."""
    raise ValueError(f"Unknown DSL: {dsl_name}")


def disable_operations(*op_symbols: Any) -> None:
    """Leave operations to the built-in kernels, which compute all of them anyway."""


def enable_operations(*op_symbols: Any) -> None:
    """Let operations be overridden again; nothing overrides them."""


def disable_dispatch_keys(*dispatch_keys: Any) -> None:
    """Leave the operations of dispatch keys to the built-in kernels, which compute all of them anyway."""


def enable_dispatch_keys(*dispatch_keys: Any) -> None:
    """Let the operations of dispatch keys be overridden again; nothing overrides them."""


@contextmanager
def operations_disabled(*op_symbols: Iterable[str]) -> Iterator[None]:
    """Context manager: operations are left to the built-in kernels.

    >>> with torch.backends.python_native.operations_disabled("add"):
    ...     print(torch.ones(1) + 1)
    tensor([2.])
    """
    yield


adopt(globals())
