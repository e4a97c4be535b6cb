"""Meta rules of matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..apart import COLUMN, COPIED, NOTHING_SHARED_AFTER, PARTLY, Apart
from ..typing import Scalar
from .checks import c_type, check, shape_text, wrap_dim, wrap_dims
from .pointwise import broadcast_spec, check_integral_number, promoted
from .rule import MetaRule, Outputs, meta_rule
from .support import BOOL_NAMES, WIDE_UNSIGNED, limited, refuse
from .view import expand

product_rule = meta_rule(out=True, exact=True)
NO_PRODUCTS = BOOL_NAMES | WIDE_UNSIGNED
"""Dtypes that no kernel multiplies matrices of."""
summing_rule = meta_rule(inplace=True, out=True, exact=True, apart=Apart("", {0: COPIED}))


def check_inner(mat1: Spec, mat2: Spec) -> None:
    """Raise torch's error unless the two matrices can be multiplied."""
    check(
        mat1.shape[1] == mat2.shape[0],
        lambda: (
            f"mat1 and mat2 shapes cannot be multiplied ({mat1.shape[0]}x{mat1.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        ),
    )


@product_rule
def mm(self: Spec, mat2: Spec) -> Spec:
    """`mm`: (n, k) x (k, m)."""
    check(self.ndim == 2, lambda: "self must be a matrix")
    check(mat2.ndim == 2, lambda: "mat2 must be a matrix")
    check_inner(self, mat2)
    check(
        self.dtype is mat2.dtype,
        lambda: f"expected m1 and m2 to have the same dtype, but got: {c_type(self.dtype)} != {c_type(mat2.dtype)}",
    )
    refuse(self, "addmm_impl_cpu_", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, (self.shape[0], mat2.shape[1]))


@meta_rule(
    out=True,
    exact=lambda spec, given: f"int_mm_out_cpu: Expected result dtype to be of type kInt but got {c_type(given)}",
)
def int_mm(self: Spec, mat2: Spec) -> Spec:
    """`_int_mm`: bytes by bytes, summed in int32."""
    name = "int_mm_out_cpu: Expected"
    check(self.ndim == 2, lambda: f"{name} self to be of dimension 2 but got {self.ndim}")
    wrap_dim(1, mat2.ndim)
    check(mat2.ndim == 2, lambda: f"{name} mat2 to be of dimension 2 but got {mat2.ndim}")
    check(
        self.shape[1] == mat2.shape[0],
        lambda: f"int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got {self.shape[1]} and {mat2.shape[0]}",
    )
    check(
        self.dtype.name in ("int8", "uint8"),
        lambda: f"{name} self dtype to be int8 or uint8 but got {c_type(self.dtype)}",
    )
    check(mat2.dtype.name == "int8", lambda: f"{name} mat2 dtype to be of type int8 but got {c_type(mat2.dtype)}")
    return Spec.of(int32, self.device, (self.shape[0], mat2.shape[1]))


def _batched(batch1: Spec, batch2: Spec) -> tuple[int, int, int]:
    check(batch1.ndim == 3, lambda: "batch1 must be a 3D tensor")
    check(batch2.ndim == 3, lambda: "batch2 must be a 3D tensor")
    count, rows, inner = batch1.shape
    check(
        tuple(batch2.shape[:2]) == (count, inner),
        lambda: (
            f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {inner}] but got: "
            f"[{batch2.shape[0]}, {batch2.shape[1]}]."
        ),
    )
    return count, rows, batch2.shape[2]


def _check_scalar_types(first: Spec, second: Spec) -> None:
    check(
        first.dtype is second.dtype,
        lambda: f"expected scalar type {first.dtype.scalar_name} but found {second.dtype.scalar_name}",
    )


@product_rule
def bmm(self: Spec, mat2: Spec) -> Spec:
    """`bmm`: (b, n, k) x (b, k, m)."""
    shape = _batched(self, mat2)
    _check_scalar_types(self, mat2)
    refuse(self, "bmm", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, shape)


def check_expands(self: Spec, shape: tuple[int, ...]) -> None:
    """Raise torch's `expand` error unless `self` broadcasts to `shape`."""
    if self.shape != shape:
        expand(self, shape)


