"""Norms and condition numbers of matrices."""

from ..decomp import matrix_norm as composed
from ..table import op

_DIM = "int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None"
_DIMS = "int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None"

for _signature, _function in (
    (f"linalg_matrix_norm(Tensor self, Scalar ord, {_DIMS}) -> Tensor", composed.matrix_norm),
    (f'linalg_matrix_norm.str_ord(Tensor self, str ord="fro", {_DIMS}) -> Tensor', composed.matrix_norm_named),
    (f"linalg_norm(Tensor self, Scalar? ord=None, {_DIM}) -> Tensor", composed.norm),
    (f"linalg_norm.ord_str(Tensor self, str ord, {_DIM}) -> Tensor", composed.norm_named),
    ("nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", composed.nuclear_norm),
    ("nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", composed.nuclear_norm_dim),
    ("frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", composed.frobenius_norm),
    ("linalg_cond(Tensor self, Scalar? p=None) -> Tensor", composed.cond),
    ("linalg_cond.p_str(Tensor self, str p) -> Tensor", composed.cond_named),
):
    op(_signature, composite=_function, variants="function", out=True)
