"""Meta rules of reductions: which dims go, what the result's dtype is, what the computation's dtype is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from ..defaults import get_default_dtype
from .checks import check, reduced_shape, wrap_dim, wrap_dims
from .pointwise import int_or_bool_to_long
from .rule import MetaRule, Outputs


def float_result(dtype: Dtype) -> Dtype:
    """Integral dtypes give the default float dtype."""
    return dtype if dtype.is_floating_point or dtype.is_complex else get_default_dtype()


def same(dtype: Dtype) -> Dtype:
    """The operand's dtype."""
    return dtype


def bool_result(dtype: Dtype) -> Dtype:
    """bool, except that uint8 stays uint8."""
    return dtype if dtype.name == "uint8" else bool_dtype


def long_result(dtype: Dtype) -> Dtype:
    """int64: positions."""
    return int64


def reduced(self: Spec, dims: tuple[int, ...], keepdim: bool, dtype: Dtype) -> Spec:
    """Return the spec of `self` without `dims`."""
    return Spec.of(dtype, self.device, reduced_shape(self.shape, dims, keepdim))


def check_not_empty(self: Spec, dims: tuple[int, ...], name: str) -> None:
    """Raise torch's IndexError when a reduction without identity runs over no elements."""
    for dim in dims:
        check(
            self.ndim == 0 or self.shape[dim] != 0,
            lambda dim=dim: f"{name}(): Expected reduction dim {dim} to have non-zero size.",
            IndexError,
        )


def full_reduction(result: Callable[[Dtype], Dtype], *, name: str = "", cast: bool = True) -> MetaRule:
    """Rule of `op(self, *, dtype=None)`: all dims. `name` set: no elements are an error."""

    def rule(self: Spec, dtype: Dtype | None = None) -> Outputs:
        chosen = dtype or result(self.dtype)
        dims = tuple(range(self.ndim))
        if name:
            check(
                self.numel > 0,
                lambda: f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
                "dim with the 'dim' argument.",
            )
        return Outputs(reduced(self, dims, False, chosen), cast=chosen if cast else None, values=(self, dims, False))

    return MetaRule(rule, out=True)


def dims_reduction(result: Callable[[Dtype], Dtype], *, name: str = "", cast: bool = True) -> MetaRule:
    """Rule of `op(self, dim, keepdim=False, *, dtype=None)`; an empty or missing list means all dims.

    The kernel gets (self, dims, keepdim) with dims normalised.
    """

    def rule(self: Spec, dim: Any = None, keepdim: bool = False, dtype: Dtype | None = None) -> Outputs:
        chosen = dtype or result(self.dtype)
        dims = wrap_dims(dim, self.ndim)
        if name:
            check_not_empty(self, dims, name)
        return Outputs(reduced(self, dims, keepdim, chosen), cast=chosen if cast else None, values=(self, dims, keepdim))

    return MetaRule(rule, out=True)


def one_dim_reduction(result: Callable[[Dtype], Dtype], *, name: str = "", cast: bool = False) -> MetaRule:
    """Rule of `op(self, dim, keepdim=False)` over one dim; the kernel gets (self, dims, keepdim)."""

    def rule(self: Spec, dim: int, keepdim: bool = False) -> Outputs:
        chosen = result(self.dtype)
        dims = (wrap_dim(dim, self.ndim),) if self.ndim else ()
        if not self.ndim:
            wrap_dim(dim, 0)
        if name:
            check_not_empty(self, dims, name)
        return Outputs(reduced(self, dims, keepdim, chosen), cast=chosen if cast else None, values=(self, dims, keepdim))

    return MetaRule(rule, out=True)


sum_dtype = int_or_bool_to_long
