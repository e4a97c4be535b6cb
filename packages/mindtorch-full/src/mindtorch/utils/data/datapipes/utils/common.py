"""Checks of the functions given to data pipes, and streams that close themselves."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindtorch._naming import adopt

__all__ = [
    "StreamWrapper",
    "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root",
    "match_masks",
    "validate_input_col",
    "validate_pathname_binary_tuple",
]


def validate_input_col(fn: Callable[..., Any], input_col: Any) -> None:
    """Refuse a function that cannot be called with as many positional arguments as there are input columns.

    >>> torch.utils.data.datapipes.utils.common.validate_input_col(lambda a: a, input_col=[0, 1])
    Traceback (most recent call last):
        ...
    ValueError: The function <lambda> takes 1 parameters, but 2 are required.
    """
    try:
        signature = inspect.signature(fn)
    except (ValueError, TypeError):
        return  # a function of another language does not say
    given = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    needed, possible, named, open_ended = 0, 0, [], False
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            possible += 1
            needed += parameter.default is parameter.empty
        elif parameter.kind is parameter.VAR_POSITIONAL:
            open_ended = True
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            named.append(parameter.name)
    base = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(base, "__name__", repr(base))
    if named:
        raise ValueError(
            f"The function {name} takes {len(named)} non-default keyword-only parameters, which is not allowed."
        )
    if possible < given and not open_ended:
        raise ValueError(f"The function {name} takes {possible} parameters, but {given} are required.")
    if needed > given:
        raise ValueError(f"The function {name} takes {needed} positional parameters, but {given} are required.")


def _is_local(fn: Any) -> bool:
    return "<locals>" in getattr(fn, "__qualname__", "")


def check_unpickable_fn(fn: Any) -> None:
    """Warn of functions that cannot go to a worker process; TypeError for what is not callable."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    base = fn.func if isinstance(fn, functools.partial) else fn
    kind = "Local" if _is_local(base) else "Lambda" if getattr(base, "__name__", "") == "<lambda>" else None
    if kind is not None:
        warnings.warn(
            f"{kind} function is not supported by pickle, please use regular python function or functools.partial "
            "instead.",
            stacklevel=3,
        )


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a file's name fits one of the patterns; all fit an empty one.

    >>> torch.utils.data.datapipes.utils.common.match_masks("a.txt", ["*.md", "*.txt"])
    True
    """
    patterns = [masks] if isinstance(masks, str) else masks
    return not masks or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def get_file_pathnames_from_root(
    root: str, masks: str | list[str], recursive: bool = False, abspath: bool = False, non_deterministic: bool = False
) -> Iterable[str]:
    """Yield the paths of the files below a folder, or `root` itself where it is a file, in the order of their names.

    >>> import pathlib
    >>> for name in ("a.txt", "b.md"):
    ...     pathlib.Path(name).touch()
    >>> list(torch.utils.data.datapipes.utils.common.get_file_pathnames_from_root(".", "*.md"))
    ['./b.md']
    """

    def on_error(error: OSError) -> None:
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, folders, files in os.walk(root, onerror=on_error):
        where = os.path.abspath(folder) if abspath else folder
        for name in files if non_deterministic else sorted(files):
            if match_masks(name, masks):
                yield os.path.join(where, name)
        if not recursive:
            break
        if not non_deterministic:
            folders.sort()


def get_file_binaries_from_pathnames(
    pathnames: Iterable[str], mode: str, encoding: str | None = None
) -> Iterator[tuple[str, StreamWrapper]]:
    """Yield each path with its opened file.

    >>> with open("one.txt", "w") as file:
    ...     _ = file.write("1")
    >>> [
    ...     (name, file.read())
    ...     for name, file in torch.utils.data.datapipes.utils.common.get_file_binaries_from_pathnames(
    ...         ["one.txt"], "r"
    ...     )
    ... ]
    [('one.txt', '1')]
    """
    if not isinstance(pathnames, Iterable):
        pathnames = [pathnames]
    for pathname in pathnames:
        if not isinstance(pathname, str):
            raise TypeError(f"Expected string type for pathname, but got {type(pathname)}")
        opened = open(pathname, f"r{mode}" if mode in ("b", "t") else mode, encoding=encoding)  # noqa: SIM115 (closed by its wrapper)
        yield pathname, StreamWrapper(opened)


def validate_pathname_binary_tuple(data: tuple[str, Any]) -> None:
    """Refuse what is not a path with an open file; TypeError.

    >>> torch.utils.data.datapipes.utils.common.validate_pathname_binary_tuple(("a.txt", "content"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: binary stream within the tuple should have IOBase orits subclasses as type, but it is ...
    """
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not hasattr(data[1], "read"):
        raise TypeError(
            f"binary stream within the tuple should have IOBase orits subclasses as type, but it is type {type(data[1])}"
        )


class StreamWrapper:
    """An open file that is closed when nobody refers to it.

    >>> import io
    >>> stream = torch.utils.data.datapipes.utils.common.StreamWrapper(io.StringIO("text"))
    >>> stream.read(), stream.closed
    ('text', False)
    """

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.closed = False

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self.closed = True
            self.file_obj.close()

    def autoclose(self) -> None:
        """Close the file; it has no streams within that would need it."""
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["file_obj"], name)

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __enter__(self) -> StreamWrapper:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "file_obj" in self.__dict__:
            self.close()

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, state: Any) -> None:
        self.__init__(state)  # type: ignore[misc]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.file_obj)]

    def __repr__(self) -> str:
        return f"StreamWrapper<{self.name if self.name is not None else self.file_obj!r}>"


adopt(globals())
