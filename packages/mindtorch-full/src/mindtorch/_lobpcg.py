"""`torch.lobpcg`: a few extreme eigenpairs of a large symmetric problem, by products alone."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._overridable import make_overridable
from mindtorch.tensor.tensor import Tensor

_TOLERANCE = {torch.float32: 1.2e-07, torch.float64: 2.23e-16}


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the `k` largest, or smallest, eigenvalues of the symmetric matrices `A`, or of the pairs (`A`, `B`), and
    their eigenvectors as columns.

    Args:
        X: a first guess of `n` vectors, random ones without it.
        iK: an approximate inverse of `A`.
        niter: the most steps; without a limit when negative.
        tol: the residual, relative to the sizes of matrix and vectors, at which a pair is good.

    Raises:
        ValueError: the matrix has less than three rows for each vector, or an unknown method.
        NotImplementedError: gradients are wanted, or a `tracker`.

    >>> values, vectors = torch.lobpcg(torch.diag(torch.arange(1.0, 10.0)), k=1)
    >>> round(values.item(), 3)
    9.0
    """
    if A.dim() < 2 or A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"Unknown method: {method}")
    if tracker is not None:
        raise NotImplementedError("torch.lobpcg(): tracker is not offered")
    if torch.is_grad_enabled() and (A.requires_grad or (B is not None and B.requires_grad)):
        raise NotImplementedError("torch.lobpcg(): gradients are not offered; use torch.linalg.eigh")
    rows = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    width = (k if n is None else n) if X is None else X.shape[-1]
    if rows < 3 * width:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the number of "
            f"requested eigenpairs (={width})"
        )
    first = torch.randn((*A.shape[:-2], rows, width), dtype=A.dtype, device=A.device) if X is None else X
    limit = _TOLERANCE[A.dtype] if tol is None else tol
    options: dict[str, Any] = {
        "k": k,
        "iK": iK,
        "tol": 50 * limit if tol is None else tol,
        "largest": largest is not False,
    }
    options["niter"] = -1 if niter is None else niter
    with torch.no_grad():
        if A.dim() == 2:
            return _solve(A, B, first, **options)
        flat = A.reshape(-1, rows, rows)
        others = [None] * len(flat) if B is None else list(B.expand(A.shape).reshape(-1, rows, rows))
        pairs = [
            _solve(one, other, start, **options)
            for one, other, start in zip(flat, others, first.reshape(-1, rows, width), strict=True)
        ]
        values = torch.stack([pair[0] for pair in pairs]).reshape(*A.shape[:-2], k)
        vectors = torch.stack([pair[1] for pair in pairs]).reshape(*A.shape[:-2], rows, k)
    return values, vectors


def _solve(
    A: Tensor, B: Tensor | None, X: Tensor, k: int, iK: Tensor | None, tol: float, largest: bool, niter: int
) -> tuple[Tensor, Tensor]:
    values, X = _ritz(A, B, X, X.shape[-1], largest)
    before = X[:, :0]
    steps = 0
    size = A.norm() if A.layout is torch.strided else A.to_dense().norm()
    limit = niter if niter >= 0 else 500
    while steps < limit:
        BX = X if B is None else B @ X
        residual = A @ X - BX * values
        good = residual.norm(dim=0) <= tol * (size + values.abs() * (1.0 if B is None else B.norm())) * X.norm(dim=0)
        if bool(good[:k].all()):
            break
        wanted = residual[:, ~good] if iK is None else iK @ residual[:, ~good]
        old = X
        # Near the end residuals and steps are tiny; what they point at counts, not how long they are.
        fresh = [_directions(one, X) for one in (wanted, before) if one.shape[1]]
        values, X = _ritz(A, B, torch.cat([X, *fresh], dim=1), X.shape[-1], largest)
        before = X - old @ (old.mT @ (X if B is None else B @ X))
        steps += 1
    return values[:k], X[:, :k]


def _directions(given: Tensor, X: Tensor) -> Tensor:
    """Return the columns without their part in the span of `X`, of length one."""
    Q = torch.linalg.qr(X)[0]
    for _ in range(2):
        given = given - Q @ (Q.mT @ given)
    return given / given.norm(dim=0).clamp(min=torch.finfo(given.dtype).tiny)


def _ritz(A: Tensor, B: Tensor | None, S: Tensor, width: int, largest: bool) -> tuple[Tensor, Tensor]:
    """Return the best pairs within the span of `S`, whose columns may depend on each other."""
    Q, R = torch.linalg.qr(S)
    kept = R.diagonal().abs() > 1e-6 * R.diagonal().abs().max()
    Q = Q[:, kept] if int(kept.sum()) >= width else Q
    small = Q.mT @ (A @ Q)
    if B is None:
        values, vectors = torch.linalg.eigh((small + small.mT) / 2)
    else:
        metric = Q.mT @ (B @ Q)
        root = torch.linalg.inv(torch.linalg.cholesky((metric + metric.mT) / 2))
        reduced = root @ small @ root.mT
        values, vectors = torch.linalg.eigh((reduced + reduced.mT) / 2)
        vectors = root.mT @ vectors
    if largest:
        values, vectors = values.flip(0), vectors.flip(1)
    return values[:width], Q @ vectors[:, :width]


lobpcg.__module__ = "torch._lobpcg"
make_overridable(globals(), ("lobpcg",))
