"""Counting values into bins."""

from ..decomp import histogram as composed
from ..meta import histogram as rules
from ..meta.packs import pack
from ..table import DYNAMIC, op

op("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", rules.histc, static=("min", "max"))
_REST = "Tensor? weight=None, bool density=False"
_PAIR = "(Tensor hist, Tensor bin_edges)"
_MANY = "(Tensor hist, Tensor[] bin_edges)"
op(
    f"histogram.bins_tensor(Tensor self, Tensor bins, *, {_REST}) -> {_PAIR}",
    composite=composed.histogram_edges,
    pack=pack("histogram", "hist bin_edges"),
    out=True,
)
op(
    f"histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, {_REST}) -> {_PAIR}",
    composite=composed.histogram_count,
    pack=pack("histogram", "hist bin_edges"),
    out=True,
)
op(
    f"histogramdd(Tensor self, int[] bins, float[]? range=None, {_REST}) -> {_MANY}",
    composite=composed.histogramdd,
    pack=pack("histogramdd", "hist bin_edges"),
    variants="function",
)
op(
    f"histogramdd.int_bins(Tensor self, int bins, float[]? range=None, {_REST}) -> {_MANY}",
    composite=composed.histogramdd,
    pack=pack("histogramdd", "hist bin_edges"),
    variants="function",
)
op(
    f"histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, {_REST}) -> {_MANY}",
    composite=composed.histogramdd_edges,
    pack=pack("histogramdd", "hist bin_edges"),
    variants="function",
)
op(
    f"_histogramdd_bin_edges(Tensor self, int[] bins, *, float[]? range=None, {_REST}) -> Tensor[]",
    composite=composed.bin_edges,
    variants="function",
)
op(
    f"_histogramdd_from_bin_cts(Tensor self, int[] bins, *, float[]? range=None, {_REST}) -> Tensor",
    composite=composed.from_counts,
    variants="function",
)
op(
    f"_histogramdd_from_bin_tensors(Tensor self, Tensor[] bins, *, {_REST}) -> Tensor",
    rules.histogramdd,
    variants="function",
)
op(
    "bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor",
    rules.bincount,
    tags={DYNAMIC},
    out=False,
)
