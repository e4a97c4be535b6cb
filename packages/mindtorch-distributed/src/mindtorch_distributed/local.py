"""The world of one process: every collective is a copy, and no engine is needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from mindtorch_distributed.engine import Array, Done, Request


class _Mail:
    """A message to oneself that is waited for."""

    def __init__(self, box: deque[Array], array: Array) -> None:
        self._box, self._into, self._done = box, array, False

    def test(self) -> bool:
        """Take the message when it is there."""
        if not self._done and self._box:
            self._into[...] = self._box.popleft()
            self._done = True
        return self._done

    def finish(self) -> None:
        """Take the message; RuntimeError when there is none, as nobody else could send it."""
        if not self.test():
            raise RuntimeError("a process that is alone waits for a message that it did not send")

    def source(self) -> int:
        """The only rank."""
        return 0


class LocalCommunicator:
    """A communicator of one."""

    rank = 0
    size = 1

    def __init__(self) -> None:
        self._boxes: dict[int, deque[Array]] = {}

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """Leave the array as it is."""
        return Done()

    def reduce(self, array: Array, reduction: str, root: int) -> Request:
        """Leave the array as it is."""
        return Done()

    def broadcast(self, array: Array, root: int) -> Request:
        """Leave the array as it is."""
        return Done()

    def all_gather(self, output: Array, array: Array) -> Request:
        """Copy."""
        output[...] = array
        return Done()

    def gather(self, output: Array | None, array: Array, root: int) -> Request:
        """Copy."""
        if output is not None:
            output[...] = array
        return Done()

    def scatter(self, output: Array, array: Array | None, root: int) -> Request:
        """Copy."""
        if array is not None:
            output[...] = array
        return Done()

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """Copy."""
        output[...] = array
        return Done()

    def all_to_all(self, output: Array, received: Sequence[int], array: Array, sent: Sequence[int]) -> Request:
        """Copy."""
        output[...] = array
        return Done()

    def barrier(self) -> Request:
        """Nobody is waited for."""
        return Done()

    def send(self, array: Array, rank: int, tag: int) -> Request:
        """Keep the message until it is received."""
        self._boxes.setdefault(tag, deque()).append(array.copy())
        return Done()

    def receive(self, array: Array, rank: int | None, tag: int) -> Request:
        """Take a message that was sent, or wait for it."""
        return _Mail(self._boxes.setdefault(tag, deque()), array)

    def ended(self) -> list[int]:
        """Nobody else is there."""
        return []

    def free(self) -> None:
        """Forget messages."""
        self._boxes.clear()
