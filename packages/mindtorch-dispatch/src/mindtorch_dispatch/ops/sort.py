"""Sorting and searching."""

from ..apart import ELEMENTWISE
from ..decomp import sort as composed
from ..meta import sort as rules
from ..meta.packs import pack
from ..table import CORE, op

_PAIR = "(Tensor values, Tensor indices)"
_SORT = pack("sort", "values indices")
op(
    f"sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> {_PAIR}",
    rules.sort_stable,
    pack=_SORT,
    tags={CORE},
)
op(f"sort(Tensor self, int dim=-1, bool descending=False) -> {_PAIR}", rules.sort, pack=_SORT, tags={CORE})
op(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    composite=composed.argsort_stable,
    out=True,
)
op("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", composite=composed.argsort)
op("msort(Tensor self) -> Tensor", composite=composed.msort, out=True, apart=ELEMENTWISE)
op(
    f"topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> {_PAIR}",
    rules.topk,
    pack=pack("topk", "values indices"),
    tags={CORE},
)
_SEARCH = "*, bool out_int32=False, bool right=False"
op(
    f"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, {_SEARCH}, str? side=None, Tensor? sorter=None) -> "
    "Tensor",
    rules.searchsorted,
    variants="function",
)
op(
    f"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, {_SEARCH}, str? side=None, Tensor? sorter=None) -> "
    "Tensor",
    rules.searchsorted,
    variants="function",
)
op(f"bucketize.Tensor(Tensor self, Tensor boundaries, {_SEARCH}) -> Tensor", rules.bucketize, variants="function")
op(
    f"bucketize.Scalar(Scalar self, Tensor boundaries, {_SEARCH}) -> Tensor",
    rules.bucketize,
    variants="function",
    out=False,
)
_ISIN = "*, bool assume_unique=False, bool invert=False"
op(f"isin.Tensor_Tensor(Tensor elements, Tensor test_elements, {_ISIN}) -> Tensor", rules.isin, variants="function")
op(f"isin.Scalar_Tensor(Scalar element, Tensor test_elements, {_ISIN}) -> Tensor", rules.isin, variants="function")
op(f"isin.Tensor_Scalar(Tensor elements, Scalar test_element, {_ISIN}) -> Tensor", rules.isin, variants="function")
