"""`torch.__config__`: how this torch was built."""

import os
import platform

import numpy

from mindtorch import get_num_interop_threads, get_num_threads
from mindtorch.__about__ import __version__


def show() -> str:
    """Return a text about the build."""
    return (
        "MindTorch built with:\n"
        f"  - MindTorch {__version__}\n  - Python {platform.python_version()}\n  - NumPy {numpy.__version__}\n"
    )


def parallel_info() -> str:
    """Return a text about threads."""
    return (
        f"ATen/Parallel:\n\tat::get_num_threads() : {get_num_threads()}\n"
        f"\tat::get_num_interop_threads() : {get_num_interop_threads()}\n"
        f"std::thread::hardware_concurrency() : {os.cpu_count()}\n"
    )
