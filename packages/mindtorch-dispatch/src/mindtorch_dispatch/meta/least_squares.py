"""Meta rules of least squares."""

from __future__ import annotations

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from .checks import check
from .matrices import check_resolution, column_major, is_vector_rhs, row_major
from .rule import Outputs, meta_rule

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _check_lstsq(self: Spec, b: Spec, driver: str | None) -> bool:
    name = "torch.linalg.lstsq"
    check(self.ndim >= 2, lambda: f"{name}: input must have at least 2 dimensions.")
    check(b.ndim >= 1, lambda: f"{name}: other must have at least 1 dimension.")
    check(
        self.dtype is b.dtype,
        lambda: (
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{self.dtype.scalar_name} and other's dtype {b.dtype.scalar_name}"
        ),
    )
    difference = self.ndim - b.ndim
    check(
        0 <= difference <= 1,
        lambda: f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1",
    )
    vector = is_vector_rhs(self, b)
    check(
        self.shape[-2] == (b.shape[-1] if vector else b.shape[-2]),
        lambda: f"{name}: input.size(-2) should match other.size({-1 if vector else -2})",
    )
    check_resolution(self.dtype)
    check(
        driver is None or driver in DRIVERS,
        lambda: f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)",
    )
    return vector


@meta_rule(out=True)
def lstsq(self: Spec, b: Spec, rcond: float | None = None, driver: str | None = None) -> Outputs:
    """`linalg_lstsq`: solution, residuals, rank, singular values; the last ones for the drivers that give them."""
    vector = _check_lstsq(self, b, driver)
    driver = driver or "gelsy"
    right = b.with_(shape=(*b.shape, 1)) if vector else b
    rows, columns = self.shape[-2:]
    # torch counts the batch by the difference of the dimensions, also of a matrix that has one less.
    batch = broadcast_shapes(self.shape[:-2], b.shape[: self.ndim - 2])
    count = right.shape[-1]
    full = (*batch, max(rows, columns), count)
    stride = column_major(self, full).stride
    shape = (*batch, columns, count)
    if rows == 0:
        stride = column_major(self, shape).stride
    solution = Spec.of(self.dtype, self.device, shape[:-1] if vector else shape, stride[:-1] if vector else stride)
    empty = row_major(self, (0,), self.dtype.to_real())
    with_values = driver in ("gelsd", "gelss")
    given = rows > columns and driver != "gelsy"
    residuals = row_major(self, (*batch, count), self.dtype.to_real()) if given else empty
    ranked = driver != "gels"
    rank = row_major(self, tuple(self.shape[:-2]) if ranked else (0,), int64)
    values = row_major(self, (*self.shape[:-2], min(rows, columns)), self.dtype.to_real()) if with_values else empty
    return Outputs((solution, residuals, rank, values), values=(self, b, rcond, driver))
