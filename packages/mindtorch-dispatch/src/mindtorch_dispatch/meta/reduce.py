"""Meta rules of reductions: which dims go, what the result's dtype is, what the computation's dtype is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64, uint64
from mindtorch_storage.promotion import promote_types
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..defaults import get_default_dtype
from .checks import check, reduced_shape, wrap_dims
from .pointwise import checked, int_or_bool_to_long, no_bool_sub
from .rule import MetaRule, Outputs, before_kept_dims
from .support import COMPLEX, WIDE_UNSIGNED, refuse


def float_result(dtype: Dtype) -> Dtype:
    """Integral dtypes give the default float dtype."""
    return dtype if dtype.is_floating_point or dtype.is_complex else get_default_dtype()


def same(dtype: Dtype) -> Dtype:
    """The operand's dtype."""
    return dtype


def bool_result(dtype: Dtype) -> Dtype:
    """bool, except that uint8 stays uint8."""
    return dtype if dtype.name == "uint8" else bool_dtype


def reduced(self: Spec, dims: tuple[int, ...], keepdim: bool, dtype: Dtype) -> Spec:
    """Return the spec of `self` without `dims`."""
    return Spec.of(dtype, self.device, reduced_shape(self.shape, dims, keepdim))


def check_not_empty(self: Spec, dims: Sequence[int], name: str) -> None:
    """Raise torch's IndexError when a reduction without identity runs over no elements."""
    for dim in dims:
        check(
            self.ndim == 0 or self.shape[dim] != 0,
            lambda dim=dim: f"{name}: Expected reduction dim {dim} to have non-zero size.",
            IndexError,
        )


def full_reduction(
    result: Callable[[Dtype], Dtype], *, cast: bool = True, exact: Any = False, adopts: bool = False
) -> MetaRule:
    """Rule of `op(self, *, dtype=None)`: all dims. The kernel gets (self, dims, keepdim)."""

    def rule(self: Spec, dtype: Dtype | None = None) -> Outputs:
        chosen = dtype or result(self.dtype)
        dims = tuple(range(self.ndim))
        return Outputs(reduced(self, dims, False, chosen), cast=chosen if cast else None, values=(self, dims, False))

    return MetaRule(rule, out=True, exact=exact, adopts=adopts)


def dims_reduction(
    result: Callable[[Dtype], Dtype],
    *,
    cast: bool = True,
    empty_means_all: bool = True,
    exact: Any = False,
    adopts: bool = False,
) -> MetaRule:
    """Rule of `op(self, dim, keepdim=False, *, dtype=None)`; a missing list of dims means all of them.

    The kernel gets (self, dims, keepdim) with dims normalised. `empty_means_all`: so does an empty list.
    """

    def rule(self: Spec, dim: Any = None, keepdim: bool = False, dtype: Dtype | None = None) -> Outputs:
        chosen = dtype or result(self.dtype)
        none = not empty_means_all and isinstance(dim, (list, tuple)) and not dim
        dims = () if none else wrap_dims(dim, self.ndim)
        return Outputs(
            reduced(self, dims, keepdim, chosen), cast=chosen if cast else None, values=(self, dims, keepdim)
        )

    return MetaRule(rule, out=True, exact=exact, adopts=adopts, leading=before_kept_dims)


