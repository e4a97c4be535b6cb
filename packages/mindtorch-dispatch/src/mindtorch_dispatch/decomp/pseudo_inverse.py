"""Pseudo-inverses and ranks: what singular values are kept is decided by two tolerances."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import float64, int64
from mindtorch_storage.finfo import finfo
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check, shape_text
from ..meta.matrices import check_matrix, check_resolution
from ..typing import Tensor


def _check_tolerance(name: str, kind: str, given: Tensor | None) -> None:
    check(
        given is None or not given.dtype.is_complex,
        lambda: (
            f"{name}: {kind} tensor of complex type is not supported. Got {given.dtype.scalar_name if given is not None else ''}"
        ),
    )


def _tolerances(input: TensorBase, atol: Any, rtol: Any, name: str) -> tuple[Any, Any]:
    """Return both tolerances as tensors; the relative one defaults to what the dtype resolves."""
    _check_tolerance(name, "atol", atol)
    _check_tolerance(name, "rtol", rtol)
    if rtol is None:
        check_resolution(input.dtype)
        default = finfo(input.dtype.to_real()).eps * max(input.shape[-2:])
        rtol = aten.full((), default, dtype=float64, device=input.device)
        if atol is not None:
            rtol = aten.where(aten.gt(atol, 0), aten.zeros((), dtype=float64, device=input.device), rtol)
    return aten.zeros((), dtype=float64, device=input.device) if atol is None else atol, rtol


def _threshold(atol: Any, rtol: Any, largest: Tensor) -> Any:
    return aten.maximum(aten.unsqueeze(atol, -1), aten.mul(aten.unsqueeze(rtol, -1), largest))


def _adjoint(matrix: Tensor) -> Any:
    return aten.transpose(aten.conj_physical(matrix) if matrix.dtype.is_complex else matrix, -2, -1)


def pinv(self: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool) -> Any:
    """`linalg_pinv` with tensors as tolerances."""
    dtype = self.dtype
    check(
        dtype.name in ("float32", "float64", "complex64", "complex128") and len(self.shape) >= 2,
        lambda: (
            f"linalg.pinv({dtype.scalar_name}{{{shape_text(self.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        ),
    )
    atol, rtol = _tolerances(self, atol, rtol, "torch.linalg.pinv")
    if hermitian and self._sig.spec.numel:
        values, left = aten.linalg_eigh(self)
        sizes, right = aten.abs(values), left
        largest = aten.amax(sizes, [-1], True)
    else:
        left, values, right = aten.svd(self)
        if self._sig.spec.numel == 0:
            return aten.matmul(aten.mul(right, aten.unsqueeze(aten.reciprocal(values), -2)), _adjoint(left))
        sizes, largest = values, aten.narrow(values, -1, 0, 1)
    kept = aten.gt(sizes, _threshold(atol, rtol, largest))
    inverse = aten.where(kept, aten.reciprocal(values), aten.zeros((), dtype=values.dtype, device=values.device))
    inverse = inverse if inverse.dtype is dtype else aten._to_copy(inverse, dtype=dtype)
    return aten.matmul(aten.mul(right, aten.unsqueeze(inverse, -2)), _adjoint(left))


def _as_tensor(value: float | None, like: Any) -> Any:
    return None if value is None else aten.full((), value, dtype=float64, device=like.device)


def pinv_float(self: Tensor, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    """`linalg_pinv` with numbers as tolerances."""
    return aten.linalg_pinv(self, atol=_as_tensor(atol, self), rtol=_as_tensor(rtol, self), hermitian=hermitian)


def pinv_rcond(self: Tensor, rcond: Tensor | float, hermitian: bool) -> Any:
    """`linalg_pinv` with one relative tolerance, a number or a tensor."""
    zero = aten.zeros((), dtype=float64, device=self.device)
    if isinstance(rcond, TensorBase):
        _check_tolerance("torch.linalg.pinv", "rcond", rcond)
    relative = _as_tensor(rcond, self) if isinstance(rcond, (int, float)) else rcond
    return aten.linalg_pinv(self, atol=zero, rtol=relative, hermitian=hermitian)


def pinverse(self: Tensor, rcond: float) -> Any:
    """`pinverse`."""
    return pinv_rcond(self, rcond, False)


def _rank(input: Tensor, atol: object, rtol: object, hermitian: bool) -> Any:
    check_matrix(input, "torch.linalg.matrix_rank", "input")
    atol, rtol = _tolerances(input, atol, rtol, "torch.linalg.matrix_rank")
    if input._sig.spec.numel == 0:
        return aten.zeros(tuple(input.shape[:-2]), dtype=int64, device=input.device)
    if hermitian:
        values = aten.abs(aten.linalg_eigvalsh(input))
        largest = aten.amax(values, [-1], True)
    else:
        values = aten.linalg_svdvals(input)
        largest = aten.narrow(values, -1, 0, 1)
    return aten.sum(aten.gt(values, _threshold(atol, rtol, largest)), [-1])


def rank(input: Tensor, atol: Tensor | None, rtol: Tensor | None, hermitian: bool) -> Any:
    """`linalg_matrix_rank` with tensors as tolerances."""
    return _rank(input, atol, rtol, hermitian)


def rank_float(self: Tensor, atol: float | None, rtol: float | None, hermitian: bool) -> Any:
    """`linalg_matrix_rank` with numbers as tolerances."""
    return _rank(self, _as_tensor(atol, self), _as_tensor(rtol, self), hermitian)


def rank_tol(self: Tensor, tol: Tensor | float, hermitian: bool) -> Any:
    """`linalg_matrix_rank` with one absolute tolerance, a number or a tensor."""
    absolute = _as_tensor(tol, self) if isinstance(tol, (int, float)) else tol
    return _rank(self, absolute, aten.zeros((), dtype=float64, device=self.device), hermitian)
