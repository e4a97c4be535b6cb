"""Memory of large host arrays (128 KB and more), which the native module keeps when it is freed and gives out again.

A fresh mapping costs a page fault every 4 KB: filling 94 MB takes twenty times as long as when the memory was used
before. These arrays lie side by side in one range of addresses, in huge pages where the system has them; what is freed
joins its free neighbours, and a smaller array takes a part of it. With what is kept the process is at most an eighth
larger than its arrays alone once made it, and `MINDTORCH_HOST_CACHE` bytes are kept at most (1 GiB when unset; 0 leaves
all memory to numpy). numpy's allocator does everything without the native module, on other systems than Linux, and where
the process's addresses are limited (`ulimit -v`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def written_once(array: Any) -> Iterator[None]:
    """While an array is filled from its begin to its end, take what memory it still needs page by page.

    Such a page is in the cache when it is written, and is one that the host of a virtual machine has given already; the
    system makes huge pages of them later.
    """
    for module in _modules:
        module.use_huge_pages(array, False)
    try:
        yield
    finally:
        for module in _modules:
            module.use_huge_pages(array, True)


def populate(part: memoryview) -> None:
    """Take the memory of a part of a large array that is about to be written: one call of the system for many pages.

    A part is small enough to be in the cache still when it is written.
    """
    for module in _modules:
        module.populate(part)
