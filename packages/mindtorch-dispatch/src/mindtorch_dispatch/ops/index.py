"""Indexing, gathering, scattering."""

from ..decomp import index as composed
from ..meta import index as rules
from ..meta import scatter
from ..table import CORE, DYNAMIC, op

op("_index_masked(Tensor self, Tensor?[] indices) -> Tensor", rules.index_dynamic, tags={DYNAMIC}, variants="")
op("_index_integer(Tensor self, Tensor?[] indices) -> Tensor", rules.index, tags={CORE}, variants="")
op("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", composite=composed.index, variants="")
op(
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    rules.index_put,
    tags={CORE},
)
op("_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", composite=composed.index, variants="function")
op("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", scatter.gather, tags={CORE})
op("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter.scatter, tags={CORE})
op("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", scatter.scatter)
op("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", scatter.scatter)
op("scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor", scatter.scatter)
op("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", scatter.scatter_add, tags={CORE})
op(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    scatter.scatter_reduce,
)
op(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
    rules.index_reduce,
)
op("index_select(Tensor self, int dim, Tensor index) -> Tensor", rules.index_select, tags={CORE})
op("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", rules.index_add)
op("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", rules.index_copy)
op("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", rules.index_fill)
op("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", rules.index_fill)
op("take(Tensor self, Tensor index) -> Tensor", rules.take)
op("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", rules.put)
op(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    composite=composed.take_along_dim,
    out=True,
    apart=composed.take_along_dim_apart,
)
op(
    "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    composite=composed.fill_diagonal_,
    variants="method",
)
op(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)",
    composite=composed.index_put_impl,
    variants="function",
)
op(
    "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
    composite=composed.unsafe_index_put,
    variants="function",
)
op(
    "_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
    composite=composed.unsafe_masked_index,
    variants="function",
)
op(
    "_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
    composite=composed.unsafe_masked_index_put_accumulate,
    variants="function",
)
