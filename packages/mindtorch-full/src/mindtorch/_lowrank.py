"""Randomised factorizations: a few singular vectors of a matrix from its action on random vectors."""

import mindtorch
from mindtorch._naming import adopt
from mindtorch._overridable import make_overridable
from mindtorch._tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]


def _adjoint(matrix: Tensor) -> Tensor:
    return matrix.mH


def get_approximate_basis(A: Tensor, q: int, niter: int | None = 2, M: Tensor | None = None) -> Tensor:
    """Return an orthonormal basis, `q` columns, of what ``A`` (less ``M``) maps to: `niter` rounds of subspace iteration."""
    dtype = A.dtype if A.is_complex() else A.dtype if A.is_floating_point() else mindtorch.float32

    def act(matrix: Tensor, shift: Tensor | None, vectors: Tensor) -> Tensor:
        result = mindtorch.matmul(matrix, vectors)
        return result if shift is None else result - mindtorch.matmul(shift, vectors)

    turned = _adjoint(A)
    turned_shift = None if M is None else _adjoint(M)
    basis = mindtorch.linalg.qr(act(A, M, mindtorch.randn(A.shape[-1], q, dtype=dtype, device=A.device))).Q
    for _ in range(2 if niter is None else niter):
        basis = mindtorch.linalg.qr(act(turned, turned_shift, basis)).Q
        basis = mindtorch.linalg.qr(act(A, M, basis)).Q
    return basis


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``U, S, V`` with about ``U @ diag(S) @ V.mH == A - M``, of rank at most ``q``.

    >>> [part.shape for part in torch.svd_lowrank(torch.ones(4, 3), q=2)]
    [torch.Size([4, 2]), torch.Size([2]), torch.Size([3, 2])]
    """
    rows, columns = A.shape[-2:]
    if M is not None:
        M = M.broadcast_to(A.size())
    wide = rows < columns
    if wide:
        A = _adjoint(A)
        M = None if M is None else _adjoint(M)
    basis = get_approximate_basis(A, 6 if q is None else q, niter=niter, M=M)
    small = mindtorch.matmul(_adjoint(basis), A)
    if M is not None:
        small = small - mindtorch.matmul(_adjoint(basis), M)
    left, values, right = mindtorch.linalg.svd(small, full_matrices=False)
    left, right = basis.matmul(left), _adjoint(right)
    return (right, values, left) if wide else (left, values, right)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``U, S, V`` of the principal components of the rows of ``A``, at most ``q`` of them.

    >>> [part.shape for part in torch.pca_lowrank(torch.ones(4, 3), q=2)]
    [torch.Size([4, 2]), torch.Size([2]), torch.Size([3, 2])]
    """
    rows, columns = A.shape[-2:]
    least = min(rows, columns)
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter=niter)
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True), q, niter=niter)


make_overridable(globals(), ("svd_lowrank", "pca_lowrank"))
adopt(globals())
