"""Decorators of data pipes: as a method of other pipes, as one whose order is not determined, with checked types."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, get_type_hints

from mindtorch._naming import adopt

from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
]


class functional_datapipe:
    """Let other pipes make a pipe of the decorated class by a method of this name.

    >>> @torch.utils.data.functional_datapipe("doubled_example")
    ... class Doubled(torch.utils.data.IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         return (2 * one for one in self.source)
    >>> pipe = torch.utils.data.datapipes.iter.IterableWrapper([1, 2])
    >>> list(pipe.doubled_example())
    [2, 4]
    >>> del torch.utils.data.IterDataPipe.functions["doubled_example"]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: type) -> type:
        kinds = [kind for kind in (IterDataPipe, MapDataPipe) if isinstance(cls, type) and issubclass(cls, kind)]
        if not isinstance(cls, type):
            raise TypeError("`functional_datapipe` can only decorate a class")
        for kind in kinds:
            kind.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        return cls


_determinism = {"guaranteed": False, "checked": True}


class _Setting:
    _name: str
    _inside: bool
    _default: bool | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _determinism[self._name] = self.prev

    def __init__(self, value: bool) -> None:
        self.prev = _determinism[self._name]
        _determinism[self._name] = value


class guaranteed_datapipes_determinism(_Setting):
    """Refuse pipes whose order is not determined; also a context manager.

    >>> with torch.utils.data.guaranteed_datapipes_determinism():
    ...     print("deterministic")
    deterministic
    """

    _name = "guaranteed"

    def __init__(self) -> None:
        super().__init__(True)


class non_deterministic:
    """Mark a pipe class, or those of its pipes for which a function returns True, as of undetermined order.

    >>> callable(torch.utils.data.non_deterministic)
    True
    """

    def __init__(self, arg: type[IterDataPipe[Any]] | Callable[..., bool]) -> None:
        self.cls: Any = None
        self.deterministic_fn: Callable[..., bool] | None = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is not None:
            if _determinism["guaranteed"]:
                raise TypeError(
                    f"{self.cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can "
                    "turn off determinism for this DataPipe if that is acceptable for your application"
                )
            return self.cls(*args, **kwargs)
        kind, decide = args[0], self.deterministic_fn
        if not (isinstance(kind, type) and issubclass(kind, IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {kind.__name__} is found")

        def make(*values: Any, **options: Any) -> Any:
            if _determinism["guaranteed"] and decide is not None and decide(*values, **options):
                raise TypeError(
                    f"{kind.__name__} is non-deterministic with the inputs, but you set "
                    "'guaranteed_datapipes_determinism'. You can turn off determinism for this DataPipe if that is "
                    "acceptable for your application"
                )
            return kind(*values, **options)

        return make


class runtime_validation_disabled(_Setting):
    """Do not check the samples of pipes marked by `runtime_validation`; also a context manager.

    >>> with torch.utils.data.runtime_validation_disabled():
    ...     print("no checks")
    no checks
    """

    _name = "checked"

    def __init__(self) -> None:
        super().__init__(False)


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Check that arguments annotated as `IterDataPipe` are some; TypeError otherwise. Torch does not check `IterDataPipe[int]`.

    >>> @torch.utils.data.argument_validation
    ... def size(pipe: torch.utils.data.IterDataPipe):
    ...     return len(list(pipe))
    >>> try:
    ...     size([1, 2])
    ... except TypeError as error:
    ...     print(str(error)[:19])
    Expected argument '
    """
    signature, hints = inspect.signature(f), get_type_hints(f)

    @wraps(f)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            hint = hints.get(name)
            wanted = isinstance(hint, type) and issubclass(hint, IterDataPipe)
            if wanted and not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
        return f(*args, **kwargs)

    return checked


def runtime_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark `__iter__` as giving samples of the annotated type, where that is a plain class; RuntimeError for others.

    >>> callable(torch.utils.data.runtime_validation)
    True
    """
    returned = get_type_hints(f).get("return")
    sample = (getattr(returned, "__args__", None) or (None,))[0]

    @wraps(f)
    def checked(self: Any) -> Any:
        for value in f(self):
            if _determinism["checked"] and isinstance(sample, type) and not isinstance(value, sample):
                raise RuntimeError(f"Expected an instance as subtype of {sample}, but found {value}({type(value)})")
            yield value

    return checked


adopt(globals())
