"""Products: the batch dimension is one more that products are made for each of."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import int32

from ...batching.geometry import batched, example_shape, front, padded, place, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...meta.checks import check
from ...table import OpRow
from ...typing import Tensor
from .table import rule


def _operand(value: Tensor, dim: int | None) -> Any:
    return value if dim is None else front(value, dim)


def _check_inner(left: list[int], right: list[int]) -> None:
    check(
        left[-1] == right[0 if len(right) == 1 else -2],
        lambda: (
            f"mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, left))} and {'x'.join(map(str, right))})"
        ),
    )


@rule("mm")
def mm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`mm`: one product for a shared right side, else one for each example."""
    left, right = values
    _check_inner(example_shape(left, dims[0]), example_shape(right, dims[1]))
    if dims[1] is None:
        matrices = front(left, dims[0])
        count, rows, inner = matrices.shape
        if rows == 1 or matrices.is_contiguous():
            made = aten.mm(aten.reshape(matrices, [count * rows, inner]), right)
            return aten.reshape(made, [count, rows, right.shape[1]]), 0
    return aten.matmul(_operand(left, dims[0]), _operand(right, dims[1])), 0


@rule("bmm", "_int_mm")
def bmm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`bmm`."""
    if row.packet == "_int_mm":
        pairs = [batched(value, dim, batch.size) for value, dim in zip(values, dims, strict=True)]
        wide = aten.matmul(*[aten.to.dtype(one, int32) for one in pairs])
        return wide, 0
    left, right = example_shape(values[0], dims[0]), example_shape(values[1], dims[1])
    check(
        left[0] == right[0] and left[2] == right[1],
        lambda: (
            f"Expected size for first two dimensions of batch2 tensor to be: [{left[0]}, {left[2]}] but got: "
            f"[{right[0]}, {right[1]}]."
        ),
    )
    return aten.matmul(_operand(values[0], dims[0]), _operand(values[1], dims[1])), 0


@rule("mv")
def mv(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`mv`."""
    matrix, vector = values
    have, want = example_shape(matrix, dims[0]), example_shape(vector, dims[1])
    check(
        have[1] == want[0], lambda: f"size mismatch, got input ({have[0]}), mat ({have[0]}x{have[1]}), vec ({want[0]})"
    )
    if dims[1] is None:
        return aten.matmul(front(matrix, dims[0]), vector), 0
    column = aten.unsqueeze(front(vector, dims[1]), 2)
    return aten.squeeze(aten.matmul(_operand(matrix, dims[0]), column), 2), 0


@rule("dot", "vdot")
def dot(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`dot`, `vdot`."""
    left, right = values
    ranks = rank(left, dims[0]), rank(right, dims[1])
    check(ranks == (1, 1), lambda: f"1D tensors expected, but got {ranks[0]}D and {ranks[1]}D tensors")
    have, want = example_shape(left, dims[0]), example_shape(right, dims[1])
    check(
        have == want,
        lambda: (
            f"inconsistent tensor size, expected tensor [{have[0]}] and src [{want[0]}] to have the same number of elements, "
            f"but got {have[0]} and {want[0]} elements respectively"
        ),
    )
    if row.packet == "vdot" and left.dtype.is_complex:
        left = aten.conj_physical(left)
    row_form = aten.unsqueeze(batched(left, dims[0], batch.size), 1)
    column = aten.unsqueeze(batched(right, dims[1], batch.size), 2)
    return aten.reshape(aten.matmul(row_form, column), [batch.size]), 0


def _scaled(product: Tensor, alpha: int) -> Any:
    return product if alpha == 1 else aten.mul(product, alpha)


def _added(self: Tensor, dim: int | None, product: Tensor, beta: int, alpha: int) -> Any:
    product = _scaled(product, alpha)
    if beta == 0:
        return product
    self = _operand(self, dim)
    if dim is not None:
        self = padded(self, product.dim() - 1)
    return aten.add(product, _scaled(self, beta))


@rule("addmm", "baddbmm", "addmv", "addbmm", "addr")
def added(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """A product added to a tensor."""
    self, left, right, beta, alpha = values
    if row.packet == "addr":
        product = aten.mul(
            aten.unsqueeze(batched(left, dims[1], batch.size), 2),
            aten.unsqueeze(batched(right, dims[2], batch.size), 1),
        )
        return _added(self, dims[0], product, beta, alpha), 0
    if dims[1] is None and dims[2] is None:
        product = {"addmm": aten.mm, "baddbmm": aten.bmm, "addmv": aten.mv, "addbmm": aten.bmm}[row.packet](left, right)
        product = aten.expand(aten.unsqueeze(product, 0), [batch.size, *product.shape])
    else:
        product = {"addmm": mm, "baddbmm": bmm, "addmv": mv, "addbmm": bmm}[row.packet](
            row, batch, [left, right], dims[1:3]
        )[0]
    if row.packet == "addbmm":
        product = aten.sum(product, [1])
    return _added(self, dims[0], product, beta, alpha), 0


@rule("linalg_cross")
def cross(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`linalg.cross`."""
    ndim = max(rank(values[0], dims[0]), rank(values[1], dims[1]))
    check(
        rank(values[0], dims[0]) == rank(values[1], dims[1]),
        lambda: "linalg.cross: inputs must have the same number of dimensions.",
    )
    pair = [batched(value, dim, batch.size) for value, dim in zip(values[:2], dims[:2], strict=True)]
    return invoke(row, [*pair, place(values[2], ndim)]), 0
