"""What a tensor says about itself, and the marks that Python leaves on new tensors: ops that handlers see."""

from ..decomp import introspection as composed
from ..decomp import lazy_clone, recording
from ..table import op

op("lift(Tensor self) -> Tensor", composite=composed.same, variants="")
op("lift_fresh(Tensor(a) self) -> Tensor(a)", composite=composed.same, variants="")
op("lift_fresh_copy(Tensor self) -> Tensor", composite=composed.copied, variants="")
op("_lazy_clone(Tensor self) -> Tensor", composite=lazy_clone.lazily_cloned)
op("_local_scalar_dense(Tensor self) -> Scalar", composite=composed.local_scalar, variants="")
op("is_same_size(Tensor self, Tensor other) -> bool", composite=composed.is_same_size, variants="")
op("_has_same_storage_numel(Tensor self, Tensor other) -> bool", composite=composed.has_same_storage_numel, variants="")
op(
    "_new_zeros_with_same_feature_meta(Tensor self, Tensor other, *, int self_num_batch_dims=0) -> Tensor",
    composite=composed.new_zeros_with_same_feature_meta,
    variants="",
)
op("_pin_memory(Tensor self, Device? device=None) -> Tensor", composite=composed.pinned, variants="")
op("is_pinned(Tensor self, Device? device=None) -> bool", composite=composed.is_pinned, variants="")
for _name, _result, _composed in (
    ("sym_size", "SymInt[]", composed.size),
    ("sym_stride", "SymInt[]", composed.stride),
    ("sym_numel", "SymInt", composed.numel),
    ("sym_storage_offset", "SymInt", composed.storage_offset),
    ("dim", "int", composed.dim),
    ("is_contiguous", "bool", composed.is_contiguous),
    ("prim::device", "Device", composed.device),
    ("prim::layout", "Layout", composed.layout),
):
    op(f"{_name}(Tensor self) -> {_result}", composite=_composed, variants="")
op("sym_size.int(Tensor self, int dim) -> SymInt", composite=composed.size_of, variants="")
op("sym_stride.int(Tensor self, int dim) -> SymInt", composite=composed.stride_of, variants="")
op("profiler::_record_function_enter(str name, str? args=None) -> Tensor", composite=recording.enter, variants="")
op("profiler::_record_function_exit(Tensor handle) -> ()", composite=recording.leave, variants="")
