"""Meta rules of extremes: values, positions, or both."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from ..apart import ANYWHERE, ELEMENTWISE, Apart
from .checks import check, wrap_dim, wrap_dims
from .reduce import check_not_empty, reduced
from .rule import MetaRule, Outputs, before_kept_dims
from .support import COMPLEX, WIDE_UNSIGNED, refuse

_UNORDERED = COMPLEX | WIDE_UNSIGNED


def check_kernel(operand: Spec, kernel: str, *, refuses: Collection[str] = ()) -> None:
    """Raise torch's NotImplementedError for complex, the wider unsigned dtypes, and those named in `refuses`."""
    refuse(operand, kernel, _UNORDERED.union(refuses))


def check_some(self: Spec, name: str) -> None:
    """Raise torch's error when there is no element to choose from."""
    check(
        self.numel > 0,
        lambda: (
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            "with the 'dim' argument."
        ),
    )


def one_dim(self: Spec, dim: int) -> tuple[int, ...]:
    """Return the normalised dim as the dims of a reduction: none for a 0-d operand."""
    wrapped = wrap_dim(dim, self.ndim)
    return (wrapped,) if self.ndim else ()


def dtype_mismatch(spec: Spec, target: Dtype) -> str:
    """The text of `amax(out=)` for another dtype."""
    return (
        f"Expected the dtype for input and out to match, but got {spec.dtype.scalar_name} for input's dtype and "
        f"{target.scalar_name} for out's dtype."
    )


def extreme_dims(name: str) -> MetaRule:
    """Rule of `amax` and `amin`; no dims means all of them."""

    def rule(self: Spec, dim: Sequence[int] = (), keepdim: bool = False) -> Outputs:
        dims = wrap_dims(dim, self.ndim)
        if dim == () or dim == []:
            check_some(self, name)
        check_not_empty(self, dim or dims, f"{name}()")
        if self.numel:
            check_kernel(self, "max_values_cpu" if name == "amax" else "min_values_cpu")
        return Outputs(reduced(self, dims, keepdim, self.dtype), values=(self, dims, keepdim))

    return MetaRule(rule, out=True, exact=dtype_mismatch, leading=before_kept_dims)


def unless_number(self: Spec, *rest: object) -> Apart:
    """How far operand and result of a reduction along a dimension lie apart: one element is written as it is."""
    return ELEMENTWISE if self.ndim else ANYWHERE


def extreme_all(name: str) -> MetaRule:
    """Rule of `max(self)` and `min(self)`."""

    def rule(self: Spec) -> Outputs:
        check_some(self, name)
        check_kernel(self, f"{name}_all")
        return Outputs(reduced(self, tuple(range(self.ndim)), False, self.dtype))

    return MetaRule(rule, out=True)


def extreme_dim(name: str) -> MetaRule:
    """Rule of `max(self, dim)` and `min(self, dim)`: values and where they are."""

    def rule(self: Spec, dim: int, keepdim: bool = False) -> Outputs:
        dims = one_dim(self, dim)
        check_not_empty(self, dims, f"{name}()")
        check(not self.dtype.is_complex, lambda: f"{name}(): does not support complex input")
        check_kernel(self, f"{name}_cpu")
        specs = (reduced(self, dims, keepdim, self.dtype), reduced(self, dims, keepdim, int64))
        return Outputs(specs, values=(self, dims, keepdim))

    return MetaRule(rule, out=True, exact=True, apart=unless_number)


def position(name: str) -> MetaRule:
    """Rule of `argmax` and `argmin`; without a dim, the position among all elements."""

    def rule(self: Spec, dim: int | None = None, keepdim: bool = False) -> Outputs:
        check(not self.dtype.is_complex, lambda: f"{name}(): does not support complex input")
        check(self.dtype is not bool_dtype, lambda: f"{name}(): does not support bool input")
        if dim is None:
            check(
                self.numel > 0,
                lambda: f"{name}(): Expected reduction dim to be specified for input.numel() == 0.",
                IndexError,
            )
            dims = tuple(range(self.ndim))
        else:
            dims = one_dim(self, dim)
            check_not_empty(self, dims, f"{name}()")
        check_kernel(self, f"{name}_cpu")
        axis = dims[0] if dim is not None and dims else None
        return Outputs(reduced(self, dims, keepdim, int64), values=(self, axis, keepdim))

    return MetaRule(rule, out=True, exact=True)


def _aminmax(self: Spec, dim: int | None = None, keepdim: bool = False) -> Outputs:
    if dim is None:
        dims = tuple(range(self.ndim))
        check(
            self.numel > 0,
            lambda: "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
        )
    else:
        dims = one_dim(self, dim)
        check_not_empty(self, dims, "aminmax")
    check_kernel(self, "aminmax_cpu")
    spec = reduced(self, dims, keepdim, self.dtype)
    return Outputs((spec, spec), values=(self, dims, keepdim))


def _aminmax_apart(self: Spec, dim: int | None = None, keepdim: bool = False) -> Apart:
    return ANYWHERE if dim is None else unless_number(self)


aminmax = MetaRule(_aminmax, out=True, exact=True, apart=_aminmax_apart)
"""`aminmax`."""
