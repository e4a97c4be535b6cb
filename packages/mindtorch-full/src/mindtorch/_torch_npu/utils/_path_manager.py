"""`torch_npu.utils._path_manager`: paths that tools write to, with warnings for what is unusual about them."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import warnings
from collections.abc import Iterator

__all__ = ["PathManager"]

_USUAL = re.compile(r"[./_\-\s~0-9a-zA-Z\u4e00-\u9fa5]+")


@contextlib.contextmanager
def _telling(what: str, path: str) -> Iterator[None]:
    text = f"Failed to {what}: {path}"
    if os.path.islink(path):
        warnings.warn(text, stacklevel=4)
    try:
        yield
    except OSError as error:
        raise RuntimeError(text) from error


def _check_usual(path: str) -> None:
    long = len(path) > PathManager.MAX_PATH_LENGTH
    if long or any(len(name) > PathManager.MAX_FILE_NAME_LENGTH for name in path.split("/")):
        warnings.warn("Length of input path exceeds the limit.", stacklevel=3)
    if os.path.islink(path):
        warnings.warn(f"Invalid input path is a symbolic link: {path}", stacklevel=3)
    if not _USUAL.fullmatch(path):
        warnings.warn(f"Invalid input path: {path}", stacklevel=3)


def _check_directory(path: str, mode: int) -> None:
    if not os.path.exists(path):
        raise RuntimeError(f"The path does not exist: {path}")
    if os.path.islink(path):
        warnings.warn(f"Invalid path is a symbolic link: {path}", stacklevel=3)
    if not os.access(path, mode):
        warnings.warn(f"The path permission check failed: {path}", stacklevel=3)


class PathManager:
    """Checks and changes of paths. RuntimeError for what cannot be used or done."""

    MAX_PATH_LENGTH = 4096
    MAX_FILE_NAME_LENGTH = 255
    DATA_FILE_AUTHORITY = 0o640
    DATA_DIR_AUTHORITY = 0o750

    @classmethod
    def check_input_directory_path(cls, path: str) -> None:
        """Check a path that may become a folder."""
        _check_usual(path)
        if os.path.isfile(path):
            raise RuntimeError(f"Invalid input path is a file path: {path}")

    @classmethod
    def check_input_file_path(cls, path: str) -> None:
        """Check a path that may become a file."""
        _check_usual(path)
        if os.path.isdir(path):
            raise RuntimeError(f"Invalid input path is a directory path: {path}")

    @classmethod
    def check_directory_path_writeable(cls, path: str) -> None:
        """Check that a folder is there; one that cannot be written to is warned of."""
        _check_directory(path, os.W_OK)

    @classmethod
    def check_directory_path_readable(cls, path: str) -> None:
        """Check that a folder is there; one that cannot be read is warned of."""
        _check_directory(path, os.R_OK)

    @classmethod
    def remove_path_safety(cls, path: str) -> None:
        """Remove a folder with what is in it, if it is there."""
        with _telling("remove path", path), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)

    @classmethod
    def remove_file_safety(cls, file: str) -> None:
        """Remove a file, if it is there."""
        with _telling("remove file", file), contextlib.suppress(FileNotFoundError):
            os.remove(file)

    @classmethod
    def make_dir_safety(cls, path: str) -> None:
        """Make a folder and those that it lies in, if it is not there."""
        with _telling("make directory", path):
            os.makedirs(path, mode=cls.DATA_DIR_AUTHORITY, exist_ok=True)

    @classmethod
    def create_file_safety(cls, path: str) -> None:
        """Make an empty file, if there is none."""
        with _telling("create file", path):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, cls.DATA_FILE_AUTHORITY))

    @classmethod
    def check_path_is_readable(cls, path: str) -> bool:
        """Return whether it can be read."""
        return os.access(path, os.R_OK)

    @classmethod
    def check_path_is_writeable(cls, path: str) -> bool:
        """Return whether it can be written to."""
        return os.access(path, os.W_OK)
