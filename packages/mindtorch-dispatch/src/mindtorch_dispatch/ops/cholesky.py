"""Cholesky factors."""

from ..decomp import cholesky as composed
from ..decomp import matrices
from ..meta import cholesky as rules
from ..meta.packs import pack
from ..table import op

op(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    rules.cholesky_ex,
    pack=pack("linalg_cholesky_ex", "L info"),
    variants="function",
)
op(
    "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    composite=composed.cholesky,
    variants="function",
    out=True,
)
op("cholesky(Tensor self, bool upper=False) -> Tensor", rules.cholesky)
op("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", rules.cholesky_inverse)
op("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", rules.cholesky_solve)
op(
    "_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
    composite=matrices.check_errors,
    variants="function",
)
