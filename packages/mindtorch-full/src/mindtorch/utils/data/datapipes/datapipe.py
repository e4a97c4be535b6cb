"""The bases of data pipes: one that is read as a stream, one that is read by key."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, ClassVar, TypeVar

from mindtorch._naming import adopt

from ..dataset import Dataset, IterableDataset
from ._iteration import _SnapshotState, begin, checked_iteration, checked_reset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]

_T_co = TypeVar("_T_co", covariant=True)


class _Functional:
    """What both kinds share: other pipes as methods, hooks around pickling, the name as text."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    reduce_ex_hook: ClassVar[Callable[[Any], Any] | None] = None
    getstate_hook: ClassVar[Callable[[Any], Any] | None] = None
    str_hook: ClassVar[Callable[[Any], str] | None] = None
    repr_hook: ClassVar[Callable[[Any], str] | None] = None

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}")
        bound = functools.partial(function, self)
        functools.update_wrapper(bound, function, assigned=("__doc__",))
        return bound

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Let pipes have `function` as a method."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False
    ) -> None:
        """Let pipes have a method that makes a pipe of this class over them. A name is given once."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        def make(source: Any, *args: Any, **kwargs: Any) -> Any:
            return cls_to_register(source, *args, **kwargs)

        functools.update_wrapper(make, cls_to_register, assigned=("__doc__",), updated=())
        cls.functions[function_name] = make

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[[Any], Any] | None) -> None:
        """Let `hook_fn` say how pipes are pickled, None to end it."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[[Any], Any] | None) -> None:
        """Let `hook_fn` change the state of pipes that are pickled, None to end it."""
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    def __getstate__(self) -> Any:
        hook = type(self).getstate_hook
        return self.__dict__ if hook is None else hook(self.__dict__)

    def __reduce_ex__(self, *args: Any, **kwargs: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass  # the hook leaves this pipe to pickle
        return super().__reduce_ex__(*args, **kwargs)

    def __str__(self) -> str:
        hook = type(self).str_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __repr__(self) -> str:
        hook = type(self).repr_hook
        return str(type(self).__qualname__) if hook is None else hook(self)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]


class IterDataPipe(_Functional, IterableDataset[_T_co]):
    """A step that yields samples. A pipe has one living iterator: making another one ends those before.

    >>> pipe = torch.utils.data.datapipes.iter.IterableWrapper(range(3))
    >>> list(pipe.map(abs))
    [0, 1, 2]
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded: int = 0
    _snapshot_state: _SnapshotState = _SnapshotState.NotStarted
    _fast_forward_iterator: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own: Any = cls
        if "__iter__" in vars(cls):
            own.__iter__ = checked_iteration(vars(cls)["__iter__"])
        if "reset" in vars(cls):
            own.reset = checked_reset(vars(cls)["reset"])

    def __iter__(self) -> Iterator[_T_co]:
        own: Any = self
        return own

    def _begin_iteration(self) -> int:
        return begin(self)

    def _is_current(self, number: int) -> bool:
        return self._valid_iterator_id == number

    def reset(self) -> None:
        """Called whenever an iterator is made: subclasses drop here what they hold."""


_base: Any = IterDataPipe
_base.__iter__ = checked_iteration(IterDataPipe.__iter__)
_base.reset = checked_reset(IterDataPipe.reset)


class DFIterDataPipe(IterDataPipe[_T_co]):
    """A step whose samples are data frames.

    >>> issubclass(torch.utils.data.DFIterDataPipe, torch.utils.data.IterDataPipe)
    True
    """

    def _is_dfpipe(self) -> bool:
        return True


class MapDataPipe(_Functional, Dataset[_T_co]):
    """A step that gives samples by key.

    >>> pipe = torch.utils.data.datapipes.map.SequenceWrapper([1, -2])
    >>> pipe.map(abs)[1]
    2
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


def no_length(pipe: Any) -> TypeError:
    """Return what to raise where the length of `pipe` is asked for and nobody knows it."""
    return TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


def length_of(source: Any, pipe: Any) -> int:
    """Return the length of `source`, which `pipe` hands on.

    Raises:
        TypeError: `source` has none.
    """
    if not isinstance(source, Sized):
        raise no_length(pipe)
    return len(source)


class _Serialized:
    """A pipe on its way to another process."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> bytes:
        return pickle.dumps(self._datapipe)

    def __setstate__(self, state: bytes) -> None:
        self._datapipe = pickle.loads(state)

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception as error:
            raise no_length(self) from error


class _IterDataPipeSerializationWrapper(_Serialized, IterDataPipe[Any]):
    def __iter__(self) -> Iterator[Any]:
        yield from self._datapipe


class _MapDataPipeSerializationWrapper(_Serialized, MapDataPipe[Any]):
    def __getitem__(self, idx: Any) -> Any:
        return self._datapipe[idx]


class DataChunk(list[Any]):
    """Samples that belong together, such as a batch.

    >>> list(torch.utils.data.DataChunk([1, 2]))
    [1, 2]
    """

    def __init__(self, items: Iterable[Any]) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """The samples as text after `indent`."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The samples."""
        yield from self.items


adopt(globals())
