"""LAPACK through scipy, for batches of matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindtorch_storage.lazy_import import LazyModule as Waiting

from .lazy import LazyModule
from .threads import threads

_addresses = Waiting("scipy.linalg.cython_lapack", "scipy costs as much to import as everything else here")
_lapack, _blas = LazyModule("scipy.linalg.lapack"), LazyModule("scipy.linalg.blas")
_PREFIX = {"f": "s", "d": "d", "F": "c", "D": "z"}


def routine(name: str, dtype: Any, *, blas: bool = False) -> Any:
    """Return the LAPACK (or BLAS) routine for matrices of `dtype`: `getrf` gives `sgetrf`."""
    return getattr(_blas if blas else _lapack, _PREFIX[np.dtype(dtype).char] + name)


def capsules() -> dict[str, Any]:
    """Return the addresses of LAPACK's routines by name, for the native module."""
    found: dict[str, Any] = _addresses.__pyx_capi__
    threads.tell_blas()  # which may have been loaded just now
    return found


def each(shape: tuple[int, ...], *arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the items of arrays whose batch dimensions broadcast to `shape`; each is (array, dimensions of an item)."""
    views = [
        np.broadcast_to(array, (*shape, *array.shape[array.ndim - count :])) if count else np.broadcast_to(array, shape)
        for array, count in arrays
    ]
    for index in np.ndindex(*shape):
        yield (index, *(view[index] for view in views))


def factor(matrices: Any) -> tuple[Any, Any, Any]:
    """Return LU factors, row exchanges (counted from 1) and statuses of a batch."""
    batch, (rows, columns) = matrices.shape[:-2], matrices.shape[-2:]
    factors = np.empty(matrices.shape, matrices.dtype)
    pivots = np.empty((*batch, min(rows, columns)), np.int32)
    infos = np.zeros(batch, np.int32)
    getrf = routine("getrf", matrices.dtype)
    for index in np.ndindex(*batch):
        if min(rows, columns):
            factors[index], pivots[index], infos[index] = getrf(matrices[index])
    return factors, pivots + 1, infos


def check_pivots(pivots: Any, rows: int, name: str, least: str, most: str) -> None:
    """Refuse exchanges with rows that are not there: LAPACK follows them unseen. `least` and `most` say how they are
    called where they are too small and too large."""
    if not pivots.size:
        return
    if pivots.min() < 1:
        raise RuntimeError(
            f"Pivots given to {name}_solve must all {least}. Did you properly pass the result of {name}_factor?"
        )
    if pivots.max() > rows:
        raise RuntimeError(
            f"Pivots given to {name}_solve must all {most}. Did you properly pass the result of {name}_factor?"
        )


def permutation(pivots: Any, rows: int) -> Any:
    """Return the order of rows that a list of exchanges (counted from 1) makes."""
    order = np.arange(rows)
    for at, other in enumerate(pivots):
        order[[at, other - 1]] = order[[other - 1, at]]
    return order


def parity(pivots: Any) -> Any:
    """Return 1 or -1 per matrix: the sign of its row exchanges."""
    moved = pivots != np.arange(1, pivots.shape[-1] + 1)
    return 1 - 2 * (np.sum(moved, axis=-1) % 2)


def solve_factored(factors: Any, pivots: Any, right: Any, trans: int = 0) -> Any:
    """Return the solution of one system from its LU factors; `trans` 1 for the transpose, 2 for the adjoint."""
    if not right.size:
        return np.zeros(right.shape, right.dtype)
    return routine("getrs", factors.dtype)(factors, pivots - 1, right, trans=trans)[0]
