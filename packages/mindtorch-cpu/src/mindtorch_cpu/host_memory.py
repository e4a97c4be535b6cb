"""Memory of large host arrays (1 MB and more), which the native module keeps when it is freed and gives out again.

A fresh mapping costs a page fault every 4 KB: filling 94 MB takes twenty times as long as when the memory was used
before. What is kept never makes the process larger than its arrays alone once made it, and is at most
`MINDTORCH_HOST_CACHE` bytes (1 GiB when unset; 0 leaves all memory to numpy). Blocks of 4 MB and more are in huge pages
where the system has them. Without the native module, and on other systems than Linux, numpy's allocator does everything.
"""

from __future__ import annotations

import os
from typing import Any

DEFAULT = 1 << 30

_modules: list[Any] = []


def install(module: Any) -> None:
    """Let numpy take large blocks from the native module; ValueError for a `MINDTORCH_HOST_CACHE` that is no size."""
    text = os.environ.get("MINDTORCH_HOST_CACHE", str(DEFAULT))
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"MINDTORCH_HOST_CACHE is a number of bytes, not {text!r}")
    module.limit_host_cache(int(text))
    _modules[:] = [module]


def empty_cache() -> None:
    """Give back to the system what is kept."""
    for module in _modules:
        module.empty_host_cache()


def set_limit(nbytes: int) -> None:
    """Keep at most `nbytes` from now on; 0 keeps nothing."""
    if nbytes < 0:
        raise ValueError(f"a limit is not negative: {nbytes}")
    for module in _modules:
        module.limit_host_cache(nbytes)


def statistics() -> dict[str, int]:
    """Return bytes `used` by large arrays, bytes `kept`, and their `limit`; zeros where numpy does everything."""
    for module in _modules:
        return dict(module.host_cache())
    return {"used": 0, "kept": 0, "limit": 0}
