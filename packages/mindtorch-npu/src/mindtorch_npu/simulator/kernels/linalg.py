"""Factorizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _triangular(right: Array, matrix: Array, upper: bool, turned: bool, unit: bool) -> tuple[Any, Any]:
    part = np.triu(matrix) if upper else np.tril(matrix)
    if unit:
        part = part.copy()
        index = np.arange(part.shape[-1])
        part[..., index, index] = 1
    part = part.swapaxes(-1, -2) if turned else part
    return np.linalg.solve(part, right), matrix


def _qr(x: Array, mode: int) -> tuple[Any, Any]:
    if mode == 2:
        return None, np.linalg.qr(x, "r")
    found = np.linalg.qr(x, "complete" if mode == 1 else "reduced")
    return found[0], found[1]


def _svd(x: Array, full: bool, vectors: bool) -> tuple[Any, Any, Any]:
    if not vectors:
        return np.linalg.svd(x, compute_uv=False), None, None
    left, values, right = np.linalg.svd(x, full)
    return values, left, np.conj(right.swapaxes(-1, -2))


def _cholesky(x: Array, upper: bool) -> Any:
    made = np.linalg.cholesky(np.conj(x.swapaxes(-1, -2)) if upper else x)
    return np.conj(made.swapaxes(-1, -2)) if upper else made


kernel("TriangularSolve", _triangular, workspace=True, values_matter=True)
kernel("LinalgQr", _qr, workspace=True, values_matter=True)
kernel("Svd", _svd, outputs=("sigma", "u", "v"), workspace=True, values_matter=True)
kernel("LinalgCholesky", _cholesky, workspace=True, values_matter=True)
