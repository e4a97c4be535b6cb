"""The vendor's operator libraries: where a C function of them is, or that there is none."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from mindtorch_npu.acl import loader

FOLDERS = ("lib64", "aarch64-linux/lib64", "x86_64-linux/lib64", "opp/lib64")
CUSTOM = "libcust_opapi.so"
NAMES = ("libopapi_*.so", "libopapi.so", "libnnopbase.so", "libascendcl.so")


class Symbols(Protocol):
    """C functions by symbol."""

    def address(self, symbol: str) -> int | None:
        """Return where a function is, None when it is not there."""
        ...


class Libraries:
    """The shared objects of the active CANN installation: the user's own first, then those with more specific names.

    With `names` only those of the installation with one of these names.
    A library that cannot be loaded is left out and told with the first function that is missed. Raises RuntimeError when
    there is none at all.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ, names: Sequence[str] = ()) -> None:
        self.unreadable: dict[str, str] = {}
        files = _files(environment, names) if names else [*_own(environment), *_files(environment, NAMES)]
        files = list({file.resolve(): file for file in reversed(files)}.values())[::-1]
        self._libraries = [found for file in files if (found := self._load(file)) is not None]
        if not self._libraries:
            why = "; ".join(f"{file}: {text}" for file, text in self.unreadable.items())
            root = next(loader.cann_roots(environment), None)
            what, kind = ("collectives", names[0]) if names else ("operators", "operator library")
            where = f"no {kind} under {root}" if root is not None else "the CANN toolkit is not installed"
            raise RuntimeError(f"the {what} of CANN cannot be used: {where}" + (f" ({why})" if why else ""))

    def _load(self, file: Path) -> Any:
        try:
            return ctypes.CDLL(os.fspath(file), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            self.unreadable[os.fspath(file)] = str(error)
            return None

    def address(self, symbol: str) -> int | None:
        """Return where a function is, None when no library has it."""
        for library in self._libraries:
            if hasattr(library, symbol):
                return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
        return None


def _own(environment: Mapping[str, str]) -> list[Path]:
    """Return the libraries of the user's own operators."""
    own = [Path(folder) for folder in environment.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if folder]
    opp = environment.get("ASCEND_OPP_PATH")
    own += sorted(Path(opp, "vendors").glob("*")) if opp else []
    return [file for folder in own if (file := folder / "op_api" / "lib" / CUSTOM).is_file()]


def _files(environment: Mapping[str, str], names: Sequence[str]) -> list[Path]:
    """Return the libraries of these names in the one active installation."""
    root = next(loader.cann_roots(environment), None)
    if root is None:
        return []
    found = [file for folder in FOLDERS for name in names for file in sorted(Path(root, folder).glob(name))]
    return [file for file in found if file.is_file()]


@cache
def _vendor() -> Libraries:
    return Libraries()


def symbols() -> Symbols:
    """Return the libraries of this host, the simulated ones where the environment asks for them."""
    if loader.simulated():
        found: Symbols = loader.simulator().libraries()
        return found
    return _vendor()


@cache
def _vendor_collectives() -> Libraries:
    return Libraries(names=("libhccl.so",))


def collectives() -> Symbols:
    """Return the library of collectives of this host, the simulated one where the environment asks for it."""
    if loader.simulated():
        found: Symbols = loader.simulator().collectives()
        return found
    return _vendor_collectives()
