"""Values that another thread computes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

from mindtorch._naming import adopt
from mindtorch_storage.device import device as Device

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")

_log = logging.getLogger("torch.futures")
_THREAD = threading.local()


def wait_by(carry_on: Callable[[Callable[[], bool]], None]) -> None:
    """Let this thread call `carry_on` with what says whether a future is done, before it waits for the future.

    It is for threads that do the work which futures wait for: a callback there may wait for work that comes after its own.
    """
    _THREAD.carry_on = carry_on


class Future(Generic[T]):
    """A value that will be set once, with callbacks that run when it is.

    >>> future = torch.futures.Future()
    >>> future.set_result(3)
    >>> future.wait()
    3
    """

    def __init__(self, *, devices: Any = None) -> None:
        for device in devices or ():
            if not isinstance(device, int) and Device(device).index is None:
                raise ValueError(f"Expected devices to have indices, got {device}")
        self._ready = threading.Condition()  # guards what follows
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], None]] = []

    def done(self) -> bool:
        """Return whether a value or an exception is there."""
        return self._done

    def wait(self) -> T:
        """Return the value when it is there, or raise the exception that was set."""
        carry_on = getattr(_THREAD, "carry_on", None)
        if carry_on is not None:
            carry_on(self.done)
        with self._ready:
            self._ready.wait_for(lambda: self._done)
        return self._content()

    def value(self) -> T:
        """Return the value, which must be there; or raise the exception that was set."""
        if not self._done:
            raise RuntimeError("completed() INTERNAL ASSERT FAILED: value() was called before the Future was completed")
        return self._content()

    def _content(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._ready:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._ready.notify_all()
        for callback in callbacks:
            self._call(callback)

    def _call(self, callback: Callable[[Any], None]) -> None:
        """Call back. What fails there is nothing that this future could pass on to anybody, so it is logged."""
        try:
            callback(self)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other callbacks get their turn
            _log.error("Got the following error when running the callback: %s: %s", type(error).__name__, error)

    def set_result(self, result: T) -> None:
        """Set the value and run the callbacks. RuntimeError when there is one already."""
        self._complete(result, None)

    def set_exception(self, result: Any) -> None:
        """Set an exception, which `wait` and `value` then raise."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._complete(None, result)

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        """Call `callback` with this future when it is done: at once when it is."""
        with self._ready:
            if not self._done:
                self._callbacks.append(callback)
                return
        self._call(callback)

    def __reduce__(self) -> NoReturn:
        raise RuntimeError("Can not pickle torch.futures.Future")

    def then(self, callback: Callable[[Any], Any]) -> Future[Any]:
        """Return a future of what `callback` returns when called with this one."""
        following: Future[Any] = Future()

        def run(future: Any) -> None:
            try:
                result = callback(future)
            except Exception as error:  # noqa: BLE001 - whoever waits for the result gets it
                following._complete(
                    None,
                    RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}"),
                )
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future of the list of these futures, done when all of them are.

    >>> first = torch.futures.Future()
    >>> first.set_result(1)
    >>> [one.value() for one in torch.futures.collect_all([first]).wait()]
    [1]
    """
    _all_there(futures)
    collected: Future[list[Future[Any]]] = Future()
    missing, lock = [len(futures)], threading.Lock()

    def count(_: Any) -> None:
        with lock:
            missing[0] -= 1
            last = missing[0] == 0
        if last:
            collected.set_result(list(futures))

    if not futures:
        collected.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Return the values of all futures when they are there; raises the first exception.

    >>> first = torch.futures.Future()
    >>> first.set_result(1)
    >>> torch.futures.wait_all([first])
    [1]
    """
    _all_there(futures)
    return [future.wait() for future in collect_all(futures).wait()]


def _all_there(futures: list[Future[Any]]) -> None:
    if any(future is None for future in futures):
        raise RuntimeError("Future can't be None")


adopt(globals())
