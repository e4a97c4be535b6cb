"""Pipes with several outputs, which share one reader of the pipe before them."""

from __future__ import annotations

import copy as copying
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Literal

from .._decorator import functional_datapipe
from .._iteration import shown_arguments
from ..datapipe import IterDataPipe
from ..utils.common import check_unpickable_fn

_COPIES: dict[str | None, Callable[[Any], Any]] = {
    None: lambda value: value,
    "shallow": copying.copy,
    "deep": copying.deepcopy,
}
_READING = ("_source", "_waiting", "_stopped", "_exhausted")


def _checked_count(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")


def _warn_unlimited(name: str, buffer_size: int) -> None:
    if buffer_size < 0:
        warnings.warn(
            f"Unlimited buffer size is set for `{name}`, please be aware of OOM at potential", UserWarning, stacklevel=4
        )


class _Shared(IterDataPipe[Any]):
    """The one reader behind several outputs, and what it read for those that lag behind."""

    def __init__(self, datapipe: IterDataPipe[Any], num_instances: int, buffer_size: int) -> None:
        self.main_datapipe, self.num_instances, self.buffer_size = datapipe, num_instances, buffer_size
        self.reset()

    def reset(self) -> None:
        """Forget what was read; the next output that asks starts to read anew."""
        self._source: Iterator[Any] | None = None
        self._waiting: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self._stopped = [True] * self.num_instances
        self._exhausted = False

    def __getstate__(self) -> Any:
        # What is being read cannot be pickled, so a copy starts to read anew.
        state = {name: value for name, value in self.__dict__.items() if name not in _READING}
        hook = type(self).getstate_hook
        return state if hook is None else hook(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.reset()

    def is_every_instance_exhausted(self) -> bool:
        """Whether every output was read to its end."""
        return self._exhausted and not any(self._waiting)

    def _read(self) -> None:
        """Read a sample for whom it concerns; StopIteration at the end."""
        raise NotImplementedError

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """Yield the samples of one output."""
        if self._source is None and self._stopped[instance_id]:
            self._source, self._exhausted = iter(self.main_datapipe), False
            self._stopped = [False] * self.num_instances
        stopped = self._stopped  # a reader that ends late says so of its own round alone
        try:
            while not self._stopped[instance_id]:
                try:
                    while not self._waiting[instance_id]:
                        if self._exhausted or self._source is None:
                            return
                        self._read()
                except StopIteration:
                    self._exhausted = True
                    return
                yield self._given(self._waiting[instance_id].popleft())
        finally:
            stopped[instance_id] = True
            if stopped is self._stopped and all(stopped):
                self._source = None
                for queue in self._waiting:
                    queue.clear()

    def _given(self, value: Any) -> Any:
        return value

    def get_length_by_instance(self, instance_id: int) -> int:
        """How many samples an output has; -1 where that is not known."""
        return -1


class _ForkerIterDataPipe(_Shared):
    def __init__(
        self, datapipe: IterDataPipe[Any], num_instances: int, buffer_size: int = 1000, copy: str | None = None
    ) -> None:
        _warn_unlimited("fork", buffer_size)
        if copy not in _COPIES:
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.copy = copy
        super().__init__(datapipe, num_instances, buffer_size)

    def _read(self) -> None:
        source: Any = self._source
        value = next(source)
        for queue in self._waiting:
            queue.append(value)
        if 0 <= self.buffer_size < max(map(len, self._waiting)):
            raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")

    def _given(self, value: Any) -> Any:
        return _COPIES[self.copy](value)

    def get_length_by_instance(self, instance_id: int) -> int:
        return len(self.main_datapipe)  # type: ignore[arg-type]  # TypeError where it has none


class _DemultiplexerIterDataPipe(_Shared):
    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool,
        buffer_size: int,
    ) -> None:
        _warn_unlimited("demux", buffer_size)
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        super().__init__(datapipe, num_instances, buffer_size)

    def _read(self) -> None:
        source: Any = self._source
        value = next(source)
        chosen = self.classifier_fn(value)
        if chosen is None and self.drop_none:
            return
        if chosen is None or not 0 <= chosen < self.num_instances:
            raise ValueError(
                f"Output of the classification fn should be between 0 and {self.num_instances - 1}. {chosen} is returned."
            )
        self._waiting[chosen].append(value)
        # The one that an output waits for does not lie in the buffer, which is full with one more than it holds.
        if 0 <= self.buffer_size < sum(map(len, self._waiting)) - self._is_awaited(chosen):
            raise BufferError(
                f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient."
            )

    def _is_awaited(self, chosen: int) -> bool:
        return self._asking == chosen

    _asking = -1

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        values = super().get_next_element_by_instance(instance_id)
        while True:
            self._asking = instance_id
            try:
                value = next(values)
            except StopIteration:
                return
            yield value


class _ChildDataPipe(IterDataPipe[Any]):
    """One of several outputs. A new iterator of one that was read already starts all of them again."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: Any, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        values: Iterator[Any] = self.main_datapipe.get_next_element_by_instance(self.instance_id)
        return values

    def _begin_iteration(self) -> int:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and "
                    "each child DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=4,
                )
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        self._number_of_samples_yielded = 0
        number: int = main._valid_iterator_id
        return number

    def _is_current(self, number: int) -> bool:
        main = self.main_datapipe
        if main._valid_iterator_id == self._valid_iterator_id == number:
            return True
        raise RuntimeError(
            "This iterator has been invalidated, because a new iterator has been created from one of the child DataPipes "
            f"of {type(main).__name__}({shown_arguments(main)}).\nFor feedback regarding this single iterator per "
            "IterDataPipe constraint, feel free to comment on this issue: https://github.com/pytorch/data/issues/45."
        )

    def __len__(self) -> int:
        length: int = self.main_datapipe.get_length_by_instance(self.instance_id)
        if length < 0:
            raise TypeError
        return length


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """Makes several outputs with the same samples.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> first, second = IterableWrapper(range(3)).fork(2)
    >>> list(first), list(second)
    ([0, 1, 2], [0, 1, 2])
    """

    def __new__(  # type: ignore[misc]  # the outputs, not an instance
        cls,
        datapipe: IterDataPipe[Any],
        num_instances: int,
        buffer_size: int = 1000,
        copy: Literal["shallow", "deep"] | None = None,
    ) -> Any:
        _checked_count(num_instances)
        if num_instances == 1:
            return datapipe
        shared = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(shared, number) for number in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """Makes several outputs, to one of which a function sends each sample.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> even, odd = IterableWrapper(range(5)).demux(2, lambda x: x % 2)
    >>> list(even), list(odd)
    ([0, 2, 4], [1, 3])
    """

    def __new__(  # type: ignore[misc]  # the outputs, not an instance
        cls,
        datapipe: IterDataPipe[Any],
        num_instances: int,
        classifier_fn: Callable[[Any], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        _checked_count(num_instances)
        check_unpickable_fn(classifier_fn)
        shared = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(shared, number) for number in range(num_instances)]
