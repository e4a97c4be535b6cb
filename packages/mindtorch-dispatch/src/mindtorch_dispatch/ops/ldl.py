"""Factors of symmetric matrices that need not be positive."""

from ..decomp import ldl as composed
from ..meta import ldl as rules
from ..meta.packs import pack
from ..table import op

op(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    rules.ldl_factor,
    pack=pack("linalg_ldl_factor_ex", "LD pivots info"),
    variants="function",
)
op(
    "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    composite=composed.ldl_factor,
    pack=pack("linalg_ldl_factor", "LD pivots"),
    variants="function",
    out=True,
)
op(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    rules.ldl_solve,
    variants="function",
)
