"""What changes the bytes of a checkpoint on their way into files and out of them."""

from __future__ import annotations

import abc
import io
from collections.abc import Sequence
from typing import IO, Any

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import LazyModule

__all__ = ["Extension", "ExtensionRegistry", "StreamTransformExtension", "ZStandard"]

_LIBRARIES = ("zstandard", "pyzstd")
_zstandard = LazyModule("zstandard", "an optional library")
_pyzstd = LazyModule("pyzstd", "an optional library")
_NEITHER = "no module named 'zstandard' or 'pyzstd'"


class Extension(abc.ABC):
    """Named in the checkpoint, so that who reads it finds it again."""

    @staticmethod
    @abc.abstractmethod
    def registry_name() -> str:
        """Return the name under which readers know it."""

    @staticmethod
    @abc.abstractmethod
    def from_descriptor(version: str) -> Extension:
        """Return the extension of a descriptor's version."""

    @abc.abstractmethod
    def get_descriptor(self) -> str:
        """Return `name/version`, which the checkpoint has."""


class StreamTransformExtension(Extension):
    """Changes a stream."""

    @abc.abstractmethod
    def transform_to(self, output: IO[bytes]) -> IO[bytes]:
        """Return a stream that writes what it is given, changed, to another."""

    @abc.abstractmethod
    def transform_from(self, input: IO[bytes]) -> IO[bytes]:
        """Return a stream that reads another, and changes it back."""


def _library() -> Any:
    for name, library in zip(_LIBRARIES, (_zstandard, _pyzstd), strict=True):
        try:
            library.__version__  # noqa: B018 - asking imports it
        except ImportError:  # the next one may be there
            continue
        return name, library
    return None


class ZStandard(StreamTransformExtension):
    """Compresses by Zstandard, where one of two libraries is installed."""

    def __init__(self) -> None:
        super().__init__()
        if not ZStandard.is_available():
            raise ValueError(f"ZStandard extension is unavailable because {_NEITHER}")

    @staticmethod
    def is_available() -> bool:
        """Return whether a library is installed."""
        return _library() is not None

    @staticmethod
    def from_descriptor(version: str) -> ZStandard:
        """Return the extension of version 1."""
        if version.partition(".")[0] != "1":
            raise ValueError(f"Unknown extension {version=}")
        if not ZStandard.is_available():
            raise ValueError(f"Stream with ZStandard compression cannot be processed because {_NEITHER}")
        return ZStandard()

    @staticmethod
    def registry_name() -> str:
        """Return its name."""
        return "stream.zstd"

    def get_descriptor(self) -> str:
        """Return its name and version."""
        return f"{self.registry_name()}/1"

    def transform_to(self, output: IO[bytes]) -> IO[bytes]:
        """Return a stream that compresses."""
        name, library = _library()
        if name == "zstandard":
            writer: IO[bytes] = library.ZstdCompressor().stream_writer(output, closefd=False)
            return writer
        stream: IO[bytes] = library.ZstdFile(output, mode="wb")
        return stream

    def transform_from(self, input: IO[bytes]) -> IO[bytes]:
        """Return a stream that decompresses."""
        name, library = _library()
        if name == "zstandard":
            reader: IO[bytes] = library.ZstdDecompressor().stream_reader(input, closefd=False)
            return io.BufferedReader(reader)  # type: ignore[type-var] # it is a raw stream
        stream: IO[bytes] = library.ZstdFile(input, mode="rb")
        return stream


class ExtensionRegistry:
    """Extensions by name."""

    def __init__(self) -> None:
        self.extensions: dict[str, type[Extension]] = {ZStandard.registry_name(): ZStandard}

    def register(self, cls: type[Extension]) -> None:
        """Add an extension."""
        self.extensions[cls.registry_name()] = cls

    def from_descriptor_list(self, descriptors: Sequence[str]) -> Sequence[Extension]:
        """Return the extensions of a checkpoint, the last one that was written with first."""

        def made(descriptor: str) -> Extension:
            name, _, version = descriptor.partition("/")
            found = self.extensions.get(name)
            if found is None:
                raise ValueError(f"Unknown extension {name=}")
            return found.from_descriptor(version)

        return [made(descriptor) for descriptor in descriptors]


adopt(globals())
