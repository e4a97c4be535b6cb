"""`torch.sparse`: functions of coordinate tensors. Other layouts are not offered."""

from __future__ import annotations

from typing import Any, NoReturn

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.sparse._invariants import check_sparse_tensor_invariants
from mindtorch.tensor.legacy_sparse import SPARSE_TYPES
from mindtorch.tensor.tensor import Tensor

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "sum"]

globals().update(SPARSE_TYPES)


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Return the product of a sparse matrix and a dense or sparse one; sparse if both are.

    Raises:
        NotImplementedError: `reduce`, which is for compressed layouts.
    """
    if reduce is not None:
        raise NotImplementedError("torch.sparse.mm(): reduce is for compressed layouts, which are not offered")
    if mat1.is_sparse and mat2.is_sparse:
        return torch.mm(mat1, mat2.to_dense()).to_sparse()
    return torch.mm(mat1, mat2)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Return `beta * mat + alpha * (mat1 @ mat2)` for a sparse `mat1`."""
    return beta * mat + alpha * mm(mat1, mat2)


def sum(input: Tensor, dim: int | tuple[int, ...] | None = None, dtype: Any = None) -> Tensor:
    """Return the sum of a sparse tensor's values, or over some dimensions, sparse where sparse ones are left."""
    input = input if dtype is None else input.to(dtype)
    if dim is None:
        return input.coalesce().values().sum()
    dims = {one % input.dim() for one in ((dim,) if isinstance(dim, int) else dim)}
    source = input.coalesce()
    indices, values, sparse_dims = source.indices(), source.values(), source.sparse_dim()
    dense = [one - sparse_dims + 1 for one in dims if one >= sparse_dims]
    values = values.sum(dense) if dense else values
    kept = [one for one in range(sparse_dims) if one not in dims]
    if not kept:
        return values.sum(0)
    size = [length for one, length in enumerate(input.shape) if one not in dims]
    return torch.sparse_coo_tensor(indices[kept], values, size).coalesce()


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Any = None
) -> NoReturn:
    """Raises: the product at the places of a compressed matrix is not offered."""
    raise NotImplementedError("torch.sparse.sampled_addmm() takes compressed layouts, which are not offered")


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> NoReturn:
    """Raises: softmax over stored values is not offered."""
    raise NotImplementedError("torch.sparse.softmax() is not offered; call softmax() of to_dense()")


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> NoReturn:
    """Raises: log_softmax over stored values is not offered."""
    raise NotImplementedError("torch.sparse.log_softmax() is not offered; call log_softmax() of to_dense()")


adopt(globals())