def _check_same_dtypes(self: Spec, mat1: Spec, mat2: Spec) -> None:
    """Raise torch's error unless the sum and both matrices have one dtype; the sum is looked at first."""
    for name, spec in (("self", self), ("mat1", mat1)):
        check(
            spec.dtype is mat2.dtype,
            lambda name=name, spec=spec: (
                f"{name} and mat2 must have the same dtype, but got {spec.dtype.scalar_name} and {mat2.dtype.scalar_name}"
            ),
        )


@summing_rule
def addmm(self: Spec, mat1: Spec, mat2: Spec, beta: Scalar = 1, alpha: Scalar = 1) -> Spec:
    """`addmm`: beta * self + alpha * (mat1 @ mat2)."""
    _check_same_dtypes(self, mat1, mat2)
    for name, spec in (("mat1", mat1), ("mat2", mat2)):
        check(spec.ndim == 2, lambda name=name, spec=spec: f"{name} must be a matrix, got {spec.ndim}-D tensor")
    check_inner(mat1, mat2)
    shape = (mat1.shape[0], mat2.shape[1])
    check_expands(self, shape)
    refuse(self, "addmm_impl_cpu_", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, shape)


@summing_rule
def baddbmm(self: Spec, batch1: Spec, batch2: Spec, beta: Scalar = 1, alpha: Scalar = 1) -> Spec:
    """`baddbmm`: beta * self + alpha * (batch1 @ batch2), matrix by matrix."""
    wrap_dim(1, batch1.ndim)
    wrap_dim(2, batch2.ndim)
    shape = _batched(batch1, batch2)
    check_expands(self, shape)
    check(
        self.dtype is batch1.dtype,
        lambda: (
            f"Input dtypes must be the same, got: input {c_type(self.dtype)}, batch1: {c_type(batch1.dtype)}, "
            f"batch2: {c_type(batch2.dtype)}"
        ),
    )
    _check_scalar_types(batch1, batch2)
    refuse(self, "baddbmm", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, shape)


@summing_rule
def addbmm(self: Spec, batch1: Spec, batch2: Spec, beta: Scalar = 1, alpha: Scalar = 1) -> Spec:
    """`addbmm`: beta * self + alpha * the sum of the matrix products."""
    wrap_dim(1, batch1.ndim)
    wrap_dim(2, batch2.ndim)
    shape = (batch1.shape[1], batch2.shape[2])
    check_expands(self, shape)
    check(
        batch1.shape[0] == batch2.shape[0],
        lambda: f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and {batch2.shape[0]}",
    )
    check(
        batch1.shape[2] == batch2.shape[1],
        lambda: (
            f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and {batch2.shape[1]}x"
            f"{batch2.shape[2]})"
        ),
    )
    _check_same_dtypes(self, batch1, batch2)
    refuse(self, "addmm_impl_cpu_", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, shape)


def _matrix_vector(self_size: tuple[int, ...], self: Dtype, mat: Spec, vec: Spec) -> Spec:
    check(
        mat.ndim == 2 and vec.ndim == 1 and len(self_size) <= 1,
        lambda: f"vector + matrix @ vector expected, got {len(self_size)}, {mat.ndim}, {vec.ndim}",
    )
    rows = self_size[0] if self_size else 1
    check(
        mat.shape[1] == vec.shape[0] and rows in (1, mat.shape[0]),
        lambda: f"size mismatch, got input ({rows}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})",
    )
    check(
        mat.dtype is vec.dtype and vec.dtype is self,
        lambda: (
            f"addmv input tensors must have the same dtype, but got {self.scalar_name}, {mat.dtype.scalar_name}, "
            f"and {vec.dtype.scalar_name}"
        ),
    )
    refuse(mat, "addmv_impl_cpu", NO_PRODUCTS)
    return Spec.of(mat.dtype, mat.device, (mat.shape[0],))


@product_rule
def mv(self: Spec, vec: Spec) -> Spec:
    """`mv`: matrix times vector."""
    return _matrix_vector((self.shape[0] if self.ndim else 1,), vec.dtype, self, vec)


