"""`torch._numpy.linalg`: linear algebra; integers are computed with as real numbers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch._naming import adopt

from . import _util
from ._conversions import takes


class LinAlgError(Exception):
    """A matrix that a function is not defined for."""


def _function(arrays: str, fixed: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function over tensors one over arrays, whose errors are numpy's."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except mindtorch.linalg.LinAlgError as error:
                raise LinAlgError(*error.args) from error

        return takes(arrays, fixed=fixed)(call)

    return decorate


def _real(a: Tensor) -> Any:
    return _util.cast_int_to_float(a)


def _real_pair(a: Tensor, b: Tensor) -> tuple[Any, Any]:
    a, b = _util.promoted(a, b)
    return _real(a), _real(b)


@_function("a")
def matrix_power(a: Tensor, n: int) -> Any:
    """The power of a matrix."""
    return mindtorch.linalg.matrix_power(_real(a), n)


@_function("inputs+")
def multi_dot(inputs: Any, *, out: object = None) -> Any:
    """The product of several matrices, in the cheapest order."""
    return mindtorch.linalg.multi_dot(inputs)


@_function("a b")
def solve(a: Tensor, b: Tensor) -> Any:
    """The solution of a linear system."""
    return mindtorch.linalg.solve(*_real_pair(a, b))


@_function("a b")
def lstsq(a: Tensor, b: Tensor, rcond: float | None = None) -> Any:
    """The solution of least squares."""
    return mindtorch.linalg.lstsq(*_real_pair(a, b), rcond=rcond, driver="gelsd")


@_function("a")
def inv(a: Tensor) -> Any:
    """The inverse."""
    return mindtorch.linalg.inv(_real(a))


@_function("a")
def pinv(a: Tensor, rcond: float = 1e-15, hermitian: bool = False) -> Any:
    """The pseudo-inverse."""
    return mindtorch.linalg.pinv(_real(a), rtol=rcond, hermitian=hermitian)


@_function("a b")
def tensorsolve(a: Tensor, b: Tensor, axes: Sequence[int] | None = None) -> Any:
    """The solution of a system of tensors."""
    return mindtorch.linalg.tensorsolve(*_real_pair(a, b), dims=axes)


@_function("a")
def tensorinv(a: Tensor, ind: Any = 2) -> Any:
    """The inverse of a tensor."""
    return mindtorch.linalg.tensorinv(_real(a), ind=ind)


@_function("a")
def det(a: Tensor) -> Any:
    """The determinant."""
    return mindtorch.linalg.det(_real(a))


@_function("a")
def slogdet(a: Tensor) -> Any:
    """Sign and logarithm of the determinant."""
    return mindtorch.linalg.slogdet(_real(a))


@_function("x")
def cond(x: Tensor, p: Any = None) -> Any:
    """The condition number."""
    x = _real(x)
    if x.numel() == 0 and math.prod(x.shape[-2:]) == 0:
        raise LinAlgError("cond is not defined on empty arrays")
    result = mindtorch.linalg.cond(x, p=p)
    return mindtorch.where(mindtorch.isnan(result), float("inf"), result)


@_function("a")
def matrix_rank(a: Tensor, tol: float | None = None, hermitian: bool = False) -> Any:
    """The rank."""
    a = _real(a)
    if a.ndim < 2:
        return int((a != 0).any())
    absolute, relative = (0, max(a.shape[-2:]) * mindtorch.finfo(a.dtype).eps) if tol is None else (tol, 0)
    return mindtorch.linalg.matrix_rank(a, atol=absolute, rtol=relative, hermitian=hermitian)


@_function("x")
def norm(x: Tensor, ord: str | None = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of a vector or a matrix."""
    return mindtorch.linalg.norm(_real(x), ord=ord, dim=axis)


@_function("a")
def cholesky(a: Tensor) -> Any:
    """The factor of Cholesky."""
    return mindtorch.linalg.cholesky(_real(a))


@_function("a")
def qr(a: Tensor, mode: str = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    result = mindtorch.linalg.qr(_real(a), mode=mode)
    return result.R if mode == "r" else result


@_function("a")
def svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular values, with their vectors."""
    a = _real(a)
    return mindtorch.linalg.svd(a, full_matrices=full_matrices) if compute_uv else mindtorch.linalg.svdvals(a)


@_function("a")
def eig(a: Tensor) -> Any:
    """The eigenvalues, with their vectors."""
    a = _real(a)
    values, vectors = mindtorch.linalg.eig(a)
    return (values.real, vectors.real) if _is_real(a, values) else (values, vectors)


@_function("a")
def eigvals(a: Tensor) -> Any:
    """The eigenvalues."""
    a = _real(a)
    values = mindtorch.linalg.eigvals(a)
    return values.real if _is_real(a, values) else values


def _is_real(a: Tensor, values: Tensor) -> bool:
    return not a.is_complex() and values.is_complex() and bool((values.imag == 0).all())


@_function("a")
def eigh(a: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of a Hermitian matrix, with their vectors."""
    return mindtorch.linalg.eigh(_real(a), UPLO=UPLO)


@_function("a")
def eigvalsh(a: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of a Hermitian matrix."""
    return mindtorch.linalg.eigvalsh(_real(a), UPLO=UPLO)


__all__ = [name for name, value in globals().items() if hasattr(value, "__wrapped__")]
adopt(globals())
