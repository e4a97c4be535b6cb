"""Locks and forks: a child has none of its parent's other threads, so a lock that one of those held is held for ever.

Every lock of this library that a child may need is told here, under one of two rules.

- `renew_after_fork`: what the lock guards is whole between any two instructions, so the child takes a new one.
- `hold_during_fork`: it is not, so a fork waits until no other thread has the lock, and has it while it copies.

Python's imports are of the second kind: a module that another thread was importing would stay half imported in the child,
and its lock taken. Python renews its global import lock in a child, the locks of single modules it does not. The order of
locks is: the lock of a module, the global import lock, the locks told to `hold_during_fork`. A fork that does not get the
next one soon gives back what it has and starts again, so that no thread waits for it in turn.
"""

from __future__ import annotations

import _imp
import os
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from .importing import is_importing, locks_of_other_threads, renew_locks

OWN_PATIENCE, PATIENCE = 60.0, 1.0
"""Seconds that a fork waits for imports of this library and of what it stands on, and for those of others: a program may
run within an import for as long as it lives, and is not waited for a second time."""

_PAUSE, _SOON = 0.0005, 0.5
_STANDS_ON = frozenset({"torch", "numpy", "scipy", "ml_dtypes"})


class Lock(Protocol):
    """What `threading.Lock` and `threading.RLock` have in common."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; False when the time is over."""

    def release(self) -> None:
        """Give it back."""


_renewals: list[Callable[[], object]] = []
_holdings: list[Callable[[], Iterable[Lock]]] = []
_given_up: weakref.WeakSet[Any] = weakref.WeakSet()  # locks of modules whose import outlasted a fork's patience


def renew_after_fork(renew: Callable[[], object]) -> None:
    """Run `renew`, which replaces a lock of this process by a new one, in every child that a fork makes."""
    _renewals.append(renew)


def hold_during_fork(locks: Callable[[], Iterable[Lock]]) -> None:
    """Have every lock that `locks` returns while a fork copies the process; parent and child then release it."""
    _holdings.append(locks)


def _is_own(name: str) -> bool:
    package = name.partition(".")[0]
    return package.startswith("mindtorch") or package in _STANDS_ON


class _Fork:
    """The locks that a fork has; the global import lock, which it takes first, guards them."""

    def __init__(self) -> None:
        self.ready = False
        self.locks: list[Lock] = []

    def before(self) -> None:
        """Take all locks."""
        started = time.monotonic()
        while not self._take(time.monotonic() - started):
            time.sleep(_PAUSE)

    def _take(self, waited: float) -> bool:
        _imp.acquire_lock()
        imports = {name: lock for name, lock in locks_of_other_threads().items() if lock not in _given_up}
        own = not is_importing() and any(map(_is_own, imports))
        if imports and waited < (OWN_PATIENCE if own else PATIENCE):
            _imp.release_lock()
            return False
        _given_up.update(imports.values())
        self.ready = True
        for locks in _holdings:
            for lock in locks():
                if not lock.acquire(timeout=_SOON):
                    self.release()
                    return False
                self.locks.append(lock)
        return True

    def release(self) -> None:
        """Give all locks back."""
        while self.locks:
            self.locks.pop().release()
        if self.ready:  # an exception, such as Ctrl-C's, may have ended `before`
            self.ready = False
            _imp.release_lock()

    def after_in_child(self) -> None:
        """Make the locks anew that are not held, and give the others back."""
        renew_locks()
        self.release()
        for renew in _renewals:
            renew()


if hasattr(os, "register_at_fork"):
    _fork = _Fork()
    os.register_at_fork(before=_fork.before, after_in_parent=_fork.release, after_in_child=_fork.after_in_child)
