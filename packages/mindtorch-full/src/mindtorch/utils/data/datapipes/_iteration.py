"""One living iterator per data pipe: a new one makes those before it invalid, and errors name the pipe they pass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ._hook_iterator import _SnapshotState

_FEEDBACK = "https://github.com/pytorch/data/issues/45"


def shown_arguments(pipe: Any) -> str:
    """The arguments a pipe was made with, as far as it keeps them under their names."""
    names = set(inspect.signature(pipe.__class__).parameters)
    parts = []
    for name in sorted(name for name in dir(pipe) if name in names):
        value = getattr(pipe, name)
        if callable(value) and not isinstance(value, type) and not hasattr(value, "functions"):
            value = getattr(value, "__name__", value)
        elif isinstance(value, str):
            value = repr(value)
        parts.append(f"{name}={value}")
    return ", ".join(parts)


def begin(pipe: Any) -> int:
    """Make every older iterator of the pipe invalid, reset the pipe and return the number of the new one."""
    current = pipe._valid_iterator_id
    pipe._valid_iterator_id = 0 if current is None else current + 1
    if pipe._snapshot_state is not _SnapshotState.Restored:
        pipe._number_of_samples_yielded = 0
    pipe.reset()
    number: int = pipe._valid_iterator_id
    return number


def _check(pipe: Any, number: int) -> None:
    if not pipe._is_current(number):
        name = f"{type(pipe).__name__}({shown_arguments(pipe)})"
        raise RuntimeError(
            "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: "
            f"{name}\nThis may be caused by multiple references to the same IterDataPipe. We recommend using `.fork()` "
            "if that is necessary.\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free "
            f"to comment on this issue: {_FEEDBACK}."
        )


def _name_pipe(error: Exception, pipe: Any) -> None:
    """Add to the error's text which pipe it came out of; the innermost one stays."""
    text = f"thrown by __iter__ of {type(pipe).__name__}({shown_arguments(pipe)})"
    if error.args and "thrown by __iter__ of" not in str(error.args[0]):
        error.args = (f"{error.args[0]}\nThis exception is {text}", *error.args[1:])


class _Checked:
    """What `__iter__` of a pipe returned, as long as no newer iterator was made."""

    def __init__(self, pipe: Any, source: Iterator[Any]) -> None:
        self._pipe, self._source, self._number = pipe, source, pipe._begin_iteration()

    def __iter__(self) -> _Checked:
        return self

    def __next__(self) -> Any:
        _check(self._pipe, self._number)
        value = next(self._source)
        self._pipe._number_of_samples_yielded += 1
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


def _forwarded(pipe: Any) -> Any:
    """Return the iterator that a restored pipe goes on with, once; None of others."""
    found = pipe._fast_forward_iterator
    if found is not None:
        pipe._fast_forward_iterator, pipe._snapshot_state = None, _SnapshotState.Iterating
    return found


def checked_iteration(method: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    """Return an `__iter__` that does what `method` does for the newest iterator only."""
    if not inspect.isgeneratorfunction(method):

        @functools.wraps(method)
        def wrapped(self: Any) -> Iterator[Any]:
            if (forwarded := _forwarded(self)) is not None:
                return forwarded
            source = method(self)
            return source if isinstance(source, _Checked) else _Checked(self, source)

        return wrapped

    @functools.wraps(method)
    def generated(self: Any) -> Iterator[Any]:
        if (forwarded := _forwarded(self)) is not None:
            yield from forwarded
            return
        number = self._begin_iteration()
        source = method(self)
        try:
            while True:
                try:
                    value = next(source)
                except StopIteration:
                    return
                except Exception as error:
                    _name_pipe(error, self)
                    raise
                self._number_of_samples_yielded += 1
                yield value
                _check(self, number)
        finally:
            source.close()  # type: ignore[attr-defined]  # a generator

    return generated


def checked_reset(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `reset` that also forgets how far the pipe was read; of a pipe that was restored the first call forgets
    nothing."""

    @functools.wraps(method)
    def reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        restored = self._snapshot_state is _SnapshotState.Restored
        self._snapshot_state = _SnapshotState.Iterating
        if restored:
            return None
        self._number_of_samples_yielded = 0
        return method(self, *args, **kwargs)

    return reset
