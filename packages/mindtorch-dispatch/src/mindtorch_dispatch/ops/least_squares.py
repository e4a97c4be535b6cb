"""Least squares."""

from ..meta import least_squares as rules
from ..meta.packs import pack
from ..table import DYNAMIC, op

op(
    "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    rules.lstsq,
    pack=pack("linalg_lstsq", "solution residuals rank singular_values"),
    variants="function",
    tags={DYNAMIC},
)
