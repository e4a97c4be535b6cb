"""Joining, repeating and reordering: shapes change, values do not."""

from ..apart import NOTHING_SHARED
from ..decomp import join as composed
from ..decomp.alias import alias_of
from ..meta import join as rules
from ..table import CORE, op

op("cat(Tensor[] tensors, int dim=0) -> Tensor", rules.cat, tags={CORE}, variants="function")
op("concat(Tensor[] tensors, int dim=0) -> Tensor", composite=alias_of("cat"), out=True, variants="function")
op("concatenate(Tensor[] tensors, int dim=0) -> Tensor", composite=alias_of("cat"), out=True, variants="function")
op(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    composite=composed.stack,
    out=True,
    variants="function",
    apart=NOTHING_SHARED,
)
for _name in ("hstack", "vstack", "dstack", "row_stack", "column_stack"):
    op(
        f"{_name}(Tensor[] tensors) -> Tensor",
        composite=getattr(composed, _name),
        out=True,
        variants="function",
        apart=NOTHING_SHARED,
    )
for _name in ("hsplit", "vsplit", "dsplit"):
    op(f"{_name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", composite=getattr(composed, _name))
    op(f"{_name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", composite=getattr(composed, _name))
op(
    "tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
    composite=composed.tensor_split,
)
op(
    "tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
    composite=composed.tensor_split,
)
op(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
    composite=composed.tensor_split_by_tensor,
)
for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    op(f"{_name}(Tensor self) -> Tensor", composite=getattr(composed, _name), variants="function")
    op(f"{_name}.Sequence(Tensor[] tensors) -> Tensor[]", composite=getattr(composed, _name), variants="function")
op("repeat(Tensor self, SymInt[] repeats) -> Tensor", rules.repeat, variants="method")
op("tile(Tensor self, SymInt[] dims) -> Tensor", composite=composed.tile)
op(
    "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    composite=composed.repeat_interleave_places,
    variants="function",
)
op(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    composite=composed.repeat_interleave,
)
op(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    composite=composed.repeat_interleave,
)
op("flip(Tensor self, int[] dims) -> Tensor", rules.flip, tags={CORE})
op("fliplr(Tensor self) -> Tensor", composite=composed.fliplr)
op("flipud(Tensor self) -> Tensor", composite=composed.flipud)
op("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", rules.roll, tags={CORE})
op("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", composite=composed.rot90)
op("tril(Tensor self, int diagonal=0) -> Tensor", rules.tril, tags={CORE})
op("triu(Tensor self, int diagonal=0) -> Tensor", rules.triu, tags={CORE})
op("diag(Tensor self, int diagonal=0) -> Tensor", composite=composed.diag, out=True)
op("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", composite=composed.diag_embed)
op("diagflat(Tensor self, int offset=0) -> Tensor", composite=composed.diagflat)
op("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", composite=composed.unflatten)
op("ravel(Tensor(a) self) -> Tensor(a)", composite=composed.ravel)
op(
    "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
    rules.scattered_back,
    variants="",
)
op(
    "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
    rules.scattered_back,
    variants="",
)
op(
    "as_strided_backward(Tensor grad, SymInt[] input_sizes, SymInt[] input_strides, SymInt[] size, SymInt[] stride, "
    "SymInt storage_offset) -> Tensor",
    rules.as_strided_back,
    variants="",
)
op(
    "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, SymInt size, SymInt step) -> Tensor",
    rules.unfold_back,
    variants="",
)
op(
    "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
    rules.scattered_back,
    variants="",
)
for _name, _arguments in (
    ("select", "int dim, SymInt index"),
    ("slice", "int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1"),
    ("diagonal", "int offset=0, int dim1=0, int dim2=1"),
    ("as_strided", "SymInt[] size, SymInt[] stride, SymInt? storage_offset=None"),
):
    op(
        f"{_name}_scatter(Tensor self, Tensor src, {_arguments}) -> Tensor",
        composite=composed.scatter_of(_name),
        out=True,
    )
op(
    "_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
    composite=composed.chunk_cat,
    variants="function",
    out=True,
    apart=rules.chunk_cat_apart,
)
