"""`torch._utils_internal`: places of files."""

import os
import tempfile

from mindtorch._naming import adopt

__all__ = ["get_file_path", "get_file_path_2", "get_writable_path"]


def get_file_path(*path_components: str) -> str:
    """Return a path below the folder that the package `torch` lies in."""
    return os.path.join(os.path.dirname(os.path.dirname(__file__)), *path_components)


def get_file_path_2(*path_components: str) -> str:
    """Return the path that the components make."""
    return os.path.join(*path_components)


def get_writable_path(path: str) -> str:
    """Return ``path`` where it can be written to, and a new temporary folder otherwise."""
    if os.access(path, os.W_OK):
        return path
    return tempfile.mkdtemp(suffix=os.path.basename(path))


adopt(globals())
