"""Views: rows without kernels."""

from ..decomp import view as composed
from ..meta import view as rules
from ..table import op

op("alias(Tensor(a) self) -> Tensor(a)", rules.alias, variants="")
op("detach(Tensor(a) self) -> Tensor(a)", rules.alias, tags={"detach"})
op("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", rules.view, variants="method")
op("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", rules.view_dtype, variants="method")
op("_unsafe_view(Tensor self, SymInt[] size) -> Tensor", rules.view, variants="function")
op(
    "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
    rules.reshape_alias,
    variants="function",
)
op("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", rules.expand, variants="method")
op("permute(Tensor(a) self, int[] dims) -> Tensor(a)", rules.permute)
op("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", rules.transpose)
op("t(Tensor(a) self) -> Tensor(a)", rules.t)
op("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", rules.unsqueeze)
op("squeeze(Tensor(a) self) -> Tensor(a)", rules.squeeze)
op("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", rules.squeeze_dim)
op("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", rules.squeeze_dims)
op(
    "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    rules.select,
    moves={"index"},
)
op(
    "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    rules.slice_,
    key=rules.slice_key,
    variants="",
)
op(
    "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
    rules.as_strided,
)
op(
    "slice_inverse(Tensor(a) self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
    composite=composed.slice_inverse,
)
op("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", rules.unbind)
op("split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", rules.split)
op(
    "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
    rules.split_with_sizes,
)
op("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", rules.unfold, variants="method")
op("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", rules.diagonal)

op("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", composite=composed.reshape)
op("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", composite=composed.view_as, variants="method")
op("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", composite=composed.reshape_as, variants="method")
op("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", composite=composed.expand_as, variants="method")
op("broadcast_tensors(Tensor[] tensors) -> Tensor[]", composite=composed.broadcast_tensors, variants="function")
op("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", composite=composed.flatten)
op("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", composite=composed.narrow)
op("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", composite=composed.chunk)
op(
    "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    composite=composed.split_sizes,
)
op("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", composite=composed.movedim)
op("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", composite=composed.movedim)
op("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", composite=composed.transpose)
op("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", composite=composed.transpose)
op("numpy_T(Tensor(a) self) -> Tensor(a)", composite=composed.reverse_dims, variants="")
op("mT(Tensor(a) self) -> Tensor(a)", composite=composed.matrix_transpose, variants="")
op("broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", composite=composed.broadcast_to)
op("narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)", composite=composed.narrow_tensor)
op("moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", composite=composed.movedim)
op("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", composite=composed.movedim)
op("adjoint(Tensor(a) self) -> Tensor(a)", composite=composed.adjoint)
op("mH(Tensor(a) self) -> Tensor(a)", composite=composed.conjugate_transpose, variants="")
op("matrix_H(Tensor(a) self) -> Tensor(a)", composite=composed.matrix_h, variants="")
op("sum_to_size(Tensor self, SymInt[] size) -> Tensor", composite=composed.sum_to_size, variants="method")
op("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", composite=composed.unsafe_chunk)
op("unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", composite=composed.unsafe_split)
op(
    "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
    composite=composed.unsafe_split_with_sizes,
)

op("squeeze_(Tensor(a!) self) -> Tensor(a!)", rules.squeeze, variants="method")
op("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", rules.squeeze_dim, variants="method")
op("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)", rules.squeeze_dims, variants="method")
op("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", rules.unsqueeze, variants="method")
op("t_(Tensor(a!) self) -> Tensor(a!)", rules.t_, variants="method")
op("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", rules.transpose, variants="method")
op("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", composite=composed.transpose_, variants="method")
op("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", composite=composed.transpose_, variants="method")
op(
    "as_strided_(Tensor(a!) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a!)",
    rules.as_strided,
)
