"""Matrix products through numpy's BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..many_dimensions import broadcast_arrays
from ..number import number_of
from ..register import kernel
from ..steps import steps


def blas_ready(matrix: Any) -> Any:
    """Return `matrix`, copied where neither of its last two dimensions is laid out as BLAS reads it.

    Without this, numpy takes a slow loop for expanded and strided operands.
    """
    rows, columns = matrix.shape[-2:]
    row_step, column_step = matrix.strides[-2:]
    size = matrix.itemsize
    if (column_step == size or columns == 1) and (row_step >= columns * size or rows == 1):
        return matrix
    if (row_step == size or rows == 1) and (column_step >= rows * size or columns == 1):
        return matrix
    return np.ascontiguousarray(matrix)


def _size_of(array: Any) -> int:
    """Return the largest absolute value."""
    return max(int(array.max(initial=0)), -int(array.min(initial=0)))


def product(out: Any, left: Any, right: Any) -> None:
    """Write `left @ right` to `out`: of whole numbers by way of doubles, where all sums are exact in them."""
    exact = out.dtype.kind in "iu" and _size_of(left) * _size_of(right) * left.shape[-1] < 2**53
    if exact:
        doubles = np.empty(out.shape)
        steps["matmul"](doubles, left.astype(np.float64), right.astype(np.float64))
        out[...] = doubles.astype(np.int64)  # from there on numbers wrap around
    else:
        np.matmul(blas_ready(left), blas_ready(right), out=out)


def _doubles(out: Any, left: Any, right: Any) -> None:
    np.matmul(left, right, out=out)


steps["matmul"] = _doubles


@kernel("mm", "bmm", aliases_ok=False)
def mm(out: Any, self: Any, mat2: Any) -> None:
    """`self @ mat2`."""
    product(out, self, mat2)


@kernel("_int_mm", aliases_ok=False)
def int_mm(out: Any, self: Any, mat2: Any) -> None:
    """`self @ mat2` of bytes, exact in int32."""
    np.matmul(self.astype(np.int32), mat2.astype(np.int32), out=out)


@kernel("_grouped_mm", aliases_ok=False)
def grouped_mm(out: Any, self: Any, mat2: Any, offs: Any, bias: None, out_dtype: Any) -> None:
    """Each group's product; a 2-d operand's groups are its slices between offsets, what lies beyond them is zero."""
    if offs is None:
        np.matmul(blas_ready(self), blas_ready(mat2), out=out)
        return
    if out.ndim == 2:
        out[...] = 0
    start = 0
    for group, end in enumerate(offs.tolist()):
        cut = slice(start, end)
        if self.ndim == mat2.ndim:
            np.matmul(self[:, cut], mat2[cut], out=out[group])
        elif self.ndim == 2:
            out[cut] = self[cut] @ mat2[group]
        else:
            out[:, cut] = self[group] @ mat2[:, cut]
        start = end


@kernel("mv")
def mv(out: Any, self: Any, vec: Any) -> None:
    """Matrix times vector."""
    np.matmul(blas_ready(self), vec, out=out)


@kernel("dot")
def dot(out: Any, self: Any, tensor: Any) -> None:
    """Inner product."""
    out[...] = np.dot(self, tensor)


@kernel("vdot")
def vdot(out: Any, self: Any, other: Any) -> None:
    """Inner product with the first operand conjugated."""
    out[...] = np.vdot(self, other)


def _add_scaled(out: Any, self: Any, beta: Any, alpha: Any) -> None:
    """Make `out`, which holds a product, `beta * self + alpha * out`; for beta 0 `self` is not read."""
    if alpha != 1:
        np.multiply(out, number_of(alpha, out.dtype), out)
    if beta == 1:
        np.add(out, self, out)
    elif beta != 0:
        np.add(out, np.multiply(self, number_of(beta, out.dtype)), out)


@kernel("addmm", "baddbmm")
def addmm(out: Any, self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> None:
    """`beta * self + alpha * (mat1 @ mat2)`."""
    product(out, mat1, mat2)
    _add_scaled(out, self, beta, alpha)


@kernel("addmv")
def addmv(out: Any, self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> None:
    """`beta * self + alpha * (mat @ vec)`."""
    np.matmul(blas_ready(mat), vec, out=out)
    _add_scaled(out, self, beta, alpha)


@kernel("addbmm")
def addbmm(out: Any, self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> None:
    """The batch is one long inner dimension."""
    count, rows, inner = batch1.shape
    flat1 = batch1.transpose(1, 0, 2).reshape(rows, count * inner)
    np.matmul(flat1, batch2.reshape(count * inner, batch2.shape[2]), out=out)
    _add_scaled(out, self, beta, alpha)


@kernel("addr")
def addr(out: Any, self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> None:
    """`beta * self + alpha * outer(vec1, vec2)`."""
    if out.dtype.kind == "b":
        product = np.logical_and(vec1[:, None], vec2) if alpha else np.zeros_like(out)
        np.logical_or(product, self if beta else False, out)
        return
    np.multiply(vec1[:, None], vec2, out)
    _add_scaled(out, self, beta, alpha)


@kernel("linalg_cross", upcast=False)
def cross(out: Any, self: Any, other: Any, dim: int) -> None:
    """Cross product along `dim`, each component rounded as torch's arithmetic in the dtype itself."""
    first, second = broadcast_arrays(np.moveaxis(self, dim, 0), np.moveaxis(other, dim, 0))
    result = np.moveaxis(out, dim, 0)
    for at in range(3):
        left, right = (at + 1) % 3, (at + 2) % 3
        result[at] = first[left] * second[right] - first[right] * second[left]


@kernel("_trilinear")
def trilinear(
    out: Any, i1: Any, i2: Any, i3: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any, unroll_dim: int
) -> None:
    """One contraction: an operand has no index where a dimension was inserted."""
    total = i1.ndim + len(expand1)
    operands: list[Any] = []
    for array, inserted in ((i1, expand1), (i2, expand2), (i3, expand3)):
        operands += [array, [dim for dim in range(total) if dim not in inserted]]
    kept = [dim for dim in range(total) if dim not in sumdim]
    out[...] = np.einsum(*operands, kept, optimize=True)
