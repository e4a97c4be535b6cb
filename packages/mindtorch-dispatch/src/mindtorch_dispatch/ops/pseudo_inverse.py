"""Pseudo-inverses and ranks."""

from ..decomp import pseudo_inverse as composed
from ..table import op

for _signature, _function in (
    (
        "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) "
        "-> Tensor",
        composed.pinv,
    ),
    (
        "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        composed.pinv_float,
    ),
    ("linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", composed.pinv_rcond),
    ("linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor", composed.pinv_rcond),
    (
        "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, "
        "bool hermitian=False) -> Tensor",
        composed.rank,
    ),
    (
        "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) "
        "-> Tensor",
        composed.rank_float,
    ),
    ("linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor", composed.rank_tol),
    ("linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor", composed.rank_tol),
):
    op(_signature, composite=_function, variants="function", out=True)
op("pinverse(Tensor self, float rcond=1e-15) -> Tensor", composite=composed.pinverse)
