"""Meta rule of products of groups of rows or columns, each group with a matrix of its own."""

from __future__ import annotations

from mindtorch_storage.dtype import bfloat16, float16, float32, int32
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from .checks import c_type, check
from .rule import meta_rule

_ALIGNMENT = 16
"""Bytes; rows of operands begin at multiples of it, and so do rows of the result."""


def _check_operands(self: Spec, mat2: Spec) -> None:
    for name, spec in (("mat_a", self), ("mat_b", mat2)):
        check(
            spec.dtype in (float32, bfloat16, float16),
            lambda name=name, spec=spec: (
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {spec.dtype.scalar_name}"
            ),
        )
    for name, spec in (("mat_a", self), ("mat_b", mat2)):
        check(spec.ndim in (2, 3), lambda name=name: f"{name} has to be 2 or 3d")
    if self.ndim == 3 or mat2.ndim == 3:
        check(self.shape[-1] == mat2.shape[-2], lambda: "contraction dimension of mat_a and mat_b must match")
    for spec in (self, mat2):
        _check_layout(spec)


def _check_layout(spec: Spec) -> None:
    """Raise unless one of the last two dimensions is dense and the other steps by whole alignments."""
    rows, columns = spec.shape[-2:]
    row_step, column_step = spec.stride[-2:]
    if row_step == 1 and column_step >= max(1, rows):
        step = column_step
    elif column_step == 1 and row_step >= max(1, columns):
        step = row_step
    else:
        shown = list(spec.stride), list(spec.shape)
        raise RuntimeError(f"Invalid strides/sizes, got {shown[0]} for strides and {shown[1]} for sizes")
    check(step * spec.dtype.itemsize % _ALIGNMENT == 0, lambda: "strides should be multiple of 16 bytes")


def _check_options(self: Spec, mat2: Spec, offs: Spec | None, bias: Spec | None, out_dtype: Dtype | None) -> None:
    check(
        (offs is not None) == (self.ndim == 2 or mat2.ndim == 2),
        lambda: "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d",
    )
    if offs is not None:
        check(offs.ndim == 1, lambda: "offs has to be 1D")
        check(offs.dtype is int32, lambda: "Offsets have to be int32")
    check(bias is None, lambda: "Bias not supported yet")
    check(out_dtype in (None, self.dtype), lambda: "Grouped gemm output dtype must match `mat_a` dtype")


def _result_shape(self: Spec, mat2: Spec, offs: Spec | None) -> tuple[int, ...]:
    rows, columns = self.shape[-2], mat2.shape[-1]
    groups = {spec.shape[0] for spec in (self, mat2) if spec.ndim == 3}
    if offs is not None:
        groups.add(offs.shape[0])
    check(
        len(groups) == 1,
        lambda: "batched dimension has to match" if offs is None else "matrix batch sizes have to match",
    )
    return (rows, columns) if self.ndim != mat2.ndim else (*groups, rows, columns)


@meta_rule()
def grouped_mm(self: Spec, mat2: Spec, offs: Spec | None, bias: Spec | None, out_dtype: Dtype | None) -> Spec:
    """`_grouped_mm`: 2-d operands are cut at the offsets, 3-d ones are a group each."""
    _check_operands(self, mat2)
    _check_options(self, mat2, offs, bias, out_dtype)
    shape = _result_shape(self, mat2, offs)
    if self.dtype is not mat2.dtype:
        ours, other = c_type(self.dtype), c_type(mat2.dtype)
        raise RuntimeError(
            f"Expected out tensor to have dtype {other}, but got {ours} instead"
            if self.ndim == mat2.ndim == 3
            else f"expected m1 and m2 to have the same dtype, but got: {ours} != {other}"
        )
    unit = _ALIGNMENT // self.dtype.itemsize
    step = -(-shape[-1] // unit) * unit
    strides = (shape[-2] * step, step, 1)[-len(shape) :]
    return Spec.of(self.dtype, self.device, shape, strides)
