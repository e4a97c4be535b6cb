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


def load(
    name: str,
    sources: Any,
    extra_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_sycl_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    build_directory: Any = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
) -> NoReturn:
    """Build an extension from files; raises."""
    _refuse("load")


def load_inline(
    name: str,
    cpp_sources: Any,
    cuda_sources: Any = None,
    sycl_sources: Any = None,
    functions: Any = None,
    extra_cflags: Any = None,
    extra_cuda_cflags: Any = None,
    extra_sycl_cflags: Any = None,
    extra_ldflags: Any = None,
    extra_include_paths: Any = None,
    build_directory: Any = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
) -> NoReturn:
    """Build an extension from texts; raises."""
    _refuse("load_inline")


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Describe an extension for setuptools; raises."""
    _refuse("CppExtension")


adopt(globals())
