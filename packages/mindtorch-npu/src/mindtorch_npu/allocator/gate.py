"""The lock of an allocator, which knows when it is held by a call that was interrupted."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable


class Gate:
    """A lock for calls that change an allocator, and what finalizers gave back meanwhile.

    The garbage collector may run a finalizer at any allocation of Python's, in the midst of a change by the same thread,
    or in a thread that the change waits for. So finalizers only leave their address here; `give_back` takes it when
    no call is under way, or before the next one begins.
    """

    def __init__(self, give_back: Callable[[int], None]) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._left: deque[int] = deque()
        self._give_back = give_back

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1 and self._left:
            try:
                self._empty()
            except BaseException:
                self.__exit__()
                raise

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        self._lock.release()

    def leave(self, address: int) -> None:
        """Give an address back from a finalizer; never waits."""
        self._left.append(address)
        if self._lock.acquire(blocking=False):
            try:
                if not self._depth:
                    with self:
                        return
            finally:
                self._lock.release()

    def _empty(self) -> None:
        while self._left:
            self._give_back(self._left.popleft())
