"""Triangular systems."""

from ..meta import triangular as rules
from ..meta.packs import pack
from ..table import op

op(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    rules.solve_triangular,
    variants="function",
)
op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) "
    "-> (Tensor solution, Tensor cloned_coefficient)",
    rules.triangular_solve,
    pack=pack("triangular_solve", "solution cloned_coefficient"),
)
