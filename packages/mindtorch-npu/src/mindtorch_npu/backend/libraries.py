"""The vendor's operator libraries: where a C function of them is, or that there is none."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Protocol

from mindtorch_npu.acl import loader

FOLDERS = ("lib64", "aarch64-linux/lib64", "x86_64-linux/lib64", "opp/lib64")
NAMES = ("libopapi_*.so", "libopapi.so", "libnnopbase.so", "libascendcl.so")


class Symbols(Protocol):
    """C functions by symbol."""

    def address(self, symbol: str) -> int | None:
        """Return where a function is, None when it is not there."""
        ...


class Libraries:
    """The shared objects of a CANN installation, those with more specific names first."""

    def __init__(self) -> None:
        files = [
            file
            for root in loader.cann_roots()
            for folder in FOLDERS
            for name in NAMES
            for file in sorted(Path(root, folder).glob(name))
        ]
        self._libraries = [ctypes.CDLL(os.fspath(file), mode=ctypes.RTLD_GLOBAL) for file in files]

    def address(self, symbol: str) -> int | None:
        """Return where a function is, None when no library has it."""
        for library in self._libraries:
            if hasattr(library, symbol):
                return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        return None


@cache
def _vendor() -> Libraries:
    return Libraries()


def symbols() -> Symbols:
    """Return the libraries of this host, the simulated ones where the environment asks for them."""
    if loader.simulated():
        found: Symbols = loader.simulator().libraries()
        return found
    return _vendor()
