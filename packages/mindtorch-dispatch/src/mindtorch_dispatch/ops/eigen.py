"""Eigenvalues and singular values."""

from ..decomp import eigen as composed
from ..meta import eigen as rules
from ..meta.packs import pack
from ..table import op

op(
    '_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)',
    rules.eigh,
    pack=pack("_linalg_eigh", "eigenvalues eigenvectors"),
    variants="function",
)
op(
    'linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)',
    composite=composed.eigh,
    pack=pack("linalg_eigh", "eigenvalues eigenvectors"),
    variants="function",
    out=True,
)
op('linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor', composite=composed.eigvalsh, variants="function", out=True)
op(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    rules.eig,
    pack=pack("linalg_eig", "eigenvalues eigenvectors"),
    variants="function",
)
op("_linalg_eigvals(Tensor self) -> Tensor", rules.eigvals, variants="function")
op("linalg_eigvals(Tensor self) -> Tensor", composite=composed.eigvals, variants="function", out=True)
op(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    rules.svd,
    pack=pack("_linalg_svd", "U S Vh"),
    variants="function",
)
op(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    composite=composed.svd,
    pack=pack("linalg_svd", "U S Vh"),
    variants="function",
    out=True,
)
op("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", composite=composed.svdvals, variants="function", out=True)
op(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    composite=composed.old_svd,
    pack=pack("svd", "U S V"),
    out=True,
)