@summing_rule
def addmv(self: Spec, mat: Spec, vec: Spec, beta: Scalar = 1, alpha: Scalar = 1) -> Spec:
    """`addmv`: beta * self + alpha * (mat @ vec)."""
    return _matrix_vector(tuple(self.shape), self.dtype, mat, vec)


@product_rule
def dot(self: Spec, other: Spec) -> Spec:
    """`dot`, `vdot`: inner product of two vectors."""
    check(
        self.ndim == 1 and other.ndim == 1,
        lambda: f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors",
    )
    check(
        self.dtype is other.dtype,
        lambda: (
            f"dot : expected both vectors to have same dtype, but found {self.dtype.scalar_name} and "
            f"{other.dtype.scalar_name}"
        ),
    )
    check(
        self.numel == other.numel,
        lambda: (
            f"inconsistent tensor size, expected tensor {shape_text(self.shape)} and src {shape_text(other.shape)} "
            f"to have the same number of elements, but got {self.numel} and {other.numel} elements respectively"
        ),
    )
    refuse(self, "dot", NO_PRODUCTS)
    return Spec.of(self.dtype, self.device, ())


def _addr(self: Spec, vec1: Spec, vec2: Spec, beta: Any = 1, alpha: Any = 1) -> Outputs:
    for name, spec in (("vec1", vec1), ("vec2", vec2)):
        check(spec.ndim == 1, lambda name=name, spec=spec: f"addr: Expected 1-D argument {name}, but got {spec.ndim}-D")
    shape = (vec1.shape[0], vec2.shape[0])
    check_expands(self, shape)
    compute = promoted((self, vec1, vec2))
    check_integral_number(compute, "beta", beta)
    check_integral_number(compute, "alpha", alpha)
    column = Spec.of(vec1.dtype, vec1.device, (shape[0], 1), (vec1.stride[0], 1))
    return Outputs(broadcast_spec([self, column, vec2], compute), cast=compute)


addr = limited(MetaRule(_addr, inplace=True, out=True, apart=Apart(PARTLY, {0: COPIED, 1: COLUMN})), "addr_cpu")
"""`addr`: beta * self + alpha * the outer product; promotes."""


@meta_rule(out=True, exact=True, apart=NOTHING_SHARED_AFTER)
def cross(self: Spec, other: Spec, dim: int = -1) -> Outputs:
    """`linalg_cross`."""
    check(self.ndim == other.ndim, lambda: "linalg.cross: inputs must have the same number of dimensions.")
    wrapped = wrap_dim(dim, self.ndim)
    check(
        self.ndim > 0 and self.shape[wrapped] == 3 and other.shape[wrapped] == 3,
        lambda: (
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self.shape[wrapped]} and "
            f"{other.shape[wrapped]}"
        ),
    )
    shape = broadcast_shapes(self.shape, other.shape)
    refuse(self, "cross", NO_PRODUCTS)
    _check_scalar_types(self, other)
    return Outputs(Spec.of(self.dtype, self.device, shape), values=(self, other, wrapped))


def _inserted(spec: Spec, dims: Sequence[int]) -> list[int]:
    shape = list(spec.shape)
    for dim in dims:
        shape.insert(dim, 1)
    return shape


@meta_rule()
def trilinear(
    i1: Spec,
    i2: Spec,
    i3: Spec,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Outputs:
    """`_trilinear`: the sum over `sumdim` of the product of three operands with inserted dimensions."""
    total = i1.ndim + len(expand1)
    check(0 <= unroll_dim < total, lambda: f"unroll_dim must be in [0,{total - 1}]")
    wrapped = [sorted(wrap_dims(dims, total)) if dims else [] for dims in (expand1, expand2, expand3, sumdim)]
    operands = (i1, i2, i3)
    for operand, inserted in zip(operands, wrapped, strict=False):
        if operand.ndim + len(inserted) != total:
            wrap_dim(total - 1 - len(inserted), operand.ndim)
    shape = broadcast_shapes(*[_inserted(one, dims) for one, dims in zip(operands, wrapped, strict=False)])
    spec = Spec.of(i1.dtype, i1.device, tuple(extent for dim, extent in enumerate(shape) if dim not in wrapped[3]))
    return Outputs(spec, values=(*operands, *wrapped, unroll_dim))
