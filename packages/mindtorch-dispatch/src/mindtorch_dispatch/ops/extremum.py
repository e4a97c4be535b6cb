"""Smallest and largest values, and where they are."""

from ..apart import ELEMENTWISE
from ..decomp import extremum as composed
from ..meta import extremum as rules
from ..meta.packs import pack
from ..table import CORE, op

for _name in ("amax", "amin"):
    op(f"{_name}(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", rules.extreme_dims(_name), tags={CORE})
op(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    rules.aminmax,
    pack=pack("aminmax", "min max"),
)
for _name in ("max", "min"):
    op(f"{_name}(Tensor self) -> Tensor", rules.extreme_all(_name))
    op(
        f"{_name}.other(Tensor self, Tensor other) -> Tensor",
        composite=composed.larger_or_smaller(_name),
        out=True,
        apart=ELEMENTWISE,
    )
    op(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        rules.extreme_dim(_name),
        pack=pack(_name, "values indices"),
        tags={CORE},
    )
for _name in ("argmax", "argmin"):
    op(f"{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", rules.position(_name), tags={CORE})
