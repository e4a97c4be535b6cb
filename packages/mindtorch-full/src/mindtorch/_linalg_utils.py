"""`torch._linalg_utils`: products that leave out what is not given."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.functions.removed import eig as eig
from mindtorch.functions.removed import lstsq as lstsq
from mindtorch.functions.removed import matrix_rank as matrix_rank
from mindtorch.functions.removed import solve as solve

__all__: list[str] = []


def is_sparse(A: torch.Tensor) -> bool:
    """Return whether a matrix is sparse, of coordinates.

    Raises:
        TypeError: no tensor.
    """
    if isinstance(A, torch.Tensor):
        return A.layout is torch.sparse_coo
    raise TypeError(f"expected Tensor but got {type(A)}")


def get_floating_dtype(A: torch.Tensor) -> torch.dtype:
    """Return the dtype that a matrix is computed in: its own if it is floating point, else torch.float32."""
    return A.dtype if A.dtype in (torch.float16, torch.float32, torch.float64) else torch.float32


def matmul(A: torch.Tensor | None, B: torch.Tensor) -> torch.Tensor:
    """Return the product; without ``A``, ``B``."""
    if A is None:
        return B
    return torch.sparse.mm(A, B) if is_sparse(A) else torch.matmul(A, B)


def bform(X: torch.Tensor, A: torch.Tensor | None, Y: torch.Tensor) -> torch.Tensor:
    """Return the bilinear form of matrices: the transposed ``X`` times ``A`` times ``Y``."""
    return matmul(X.mT, matmul(A, Y))


def qform(A: torch.Tensor | None, S: torch.Tensor) -> torch.Tensor:
    """Return the quadratic form: the transposed ``S`` times ``A`` times ``S``."""
    return bform(S, A, S)


def basis(A: torch.Tensor) -> torch.Tensor:
    """Return an orthogonal basis of the columns of a matrix."""
    return torch.linalg.qr(A).Q


def symeig(A: torch.Tensor, largest: bool | None = False) -> tuple[torch.Tensor, torch.Tensor]:
    """Return eigenvalues and eigenvectors of a symmetric matrix, ascending, with ``largest`` descending."""
    values, vectors = torch.linalg.eigh(A, UPLO="U")
    return (torch.flip(values, dims=(-1,)), torch.flip(vectors, dims=(-1,))) if largest else (values, vectors)


adopt(globals())
