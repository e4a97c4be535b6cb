"""Find MPI's library, start it without holding Python's lock, and import mpi4py over it."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from mindtorch_distributed.errors import EngineMissingError

MISSING = (
    "several processes work together through MPI, which is not installed: "
    'pip install "mindtorch-distributed[mpi]" (it brings mpi4py and mpich)'
)
_THREAD_MULTIPLE = 3
LAUNCHED = ("PMI_FD", "PMI_PORT", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE")
"""Variables by which a launcher (mpiexec, Slurm) tells MPI where it is."""


def is_installed() -> bool:
    """Return whether MPI can be used. Imports nothing."""
    return importlib.util.find_spec("mpi4py") is not None


def _bundled() -> str | None:
    """The library that the distribution `mpich` brings, if it is installed."""
    try:
        files = distribution("mpich").files or ()
    except PackageNotFoundError:
        return None
    found = [str(Path(str(file.locate())).resolve()) for file in files if file.name == "libmpi.so.12"]
    return found[0] if found else None


def load() -> Any:
    """Import mpi4py without letting it start or end MPI. EngineMissingError when it is not installed."""
    if not is_installed():
        raise EngineMissingError(MISSING)
    library = _bundled()
    if library is not None:
        os.environ.setdefault("MPI4PY_LIBMPI", library)
    settings = importlib.import_module("mpi4py")
    settings.rc.initialize = settings.rc.finalize = False
    try:
        return importlib.import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise EngineMissingError(f"{MISSING}; mpi4py says: {error}") from error


def start(mpi: Any) -> None:
    """Start MPI for several threads. The call waits for other processes, so that it must not hold Python's lock."""
    if mpi.Is_initialized():
        return
    level = ctypes.c_int()
    name = os.environ.get("MPI4PY_LIBMPI")
    library = ctypes.CDLL(name or mpi.__file__, mode=ctypes.RTLD_GLOBAL)
    code = library.MPI_Init_thread(None, None, _THREAD_MULTIPLE, ctypes.byref(level))
    if code or level.value < _THREAD_MULTIPLE:
        raise EngineMissingError(f"MPI did not start for several threads (code {code}, level {level.value})")
