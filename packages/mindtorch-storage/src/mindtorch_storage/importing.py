"""One import lock for all modules of this library.

Python locks each module by itself. A thread that imports `mindtorch.nn.modules` does not wait for another one that is
within `mindtorch.nn`, because the package is in `sys.modules` already: the two then meet in the middle, one of them sees
modules that are half done, and raises ImportError. torch imports all of itself at once, under one lock. What is imported
here when it is first named must look the same, so all modules of the library have one lock, which a thread may take again
and again. It is one of Python's own, with Python's detection of deadlocks. A second name of the package, as `torch` under
the proxy, has the same lock: a module imports by both names, so two locks would be taken in both orders.
"""

from __future__ import annotations

import _imp
import importlib._bootstrap
import sys
import threading
from collections.abc import Callable
from typing import Any

_PREFIX = "mindtorch"
_bootstrap: Any = importlib._bootstrap  # its locks are in no stub


class _Locks(dict[str, Callable[[], Any]]):
    """Python's table of the locks of modules, by name; it holds weak references."""

    def __missing__(self, name: str) -> Callable[[], Any]:
        if name.startswith(_PREFIX):
            return _shared
        package = sys.modules.get(name.partition(".")[0])
        if package is not None and package is sys.modules.get(_PREFIX):
            return _shared
        raise KeyError(name)


def _shared() -> Any:
    return lock


def locks_in_use() -> dict[str, Any]:
    """Return the locks of imports that some thread has or is about to take, by the name of the module."""
    named = [(name, reference()) for name, reference in list(_bootstrap._module_locks.items())]
    found = {name: held for name, held in named if held is not None}
    return found if lock.owner is None else {**found, lock.name: lock}


def locks_of_other_threads() -> dict[str, Any]:
    """Return what `locks_in_use` does, without those that this thread has."""
    me = threading.get_ident()
    return {name: held for name, held in locks_in_use().items() if held.owner != me}


def is_importing() -> bool:
    """Say whether this thread is within an import."""
    me = threading.get_ident()
    return any(held.owner == me for held in locks_in_use().values())


def renew_locks() -> None:
    """Make the locks of imports usable in a forked child, whose parent's other threads may have been at any line of them.

    An import of this thread goes on; nobody waits for it any more.
    """
    global lock
    me = threading.get_ident()
    for held in locks_in_use().values():
        if held.owner == me:
            held.lock._at_fork_reinit()
            held.wakeup._at_fork_reinit()
            held.waiters = type(held.waiters)()
    if lock.owner != me:
        lock = _bootstrap._ModuleLock(_PREFIX)


lock = _bootstrap._ModuleLock(_PREFIX)

_imp.acquire_lock()  # it guards the table
try:
    _bootstrap._module_locks = _Locks(_bootstrap._module_locks)
finally:
    _imp.release_lock()
