"""Elements chosen by masks, and the positions where masks hold."""

from ..apart import NOTHING_SHARED
from ..decomp import index as composed
from ..meta import mask as rules
from ..table import CORE, DYNAMIC, op

op("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", rules.masked_fill, tags={CORE})
op("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", rules.masked_fill)
op("masked_select(Tensor self, Tensor mask) -> Tensor", rules.masked_select, tags={CORE, DYNAMIC})
op("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", rules.masked_scatter)
op("nonzero(Tensor self) -> Tensor", rules.nonzero, tags={CORE, DYNAMIC})
# Python alone has this overload; its result is a tuple when `as_tuple` holds.
op(
    "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor",
    composite=composed.nonzero_as_tuple,
    out=True,
    apart=NOTHING_SHARED,
)
op("nonzero_numpy(Tensor self) -> Tensor[]", composite=composed.where_positions, variants="")
op("argwhere(Tensor self) -> Tensor", composite=composed.argwhere)
op("where(Tensor condition) -> Tensor[]", composite=composed.where_positions)
op(
    "nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
    rules.nonzero_static,
    out=True,
    apart=NOTHING_SHARED,
)
