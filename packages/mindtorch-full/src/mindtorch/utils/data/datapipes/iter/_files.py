"""Pipes over files: their paths, the opened files, what is read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe, no_length
from ..utils.common import get_file_binaries_from_pathnames, get_file_pathnames_from_root
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe", "FileOpenerIterDataPipe", "StreamReaderIterDataPipe"]


def _checked_length(pipe: Any, length: int) -> int:
    if length == -1:
        raise no_length(pipe)
    return length


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """Yields the paths of files in folders.

    >>> open("a.txt", "w").close()
    >>> list(torch.utils.data.datapipes.iter.FileLister(".", masks="*.txt"))
    ['./a.txt']
    """

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe[str] = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        roots = [root] if isinstance(root, str) else root
        self.datapipe = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(
                path, self.masks, self.recursive, self.abspath, self.non_deterministic
            )

    def __len__(self) -> int:
        return _checked_length(self, self.length)


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[Any]):
    """Yields each path with its opened file.

    >>> with open("words.txt", "w") as file:
    ...     _ = file.write("one two")
    >>> from torch.utils.data.datapipes.iter import FileOpener, IterableWrapper
    >>> [(name, stream.read()) for name, stream in FileOpener(IterableWrapper(["words.txt"]), mode="r")]
    [('words.txt', 'one two')]
    """

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[Any]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        return _checked_length(self, self.length)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[tuple[str, bytes]]):
    """Yields each path with what was read from its stream: all at once, or pieces of `chunk` bytes.

    >>> import io
    >>> from torch.utils.data.datapipes.iter import IterableWrapper, StreamReader
    >>> list(StreamReader(IterableWrapper([("a", io.StringIO("abcd"))]), chunk=2))
    [('a', 'ab'), ('a', 'cd')]
    """

    def __init__(self, datapipe: IterDataPipe[Any], chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        for path, stream in self.datapipe:
            while True:
                data = stream.read(self.chunk)
                if not data:
                    stream.close()
                    break
                yield path, data
