"""Checks and geometry shared by the rules of linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32
from mindtorch_storage.promotion import promote_types
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import contiguous_strides

from ..errors import LinAlgError
from ..typing import Tensor
from .checks import check, shape_text
from .support import require

_TEXTS = (
    (
        ("inv", "inverse", "cholesky_inverse"),
        "The diagonal element {info} is zero, the inversion could not be completed because the input matrix is singular.",
    ),
    (("solve",), "The solver failed because the input matrix is singular."),
    (
        ("cholesky",),
        "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
        "{info} is not positive-definite).",
    ),
    (
        ("eig", "syevd", "eigh"),
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues "
        "(error code: {info}).",
    ),
    (
        ("lstsq",),
        "The least squares solution could not be computed because the input matrix does not have full rank (error code: "
        "{info}).",
    ),
    (
        ("lu_factor",),
        "U[{info},{info}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
        "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
    ),
)


def check_matrix(self: Any, name: str, argument: str = "A") -> None:
    """Raise torch's error for less than two dimensions."""
    check(
        len(self.shape) >= 2,
        lambda: f"{name}: The input tensor {argument} must have at least 2 dimensions.",
    )


def check_square(self: Any, name: str, argument: str = "A") -> None:
    """Raise torch's error unless these are square matrices."""
    check_matrix(self, name, argument)
    rows, columns = self.shape[-2:]
    check(
        rows == columns,
        lambda: f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices",
    )


def check_inexact(self: Any, name: str, *, low_precision: bool = False) -> None:
    """Raise torch's error unless the dtype is floating or complex, and float32 at least."""
    dtype = self.dtype
    check(
        dtype.is_floating_point or dtype.is_complex,
        lambda: f"{name}: Expected a floating point or complex tensor as input. Got {dtype.scalar_name}",
    )
    check(
        low_precision or dtype.to_real().itemsize >= 4,
        lambda: f"{name}: Low precision dtypes not supported. Got {dtype.scalar_name}",
    )


def check_kernel(self: Spec, kernel: str) -> None:
    """Raise torch's error for a dtype that its kernel `kernel` was not made for: less than float32."""
    dtype = self.dtype
    require((dtype.is_floating_point or dtype.is_complex) and dtype.to_real().itemsize >= 4, self, kernel)


def check_dims(self: Any, name: str) -> None:
    """Raise the error some ops have for less than two dimensions."""
    check(
        len(self.shape) >= 2,
        lambda: f"{name}: Expected tensor with 2 or more dimensions. Got size: {shape_text(self.shape)} instead",
    )


def check_same_dtype(first: Spec, second: Spec, name: str) -> None:
    """Raise torch's error for operands of two dtypes."""
    check(
        first.dtype is second.dtype,
        lambda: (
            f"{name}: Expected A and B to have the same dtype, but found A of type {first.dtype.scalar_name} and B of "
            f"type {second.dtype.scalar_name} instead"
        ),
    )


def check_system(right: Spec, matrices: Spec, name: str) -> None:
    """Raise torch's errors for the older ops that take the right-hand side first."""
    rows, columns = matrices.shape[-2:]
    check(rows == columns, lambda: f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    check(
        rows == right.shape[-2],
        lambda: (
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {rows} but each b matrix is "
            f"{right.shape[-2]} by {right.shape[-1]}"
        ),
    )
    check(
        right.dtype is matrices.dtype,
        lambda: (
            f"Expected b and A to have the same dtype, but found b of type {right.dtype.scalar_name} and A of type "
            f"{matrices.dtype.scalar_name} instead."
        ),
    )


def check_resolution(dtype: Dtype) -> None:
    """Raise torch's error for a dtype whose rounding it has no default tolerance for."""
    check(
        dtype.name in ("float32", "float64", "complex64", "complex128"),
        lambda: "This function doesn't handle types other than float and double",
    )


def check_norm_dtype(have: Dtype, wanted: Dtype | None, name: str) -> None:
    """Raise torch's error for a `dtype` that a norm of `have` cannot be computed in."""
    if wanted is None:
        return
    check(
        wanted.is_floating_point or wanted.is_complex,
        lambda: f"{name}: dtype should be floating point or complex, but got {wanted.scalar_name}",
    )
    kind = "complex for complex" if have.is_complex else "real for real"
    check(
        wanted.is_complex == have.is_complex,
        lambda: f"{name}: dtype should be {kind} inputs, but got {wanted.scalar_name}",
    )
    check(
        promote_types(have, wanted) is wanted,
        lambda: (
            f"{name}: the dtype of the input ({have.scalar_name}) should be convertible without narrowing to the "
            f"specified dtype ({wanted.scalar_name})"
        ),
    )


def column_major(self: Spec, shape: Sequence[int], dtype: Dtype | None = None) -> Spec:
    """Return the spec of matrices laid out by columns, as LAPACK writes them."""
    shape = tuple(shape)
    stride = list(contiguous_strides(shape))
    stride[-1], stride[-2] = max(shape[-2], 1), 1
    return Spec.of(dtype or self.dtype, self.device, shape, tuple(stride))


def row_major(self: Spec, shape: Sequence[int], dtype: Dtype | None = None) -> Spec:
    """Return the spec of a contiguous result."""
    return Spec.of(dtype or self.dtype, self.device, tuple(shape))


def pivots_spec(self: Spec) -> Spec:
    """Return the spec of the row exchanges of a factorization of `self`."""
    return Spec.of(int32, self.device, (*self.shape[:-2], min(self.shape[-2:])))


def info_spec(self: Spec) -> Spec:
    """Return the spec of one status number per matrix."""
    return Spec.of(int32, self.device, tuple(self.shape[:-2]))


def is_vector_rhs(first: Spec | Tensor, second: Spec) -> bool:
    """True when the right-hand side is a batch of vectors: `linalg.solve` then solves for vectors."""
    batch = tuple(first.shape[:-1])
    return len(second.shape) == 1 or (len(first.shape) - 1 == len(second.shape) and tuple(second.shape) == batch)


def status_error(name: str, info: int, prefix: str) -> Exception:
    """Return torch's error for the status `info` of the routine that the API name `name` calls."""
    if "svd" in name:
        text = (
            "The algorithm failed to converge because the input matrix contained non-finite values."
            if info < 0
            else "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
            f"singular values (error code: {info})."
        )
        return LinAlgError(f"{name}{prefix}: {text}")
    for parts, text in _TEXTS:
        if any(part in name for part in parts):
            kind = RuntimeError if "lu_factor" in name else LinAlgError
            return kind(f"{name}{prefix}: {text.format(info=info)}")
    return RuntimeError(f"{name}{prefix}: Unknown error code: {info}.")
