"""Collectives that go on: what a call with `async_op=True` returns."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from mindtorch.futures import Future
from mindtorch_distributed import Communicator, LateError, PeerEndedError, Task
from mindtorch_distributed.engine import Request, wait_until


class OpType(enum.IntEnum):
    """The kinds of collectives."""

    BROADCAST = 0
    ALLREDUCE = 1
    ALLREDUCE_COALESCED = 2
    REDUCE = 3
    ALLGATHER = 4
    _ALLGATHER_BASE = 5
    ALLGATHER_COALESCED = 6
    GATHER = 7
    SCATTER = 8
    REDUCE_SCATTER = 9
    ALLTOALL_BASE = 10
    ALLTOALL = 11
    SEND = 12
    RECV = 13
    RECVANYSOURCE = 14
    BARRIER = 15
    _REDUCE_SCATTER_BASE = 16
    COALESCED = 17
    _ALLREDUCE_SPARSE = 18
    UNKNOWN = 100


def late_text(seconds: float, what: str) -> str:
    """What is said when others did not come in time."""
    return f"Timed out waiting {int(seconds * 1000)}ms for {what} operation to complete"


def ended_text(error: PeerEndedError, what: str) -> str:
    """What is said when a process ended while others waited for it."""
    ranks = ", ".join(map(str, error.ranks))
    return f"Connection closed by peer: rank {ranks} of the group ended while {what} operation waited for it"


class Work:
    """An operation of several processes.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> work = dist.all_reduce(torch.ones(1), async_op=True)
    >>> work.wait(), work.is_completed()
    (True, True)
    >>> dist.destroy_process_group()
    """

    op_type = OpType.UNKNOWN

    def is_completed(self) -> bool:
        """Return whether it is done, well or not."""
        raise NotImplementedError("Work::isCompleted not implemented.")

    def is_success(self) -> bool:
        """Return whether it is done well."""
        return self.is_completed() and self.exception() is None

    def exception(self) -> Any:
        """The error, or None."""
        return None

    def source_rank(self) -> int:
        """The rank that a message came from."""
        return self._source_rank()

    def _source_rank(self) -> int:
        raise RuntimeError(
            "sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call."
        )

    def result(self) -> Any:
        """The tensors that were written."""
        raise RuntimeError("result() not implemented.")

    def synchronize(self) -> None:
        """Nothing is left to do on a host."""

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Return True when it is done; raises its error."""
        raise NotImplementedError("Work::wait not implemented.")

    def block_current_stream(self) -> None:
        """Wait, as a host has no streams."""
        self.wait()

    def get_future(self) -> Any:
        """A future of the tensors that are written."""
        raise NotImplementedError("Work::getFuture not implemented.")

    def get_future_result(self) -> Any:
        """Not offered, as in torch but for NCCL."""
        raise RuntimeError("Work::getFutureResult not implemented.")

    def _get_op_type(self) -> int:
        return int(self.op_type)

    def _get_duration(self) -> float:
        raise RuntimeError("This Backend doesn't support getDuration.")

    def boxed(self) -> Any:
        """The work itself: there is no other representation."""
        return self


class CompletedWork(Work):
    """Something that was done before it was returned."""

    def __init__(self, result: list[Any], op_type: OpType = OpType.UNKNOWN) -> None:
        self._result, self.op_type = result, op_type

    def is_completed(self) -> bool:
        """True."""
        return True

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """True."""
        return True

    def result(self) -> Any:
        """The tensors that were written."""
        return self._result

    def get_future(self) -> Any:
        """A future with its value."""
        future: Future[Any] = Future()
        future.set_result(self._result)
        return future


class FutureWork(Work):
    """Something that is done when a future has its value."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def is_completed(self) -> bool:
        """Return whether it is done, well or not."""
        return self._future.done()

    def exception(self) -> Any:
        """The error, or None."""
        if not self._future.done():
            return None
        try:
            self._future.value()
        except Exception as error:  # noqa: BLE001 - whatever the future was given
            return error
        return None

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Return True when it is done; raises its error. A future knows no timeout."""
        self._future.wait()
        return True

    def result(self) -> list[Any]:
        """The tensors that were written."""
        value = self._future.wait()
        return list(value) if isinstance(value, (list, tuple)) else [value]

    def get_future(self) -> Any:
        """The future."""
        return self._future


class TaskWork(CompletedWork):
    """A task of a group's communication thread."""

    def __init__(self, task: Task, result: list[Any], op_type: OpType, seconds: float) -> None:
        super().__init__(result, op_type)
        self._task, self._seconds = task, seconds
        self._future: Future[Any] | None = None
        self._guard = threading.Lock()

    def is_completed(self) -> bool:
        """Return whether it is done, well or not."""
        return self._task.done()

    def exception(self) -> Any:
        """The error, or None."""
        return self._task.error

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Return True when it is done; raises its error."""
        seconds = timeout.total_seconds() if timeout > timedelta(0) else self._seconds
        try:
            in_time = self._task.wait(seconds)
        except PeerEndedError as error:
            raise RuntimeError(ended_text(error, self.op_type.name.lower())) from None
        if not in_time:
            raise RuntimeError(late_text(seconds, self.op_type.name.lower()))
        error = self._task.error
        if isinstance(error, PeerEndedError):
            raise RuntimeError(ended_text(error, self.op_type.name.lower())) from None
        if error is not None:
            raise error
        return True

    def synchronize(self) -> None:
        """Wait for it."""
        self.wait()

    def get_future(self) -> Any:
        """A future of the tensors that are written."""
        with self._guard:
            made = self._future is None
            if made:
                self._future = Future()
        if made:
            self._task.when_done(self._settle)
        return self._future

    def _settle(self) -> None:
        error = self._task.error
        if error is None:
            self._future.set_result(self._result)
        else:
            self._future.set_exception(error)


class MessageWork(CompletedWork):
    """A message on its way, which goes on when it is looked at."""

    def __init__(
        self,
        request: Request,
        result: list[Any],
        op_type: OpType,
        seconds: float,
        after: Callable[[], None],
        peers: Communicator,
    ) -> None:
        super().__init__(result, op_type)
        self._peers = peers
        self._request, self._seconds, self._after = request, seconds, after
        self._done, self._error = False, None
        self._looking = threading.RLock()
        self._future: Future[Any] = Future()

    def _finish(self) -> None:
        if not self._done:
            self._after()
            self._done = True
            self._future.set_result(self._result)

    def is_completed(self) -> bool:
        """Return whether it is done, and bring it forward."""
        with self._looking:
            if not self._done and self._request.test():
                self._finish()
            return self._done

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Return True when it is done."""
        seconds = timeout.total_seconds() if timeout > timedelta(0) else self._seconds
        with self._looking:
            if not self._done:
                try:
                    in_time = wait_until(self._request, seconds, self._peers)
                except PeerEndedError as error:
                    raise RuntimeError(ended_text(error, self.op_type.name.lower())) from None
                if not in_time:
                    raise RuntimeError(late_text(seconds, self.op_type.name.lower()))
                self._finish()
        return True

    def synchronize(self) -> None:
        """Wait for it."""
        self.wait()

    def _source_rank(self) -> int:
        if self.op_type is OpType.SEND:
            return super()._source_rank()
        return self._request.source()

    def get_future(self) -> Any:
        """A future of the tensors that are written."""
        self.is_completed()
        return self._future


__all__ = [
    "CompletedWork",
    "FutureWork",
    "LateError",
    "MessageWork",
    "OpType",
    "TaskWork",
    "Work",
    "ended_text",
    "late_text",
]
