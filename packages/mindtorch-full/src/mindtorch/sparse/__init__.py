"""`torch.sparse`: functions of tensors that store a part of their elements."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.sparse._gradcheck import as_sparse_gradcheck
from mindtorch.sparse._invariants import check_sparse_tensor_invariants
from mindtorch.tensor.legacy_sparse import SPARSE_TYPES
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]

globals().update(SPARSE_TYPES)


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Return the product of a sparse matrix and a dense or sparse one; sparse if both are.

    Its gradient for a sparse matrix is sparse, with the same indices. With `reduce`, one of "sum", "mean", "amax" and
    "amin", the terms of each sum are reduced so instead, for a matrix with compressed rows.

    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    if reduce is not None:
        return torch._sparse_mm(mat1, mat2, reduce)
    return torch._sparse_mm(mat1, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Return `beta * mat + alpha * (mat1 @ mat2)` for a sparse `mat1`.

    >>> torch.sparse.addmm(torch.ones(2), torch.eye(2).to_sparse(), torch.ones(2, 2))
    tensor([[2., 2.],
            [2., 2.]])
    """
    return torch._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sum(input: Tensor, dim: int | tuple[int, ...] | None = None, dtype: Any = None) -> Tensor:
    """Return the sum of a sparse tensor's values, or over some dimensions, sparse where sparse ones are left.

    >>> torch.sparse.sum(torch.eye(3).to_sparse())
    tensor(3.)
    """
    options = {} if dtype is None else {"dtype": dtype}
    return torch._sparse_sum(input, **options) if dim is None else torch._sparse_sum(input, dim, **options)


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Tensor | None = None
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)` at the places of the compressed matrix `input` alone.

    >>> torch.sparse.sampled_addmm(torch.eye(2).to_sparse_csr(), torch.ones(2, 1), torch.ones(1, 2)).values()
    tensor([2., 2.])
    """
    made = torch.ops.aten.sparse_sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return made if out is None else out.copy_(made)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return softmax over what is stored along `dim`; what is not stored counts as minus infinity.

    >>> torch.sparse.softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([1., 1.])
    """
    return torch._sparse_softmax(input if dtype is None else input.to(dtype), dim, False)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: torch.layout | None = None) -> Tensor:
    """Return the sparse matrix of `shape` with the rows of `diagonals` on the diagonals `offsets`, each value in its column.

    >>> torch.sparse.spdiags(torch.tensor([[1.0, 2.0]]), torch.tensor([-1]), (2, 2)).to_dense()
    tensor([[0., 0.],
            [1., 0.]])
    """
    rows_of = diagonals if diagonals.dim() > 1 else diagonals.reshape(1, -1)
    places = offsets if offsets.dim() else offsets.reshape(1)
    _check_spdiags(rows_of, places, shape, layout)
    starts = [max(offset, 0) for offset in places.tolist()]
    ends = [min(rows_of.size(1), shape[1], shape[0] + offset) for offset in places.tolist()]
    count = builtins.sum(end - start for start, end in zip(starts, ends, strict=True))
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [2, {count}]")
    of = [
        (which, column)
        for which, (start, end) in enumerate(zip(starts, ends, strict=True))
        for column in range(start, end)
    ]
    which, columns = torch.tensor(of, dtype=torch.int64, device=rows_of.device).reshape(-1, 2).unbind(1)
    indices = torch.stack([columns - places[which], columns])
    result = torch.sparse_coo_tensor(indices, rows_of[which, columns], tuple(shape))
    return result if layout in (None, torch.sparse_coo) else result.to_sparse(layout=layout)


def _check_spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: torch.layout | None) -> None:
    """Raise what torch raises for arguments of `spdiags` that do not fit."""
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dim() != 1:
        raise RuntimeError("Offsets must be scalar or vector")
    if diagonals.size(0) != offsets.size(0):
        text = f"Number of diagonals ({diagonals.size(0)}) does not match the number of offsets ({offsets.size(0)})"
        raise RuntimeError(text)
    if layout not in (None, torch.sparse_coo, torch.sparse_csc, torch.sparse_csr):
        name = {torch.strided: "Strided", torch.sparse_bsr: "SparseBsr", torch.sparse_bsc: "SparseBsc"}.get(
            layout, str(layout)
        )
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {name}")
    if offsets.dtype != torch.int64:
        kind = str(offsets.dtype).removeprefix("torch.")
        names = {
            "float32": "Float",
            "float64": "Double",
            "int32": "Int",
            "int16": "Short",
            "int8": "Char",
            "uint8": "Byte",
        }
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {names.get(kind, kind)}")
    if len(set(offsets.tolist())) != len(offsets):
        raise RuntimeError("Offset tensor contains duplicate values")


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of softmax over what is stored along `dim`.

    >>> torch.sparse.log_softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([0., 0.])
    """
    return torch._sparse_log_softmax(input if dtype is None else input.to(dtype), dim, False)


adopt(globals())
