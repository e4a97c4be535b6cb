"""Eigenvalues and singular values: vectors are computed when they are asked for or a gradient needs them."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import check
from ..state import state
from ..typing import Tensor


def _needs_vectors(self: Tensor) -> bool:
    return bool(state.mode.grad and self._sig.requires_grad) or state.mode.forward_ad


def eigh(self: Tensor, UPLO: str) -> tuple[Any, Any]:
    """`linalg_eigh`."""
    found: tuple[Any, Any] = aten._linalg_eigh(self, UPLO, True)
    return found


def eigvalsh(self: Tensor, UPLO: str) -> Any:
    """`linalg_eigvalsh`."""
    return aten._linalg_eigh(self, UPLO, _needs_vectors(self))[0]


def eigvals(self: Tensor) -> Any:
    """`linalg_eigvals`."""
    return aten.linalg_eig(self)[0] if _needs_vectors(self) else aten._linalg_eigvals(self)


def svd(A: Tensor, full_matrices: bool, driver: str | None) -> tuple[Any, Any, Any]:
    """`linalg_svd`."""
    found: tuple[Any, Any, Any] = aten._linalg_svd(A, full_matrices, True, driver=driver)
    return found


def svdvals(A: Tensor, driver: str | None) -> Any:
    """`linalg_svdvals`."""
    return aten._linalg_svd(A, False, _needs_vectors(A), driver=driver)[1]


def old_svd(self: Tensor, some: bool, compute_uv: bool) -> tuple[Any, Any, Any]:
    """`svd`: the right vectors as columns."""
    check(len(self.shape) >= 2, lambda: f"linalg.svd: input should have at least 2 dimensions, but has {len(self.shape)} "
          "dimensions instead")  # fmt: skip
    if compute_uv:
        left, values, right = aten._linalg_svd(self, not some)
        return left, values, aten.transpose(aten.conj_physical(right) if self.dtype.is_complex else right, -2, -1)
    values = aten.linalg_svdvals(self)
    rows, columns = self.shape[-2:]
    batch = self.shape[:-2]
    return (
        aten.zeros((*batch, rows, rows), dtype=self.dtype, device=self.device),
        values,
        aten.zeros((*batch, columns, columns), dtype=self.dtype, device=self.device),
    )
