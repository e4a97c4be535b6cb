"""LU factors, solutions, inverses, determinants."""

from ..decomp import lu as composed
from ..meta import lu as rules
from ..meta.packs import pack
from ..table import op

op(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    rules.factor_ex,
    pack=pack("linalg_lu_factor_ex", "LU pivots info"),
    variants="function",
)
op(
    "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    composite=composed.lu_factor,
    pack=pack("linalg_lu_factor", "LU pivots"),
    variants="function",
    out=True,
)
op(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
    composite=composed.lu_with_info,
    pack=pack("_lu_with_info", "LU pivots info"),
    variants="function",
)
op(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    rules.lu,
    pack=pack("linalg_lu", "P L U"),
    variants="function",
)
op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    rules.unpack,
    pack=pack("lu_unpack", "P L U"),
    variants="function",
)
op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    rules.lu_solve,
    variants="function",
)
op("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", composite=composed.lu_solve, out=True)
op(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    rules.solve_ex,
    pack=pack("_linalg_solve_ex", "result LU pivots info"),
    variants="function",
)
op(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    composite=composed.solve_ex,
    pack=pack("linalg_solve_ex", "result info"),
    variants="function",
    out=True,
)
op(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    composite=composed.solve,
    variants="function",
    out=True,
)
op(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    rules.inv_ex,
    pack=pack("linalg_inv_ex", "inverse info"),
    variants="function",
)
op("linalg_inv(Tensor A) -> Tensor", composite=composed.inv, variants="function", out=True)
op("inverse(Tensor self) -> Tensor", composite=composed.inv, out=True)
op(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    rules.det,
    pack=pack("_linalg_det", "result LU pivots"),
    variants="function",
)
op("linalg_det(Tensor A) -> Tensor", composite=composed.det, variants="function", out=True)
op("det(Tensor self) -> Tensor", composite=composed.det)
op(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    rules.slogdet,
    pack=pack("_linalg_slogdet", "sign logabsdet LU pivots"),
    variants="function",
)
op(
    "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    composite=composed.slogdet,
    pack=pack("linalg_slogdet", "sign logabsdet"),
    variants="function",
    out=True,
)
op(
    "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
    composite=composed.slogdet,
    pack=pack("slogdet", "sign logabsdet"),
    out=True,
)
op("logdet(Tensor self) -> Tensor", composite=composed.logdet)
op("linalg_tensorinv(Tensor self, int ind=2) -> Tensor", composite=composed.tensorinv, variants="function", out=True)
op(
    "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    composite=composed.tensorsolve,
    variants="function",
    out=True,
)