def _floating(dtype: Dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _check_mean(self: Spec, *rest: Any) -> None:
    given = rest[-1] if rest else None
    which, dtype = ("Optional", given) if given is not None else ("Input", self.dtype)
    check(
        _floating(dtype),
        lambda: (
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {dtype.scalar_name}"
        ),
    )


def _check_nansum(self: Spec, *rest: object) -> None:
    check(not self.dtype.is_complex, lambda: "nansum on CPU does not support complex inputs")


sum_dtype = int_or_bool_to_long

sum_all = full_reduction(sum_dtype)
"""`sum`, `prod`."""

sum_dims = dims_reduction(sum_dtype, exact=True, adopts=True)
"""`sum` over dims."""

prod_dim = dims_reduction(sum_dtype, exact=True, adopts=True)
"""`prod` over one dim."""

mean_all = checked(full_reduction(same, adopts=True), _check_mean)
"""`mean`."""

mean_dims = checked(dims_reduction(same, adopts=True), _check_mean)
"""`mean` over dims."""


def _nansum_dtype(spec: Spec, given: Dtype) -> str:
    return f"nansum: provided dtype must match dtype of result. Got {given.scalar_name} and {spec.dtype.scalar_name}."


nansum = checked(dims_reduction(sum_dtype, exact=_nansum_dtype, adopts=True), _check_nansum)
"""`nansum`."""


def _only_bool(name: str) -> Callable[[Spec, Dtype], str]:
    return lambda spec, target: f"{name} only supports bool tensor for result, got: {target.scalar_name}"


def logic_all(name: str) -> MetaRule:
    """Rule of `all(self)` and `any(self)`."""
    return full_reduction(bool_result, cast=False, exact=_only_bool(name))


def logic_dims(name: str) -> MetaRule:
    """Rule of `all` and `any` over dims; an empty list of dims reduces nothing."""
    return dims_reduction(bool_result, cast=False, empty_means_all=False, exact=_only_bool(name))


def _count_nonzero(self: Spec, dim: Any = None) -> Outputs:
    if dim is None or dim == []:
        refuse(self, "nonzero_count_cpu", WIDE_UNSIGNED)
    dims = wrap_dims(dim, self.ndim)
    return Outputs(reduced(self, dims, False, int64), values=(self, dims))


count_nonzero = MetaRule(_count_nonzero, out=True)
"""`count_nonzero`."""


def _check_norm_dtype(self: Spec, dtype: Dtype | None) -> None:
    check(
        _floating(self.dtype),
        lambda: (
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got " + self.dtype.scalar_name
        ),
    )
    if dtype is None:
        return
    check(
        _floating(dtype),
        lambda: f"linalg.vector_norm: dtype should be floating point or complex, but got {dtype.scalar_name}",
    )
    check(
        dtype.is_complex == self.dtype.is_complex,
        lambda: (
            "linalg.vector_norm: dtype should be "
            + ("complex for complex" if self.dtype.is_complex else "real for real")
            + f" inputs, but got {dtype.scalar_name}"
        ),
    )
    check(
        promote_types(self.dtype, dtype) is dtype,
        lambda: (
            f"linalg.vector_norm: the dtype of the input ({self.dtype.scalar_name}) should be convertible without "
            f"narrowing to the specified dtype ({dtype.scalar_name})"
        ),
    )


def _check_norm_order(self: Spec, order: Any, dim: object, dims: tuple[int, ...]) -> None:
    check(
        not isinstance(order, complex),
        lambda: "linalg.vector_norm: Expected a non-complex scalar as the order of norm.",
    )
    if self.numel == 0 and (order < 0 or order == math.inf):
        check(
            dim is not None and tuple(dim if isinstance(dim, (list, tuple)) else (dim,)) != (),
            lambda: (
                f"linalg.vector_norm cannot compute the {number_text(order)} norm on an empty tensor because the "
                "operation does not have an identity"
            ),
        )
        for one in dims:
            check(
                self.shape[one] != 0,
                lambda one=one: (
                    f"linalg.vector_norm cannot compute the {number_text(order)} norm on the dimension {one}"
                    "because this dimension is empty and the operation does not have an identity"
                ),
            )


def number_text(value: object) -> str:
    """Return a number as C++ streams print it."""
    return f"{value:g}"


def _vector_norm(
    self: Spec, order: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Dtype | None = None
) -> Outputs:
    _check_norm_dtype(self, dtype)
    dims = wrap_dims(dim, self.ndim)
    _check_norm_order(self, order, dim, dims)
    compute = dtype or self.dtype
    return Outputs(
        reduced(self, dims, keepdim, compute.to_real()), cast=compute, values=(self, float(order), dims, keepdim)
    )


vector_norm = MetaRule(_vector_norm, out=True, exact=True)
"""`linalg_vector_norm`."""


def _dist(self: Spec, other: Spec, p: Any = 2) -> Outputs:
    compute = no_bool_sub(self, other).cast
    shape = broadcast_shapes(self.shape, other.shape)
    check(
        _floating(compute),
        lambda: f"norm(): input dtype should be either floating point or complex. Got {compute.scalar_name} instead.",
    )
    dims = tuple(range(len(shape)))
    return Outputs(Spec.of(compute.to_real(), self.device, ()), cast=compute, values=(self, other, float(p), dims))


dist = MetaRule(_dist)
"""`dist`."""


def _hash_tensor(self: Spec, dim: Any = (), keepdim: bool = False, mode: int = 0) -> Outputs:
    check(mode == 0, lambda: f"Unknown hash_tensor mode: {mode}")
    dims = wrap_dims(dim, self.ndim)
    if dim == () or dim == []:
        check(
            self.numel > 0,
            lambda: (
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                "with the 'dim' argument."
            ),
        )
    check_not_empty(self, dims, "hash_tensor")
    refuse(self, "xor_sum_cpu", COMPLEX)
    return Outputs(reduced(self, dims, keepdim, uint64), values=(self, dims, keepdim))


hash_tensor = MetaRule(_hash_tensor, out=True)
"""`hash_tensor`."""
