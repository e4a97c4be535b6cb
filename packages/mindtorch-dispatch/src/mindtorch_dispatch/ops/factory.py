"""Factories, fills."""

from ..decomp.copy import filled
from ..decomp.factory import between
from ..meta import copy, factory, ranges
from ..table import CORE, op

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIKE = f"*, {_OPTIONS}, MemoryFormat? memory_format=None"

op(
    f"empty.memory_format(SymInt[] size, *, {_OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
    factory.empty,
    variants="function",
)
op(
    f"empty_strided(SymInt[] size, SymInt[] stride, *, {_OPTIONS}) -> Tensor",
    factory.empty_strided,
    variants="function",
)
op(f"zeros(SymInt[] size, *, {_OPTIONS}) -> Tensor", factory.zeros, variants="function")
op(f"ones(SymInt[] size, *, {_OPTIONS}) -> Tensor", factory.sized, variants="function")
op(f"full(SymInt[] size, Scalar fill_value, *, {_OPTIONS}) -> Tensor", factory.full, variants="function")
op(f"scalar_tensor(Scalar s, *, {_OPTIONS}) -> Tensor", factory.scalar_tensor, variants="function")
op(f"empty_like(Tensor self, {_LIKE}) -> Tensor", factory.like, variants="function")
op(f"zeros_like(Tensor self, {_LIKE}) -> Tensor", factory.like, variants="function")
op(f"ones_like(Tensor self, {_LIKE}) -> Tensor", factory.like, variants="function")
op(f"full_like(Tensor self, Scalar fill_value, {_LIKE}) -> Tensor", factory.full_like, variants="function")
op(f"new_empty(Tensor self, SymInt[] size, *, {_OPTIONS}) -> Tensor", factory.new, variants="method")
op(f"new_zeros(Tensor self, SymInt[] size, *, {_OPTIONS}) -> Tensor", factory.new, variants="method")
op(f"new_ones(Tensor self, SymInt[] size, *, {_OPTIONS}) -> Tensor", factory.new, variants="method")
op(
    f"new_full(Tensor self, SymInt[] size, Scalar fill_value, *, {_OPTIONS}) -> Tensor",
    factory.new_full,
    variants="method",
)
op(
    f"new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, {_OPTIONS}) -> Tensor",
    factory.new_empty_strided,
    variants="method",
)
op(f"arange(Scalar end, *, {_OPTIONS}) -> Tensor", ranges.arange_end, variants="function", static=True)
op(
    f"arange.start(Scalar start, Scalar end, *, {_OPTIONS}) -> Tensor",
    ranges.arange_start,
    variants="function",
    static=True,
)
op(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {_OPTIONS}) -> Tensor",
    ranges.arange_step,
    variants="function",
    static=True,
)
for _name, _base in (("linspace", ""), ("logspace", "float base=10., ")):
    for _start, _end in (("Tensor", "Tensor"), ("Tensor", "Scalar"), ("Scalar", "Tensor")):
        op(
            f"{_name}.{_start}_{_end}({_start} start, {_end} end, int steps, {_base}*, {_OPTIONS}) -> Tensor",
            composite=between(_name),
            variants="function",
            out=True,
        )
op(f"linspace(Scalar start, Scalar end, int steps, *, {_OPTIONS}) -> Tensor", ranges.linspace, variants="function")
op(
    f"logspace(Scalar start, Scalar end, int steps, float base=10., *, {_OPTIONS}) -> Tensor",
    ranges.logspace,
    variants="function",
)
op(
    f"range.step(Scalar start, Scalar end, Scalar step=1, *, {_OPTIONS}) -> Tensor",
    ranges.range_step,
    variants="function",
    static=True,
)
op(f"range(Scalar start, Scalar end, *, {_OPTIONS}) -> Tensor", ranges.range_, variants="function", static=True)
op(
    f"empty_permuted(SymInt[] size, int[] physical_layout, *, {_OPTIONS}) -> Tensor",
    factory.empty_permuted,
    variants="function",
)
op(f"eye(SymInt n, *, {_OPTIONS}) -> Tensor", factory.eye, variants="function")
op(f"eye.m(SymInt n, SymInt m, *, {_OPTIONS}) -> Tensor", factory.eye_m, variants="function")

op("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", copy.fill_, tags={CORE})
op("fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", copy.fill_)
op("zero_(Tensor(a!) self) -> Tensor(a!)", copy.fill_)
for _value in ("Scalar", "Tensor"):
    op(f"fill.{_value}(Tensor self, {_value} value) -> Tensor", composite=filled, variants="function")
