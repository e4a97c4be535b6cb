"""How many threads kernels use. With native kernels they share one pool, and numpy's BLAS keeps to its caller's thread:
two pools on the same processors wait for each other. Without them BLAS is what is parallel, and gets the number.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_LIBRARIES = ("openblas", "mkl_rt")
"""What the file names of BLAS libraries that have threads of their own have in them."""

_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
    "MKL_Set_Num_Threads",
)

MOST_THREADS = 4096
"""What a pool takes."""

_TOPOLOGY = Path("/sys/devices/system/cpu")


def core_count() -> int:
    """Return how many physical cores this process may run on; 1 where nothing is known."""
    try:
        allowed = sorted(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
    cores = set()
    for cpu in allowed:
        try:
            cores.add((_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list").read_text())
        except OSError:
            return len(allowed)
    return len(cores)


def requested() -> int | None:
    """Return what the environment asks for, MKL_NUM_THREADS before OMP_NUM_THREADS; None for nothing that is a number."""
    for name in ("MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text)
    return None


def default_count() -> int:
    """Return how many threads a process starts with: one per core, or fewer if the environment says so."""
    return min(requested() or MOST_THREADS, core_count())


def _libraries(mapped: str) -> set[str]:
    """Return the paths of BLAS libraries in a table of mapped files. Looking for their names takes a tenth of the time
    that looking at every line does, and this happens at every start."""
    found = set()
    for name in _LIBRARIES:
        place = mapped.find(name)
        while place >= 0:
            start, end = mapped.rfind("\n", 0, place) + 1, mapped.find("\n", place)
            end = len(mapped) if end < 0 else end
            path = mapped[start:end]
            path = path[path.find("/") :] if "/" in path else ""
            file = path.rpartition("/")[2]
            if name in file and ".so" in file.partition(name)[2]:
                found.add(path)
            place = mapped.find(name, end)
    return found


def _blas_setters() -> Iterator[Callable[[int], Any]]:
    """Yield the thread setting functions of the BLAS libraries that are loaded, where the system tells which are."""
    try:
        mapped = Path("/proc/self/maps").read_text()
    except OSError:
        return
    for path in sorted(_libraries(mapped)):
        try:
            library = ctypes.CDLL(path)
        except OSError:  # replaced or deleted since it was loaded
            continue
        for name in _SETTERS:
            if hasattr(library, name):
                yield getattr(library, name)
                break


class Threads:
    """The number of threads, for the pool of native kernels if there is one and for BLAS."""

    def __init__(self) -> None:
        self._wanted: int | None = None
        self._pool: Any = None

    @property
    def count(self) -> int:
        """How many threads kernels may use."""
        if self._wanted is None:
            self._wanted = default_count()
        return self._wanted

    def use_pool(self, module: Any) -> None:
        """Drive the pool of a native module from now on."""
        self._pool = module
        self.set(self.count)

    def set(self, count: int) -> None:
        """Let kernels use `count` threads; ValueError beyond what a machine has."""
        if not 1 <= count <= MOST_THREADS:
            raise ValueError(f"a number of threads is between 1 and {MOST_THREADS}, not {count}")
        if self._pool is not None:
            self._pool.set_thread_count(count)
        self._wanted = count
        self.tell_blas()

    def tell_blas(self) -> None:
        """Pass the number on to the BLAS libraries that are loaded by now."""
        if self._pool is None and self._wanted is None:
            return
        for setter in _blas_setters():
            setter(1 if self._pool is not None else self.count)


threads = Threads()
"""The process's setting."""
