"""Meta rules of variance and order statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from ..apart import ANYWHERE, ELEMENTWISE, WHOLLY, Apart
from ..typing import Scalar
from .checks import check, check_real, wrap_dim, wrap_dims
from .extremum import check_kernel, one_dim, unless_number
from .reduce import check_not_empty, reduced
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES


def _dims_of_spread(self: Spec, dim: Any, name: str) -> tuple[int, ...]:
    floating = self.dtype.is_floating_point or self.dtype.is_complex
    check(floating, lambda: f"{name} only support floating point and complex dtypes")
    return wrap_dims(dim, self.ndim)


def spread(name: str) -> MetaRule:
    """Rule of `std` and `var`."""

    def rule(self: Spec, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Outputs:
        dims = _dims_of_spread(self, dim, "std and var")
        check_real(correction)
        values = (self, dims, 1 if correction is None else correction, keepdim)
        return Outputs(reduced(self, dims, keepdim, self.dtype.to_real()), values=values)

    return MetaRule(rule, out=True)


def moments(name: str) -> MetaRule:
    """Rule of `std_mean` and `var_mean`."""

    def rule(
        self: Spec, dim: Sequence[int] | None = None, correction: Scalar | None = None, keepdim: bool = False
    ) -> Outputs:
        dims = _dims_of_spread(self, dim, name)
        specs = (reduced(self, dims, keepdim, self.dtype.to_real()), reduced(self, dims, keepdim, self.dtype))
        check_real(correction)
        return Outputs(specs, values=(self, dims, 1 if correction is None else correction, keepdim))

    return MetaRule(rule)


def _median_all(self: Spec) -> Outputs:
    if self.numel:
        check_kernel(self, "median_cpu", refuses=BOOL_NAMES)
    return Outputs(reduced(self, tuple(range(self.ndim)), False, self.dtype))


median_all = MetaRule(_median_all)
"""`median` and `nanmedian` of all elements."""


def _chosen(self: Spec, dims: tuple[int, ...], keepdim: bool, values: tuple[Any, ...]) -> Outputs:
    specs = (reduced(self, dims, keepdim, self.dtype), reduced(self, dims, keepdim, int64))
    return Outputs(specs, values=values)


def _median_dim(self: Spec, dim: int, keepdim: bool = False) -> Outputs:
    dims = one_dim(self, dim)
    check_not_empty(self, dims, "median()")
    check_kernel(self, "median_out", refuses=BOOL_NAMES)
    return _chosen(self, dims, keepdim, (self, dims, keepdim))


def _median_apart(self: Spec, dim: int, keepdim: bool = False) -> Apart:
    """Where the dimension's elements are not neighbours, torch reads a copy of the operand."""
    wrapped = wrap_dim(dim, self.ndim)
    return ELEMENTWISE if not self.ndim or self.shape[wrapped] == 1 or self.stride[wrapped] == 1 else ANYWHERE


median_dim = MetaRule(_median_dim, out=True, apart=_median_apart)
"""`median` and `nanmedian` along a dim."""


def _mode(self: Spec, dim: int = -1, keepdim: bool = False) -> Outputs:
    dims = one_dim(self, dim)
    check_not_empty(self, dims, "mode()")
    check_kernel(self, "mode_cpu")
    return _chosen(self, dims, keepdim, (self, dims, keepdim))


mode = MetaRule(_mode, out=True, apart=unless_number)
"""`mode`."""


def _kthvalue(self: Spec, k: int, dim: int = -1, keepdim: bool = False) -> Outputs:
    dims = one_dim(self, dim)
    check_not_empty(self, dims, "kthvalue()")
    extent = self.shape[dims[0]] if dims else 1
    check(
        1 <= k <= extent,
        lambda: f"kthvalue(): selected number k out of range for dimension {dims[0] if dims else 0}",
    )
    check_kernel(self, "kthvalue_cpu", refuses=BOOL_NAMES)
    return _chosen(self, dims, keepdim, (self, k, dims, keepdim))


kthvalue = MetaRule(_kthvalue, out=True, apart=Apart(WHOLLY, results=1))
"""`kthvalue`."""
