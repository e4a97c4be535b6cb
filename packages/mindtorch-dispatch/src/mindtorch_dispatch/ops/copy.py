"""Copies and conversions."""

from ..decomp import copy as composed
from ..meta import copy as rules
from ..table import COPIES, CORE, op

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

op("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", rules.clone, tags={CORE, COPIES})
op(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    rules.copy_,
    tags={CORE},
    variants="method",
)
op(
    f"_to_copy(Tensor self, *, {_OPTIONS}, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
    rules.to_copy,
    tags={CORE, COPIES},
    variants="function",
)
op(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
    composite=composed.contiguous,
    variants="method",
)
op(
    "to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    composite=composed.to_device,
    variants="method",
)
op(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    composite=composed.to_dtype,
    variants="method",
)
op(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, *, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    composite=composed.to_other,
    variants="method",
)
op(
    f"to.dtype_layout(Tensor(a) self, *, {_OPTIONS}, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    composite=composed.to_options,
    variants="method",
)
op("type_as(Tensor self, Tensor other) -> Tensor", composite=composed.type_as, variants="method")
