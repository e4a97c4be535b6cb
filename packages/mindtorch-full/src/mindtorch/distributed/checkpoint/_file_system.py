"""The operations on files that a checkpoint's folder needs, for programs that bring their own."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import cast


class SerializationFormat(Enum):
    """How tensors are written.

    >>> from torch.distributed.checkpoint.filesystem import SerializationFormat
    >>> SerializationFormat("safetensors")
    <SerializationFormat.SAFETENSORS: 'safetensors'>
    """

    TORCH_SAVE = "torch_save"
    SAFETENSORS = "safetensors"


class FileSystemBase(ABC):
    """What can be done with files and folders.

    >>> from torch.distributed.checkpoint.filesystem import FileSystem, FileSystemBase
    >>> issubclass(FileSystem, FileSystemBase)
    True
    """

    @contextmanager
    @abstractmethod
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Generator[io.IOBase]:
        """Open a file in the block."""

    @abstractmethod
    def concat_path(self, path: str | os.PathLike[str], suffix: str) -> str | os.PathLike[str]:
        """Return the path of something in a folder."""

    @abstractmethod
    def rename(self, path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        """Give a file another path."""

    @abstractmethod
    def init_path(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Return a path as the other methods take it."""

    @abstractmethod
    def mkdir(self, path: str | os.PathLike[str]) -> None:
        """Make a folder."""

    @classmethod
    @abstractmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether a checkpoint can lie there."""

    @abstractmethod
    def exists(self, path: str | os.PathLike[str]) -> bool:
        """Return whether something is there."""

    @abstractmethod
    def rm_file(self, path: str | os.PathLike[str]) -> None:
        """Remove a file."""

    def ls(self, path: str | os.PathLike[str]) -> list[str]:
        """Return the paths of what is in a folder."""
        raise NotImplementedError("ls not implemented in FileSystemBase")


class FileSystem(FileSystemBase):
    """The files of this host.

    >>> from torch.distributed.checkpoint.filesystem import FileSystem
    >>> FileSystem.validate_checkpoint_id("s3://bucket/checkpoint")
    False
    """

    @contextmanager
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Generator[io.IOBase]:
        """Open a file in the block."""
        with Path(path).open(mode) as stream:
            yield cast(io.IOBase, stream)

    def concat_path(self, path: str | os.PathLike[str], suffix: str) -> str | os.PathLike[str]:
        """Return the path of something in a folder."""
        return Path(path) / suffix

    def init_path(self, path: str | os.PathLike[str]) -> str | os.PathLike[str]:
        """Return a path of this host."""
        return path if isinstance(path, Path) else Path(path)

    def rename(self, path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        """Give a file another path."""
        Path(path).rename(Path(new_path))

    def mkdir(self, path: str | os.PathLike[str]) -> None:
        """Make a folder and those above it."""
        Path(path).mkdir(parents=True, exist_ok=True)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """Return whether a folder can be there: nothing with a scheme."""
        if isinstance(checkpoint_id, Path):
            return True
        if "://" in str(checkpoint_id):
            return False
        return any(parent.exists() and os.access(str(parent), os.W_OK) for parent in Path(checkpoint_id).parents)

    def exists(self, path: str | os.PathLike[str]) -> bool:
        """Return whether something is there."""
        return Path(path).exists()

    def rm_file(self, path: str | os.PathLike[str]) -> None:
        """Remove a file."""
        Path(path).unlink()

    def ls(self, path: str | os.PathLike[str]) -> list[str]:
        """Return the paths of what is in a folder."""
        return [str(one) for one in Path(path).iterdir()]
