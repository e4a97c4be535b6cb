"""`torch.utils.cpp_extension`: places of a build. Extensions need PyTorch's C++ headers, so nothing can be built."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["CppExtension", "get_default_build_root", "include_paths", "library_paths", "load", "load_inline"]

CUDA_HOME: str | None = None
ROCM_HOME: str | None = None
IS_WINDOWS = sys.platform == "win32"


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.cpp_extension.{name}: extensions are compiled against PyTorch's C++ headers, "
        "which MindTorch does not have"
    )


def get_default_build_root() -> str:
    """Return the folder below which torch builds extensions."""
    return os.path.realpath(os.path.join(tempfile.gettempdir(), "torch_extensions"))


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
    """Return the folders of headers: none, there are no headers."""
    return []


def library_paths(
    device_type: str = "cpu", torch_include_dirs: bool = True, cross_target_platform: Any = None
) -> list[str]:
    """Return the folders of libraries to link with: none."""
    return []


def load(name: str, sources: Any, *args: Any, **options: Any) -> NoReturn:
    """Build an extension from files; raises."""
    _refuse("load")


def load_inline(name: str, cpp_sources: Any, *args: Any, **options: Any) -> NoReturn:
    """Build an extension from texts; raises."""
    _refuse("load_inline")


def CppExtension(name: str, sources: Any, *args: Any, **options: Any) -> NoReturn:
    """Describe an extension for setuptools; raises."""
    _refuse("CppExtension")


adopt(globals())
