"""Grids, combinations and matrices made of vectors."""

from ..decomp import grid as composed
from ..meta import grid as rules
from ..table import op

op("meshgrid(Tensor[] tensors) -> Tensor[]", composite=composed.meshgrid, variants="function")
op("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", composite=composed.meshgrid, variants="function")
op("cartesian_prod(Tensor[] tensors) -> Tensor", composite=composed.cartesian_prod, variants="function")
op(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    composite=composed.combinations,
    variants="function",
)
op("block_diag(Tensor[] tensors) -> Tensor", rules.block_diag, variants="function", out=False)
op("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", composite=composed.vander, variants="function")
op("linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", composite=composed.linalg_vander, variants="function")
for _name in ("tril_indices", "triu_indices"):
    op(
        f"{_name}(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor",
        getattr(rules, _name),
        variants="function",
    )
