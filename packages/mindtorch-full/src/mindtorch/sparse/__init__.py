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

    Its gradient for a sparse matrix is sparse, with the same indices.

    Raises:
        NotImplementedError: `reduce`, for coordinates.

    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    if reduce is not None:
        raise NotImplementedError("torch.sparse.mm(): reduce is not offered")
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
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0, out: Any = None
) -> NoReturn:
    """Raises: the product at the places of a compressed matrix is not offered."""
    raise NotImplementedError("torch.sparse.sampled_addmm() takes compressed layouts, which are not offered")


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return softmax over what is stored along `dim`; what is not stored counts as minus infinity.

    >>> torch.sparse.softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([1., 1.])
    """
    return torch._sparse_softmax(input if dtype is None else input.to(dtype), dim, False)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the logarithm of softmax over what is stored along `dim`.

    >>> torch.sparse.log_softmax(torch.eye(2).to_sparse(), 1).values()
    tensor([0., 0.])
    """
    return torch._sparse_log_softmax(input if dtype is None else input.to(dtype), dim, False)


adopt(globals())
