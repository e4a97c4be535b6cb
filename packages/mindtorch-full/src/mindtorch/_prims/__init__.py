"""`torch._prims`: the operations that torch's references are made of. Each is ours under its name there."""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Sequence
from typing import Any

import mindtorch as torch
import mindtorch._prims_common as utils  # noqa: F401 (its name in torch)
from mindtorch._naming import missing_attribute
from mindtorch._refs._bind import bind, functional


class RETURN_TYPE(enum.Enum):
    """What the result of an operation is to its operands."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


_SAME = """
abs acos acosh asin asinh atan atanh cos cosh bitwise_not ceil conj_physical digamma erf erfc exp expm1 exp2 floor imag
isfinite lgamma log log1p log2 log10 neg real reciprocal round sign signbit sin sinh sqrt tan tanh trunc add atan2
bitwise_and bitwise_or bitwise_xor div eq fmax fmin fmod frexp gcd ge gt hypot igamma igammac le lt maximum minimum mul ne
nextafter pow remainder rsqrt sub as_strided conj as_strided_scatter reshape where clone item fill
""".split()

_SPECIAL = {
    "bessel_i0": "i0",
    "bessel_i0e": "i0e",
    "bessel_i1": "i1",
    "bessel_i1e": "i1e",
    "bessel_j0": "bessel_j0",
    "bessel_j1": "bessel_j1",
    "erf_inv": "erfinv",
    "erfcx": "erfcx",
    "ndtri": "ndtri",
    "spherical_bessel_j0": "spherical_bessel_j0",
    "zeta": "zeta",
}
for _name, _ours in _SPECIAL.items():
    globals()[_name] = getattr(torch.special, _ours)

shift_left = torch.bitwise_left_shift
shift_right_arithmetic = torch.bitwise_right_shift
rev = torch.flip
empty_strided = torch.empty_strided
empty_permuted = torch.empty_permuted
scalar_tensor = torch.scalar_tensor


def cbrt(a: Any) -> Any:
    """Return the real cube root."""
    return torch.copysign(torch.pow(torch.abs(a), 1 / 3), a)


def cat(tensors: Sequence[Any], dim: int) -> Any:
    """Join tensors along a dimension."""
    return torch.cat(list(tensors), dim)


def broadcast_in_dim(a: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Any:
    """Return ``a`` seen as ``shape``; its dimensions become those that ``broadcast_dimensions`` names."""
    sizes = [1] * len(shape)
    for dim, size in zip(broadcast_dimensions, a.shape, strict=True):
        sizes[dim] = size
    return a.reshape(sizes).expand(list(shape))


def collapse_view(a: Any, start: int, end: int) -> Any:
    """Return a view with the dimensions from ``start`` to ``end``, included, as one."""
    size = functools.reduce(operator.mul, a.shape[start : end + 1], 1)
    return a.view([*a.shape[:start], size, *a.shape[end + 1 :]])


def collapse(a: Any, start: int, end: int) -> Any:
    """Return ``a`` with the dimensions from ``start`` to ``end``, included, as one."""
    return torch.flatten(a, start, end).clone()


def expand_dims(a: Any, dimensions: Sequence[int], ndim: int | None = None) -> Any:
    """Return a view with dimensions of size one at the given places of the result."""
    for dim in sorted(dimensions):
        a = a.unsqueeze(dim)
    return a


def slice(a: Any, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Any = None) -> Any:
    """Return a view of a part of ``a``."""
    steps = strides if strides is not None else [1] * len(start_indices)
    for dim, (start, limit, step) in enumerate(zip(start_indices, limit_indices, steps, strict=True)):
        a = torch.ops.aten.slice(a, dim, start, limit, step)
    return a


def split_dim(a: Any, dim: int, outer_length: int) -> Any:
    """Return a view with the dimension ``dim`` as two."""
    return a.unflatten(dim, (outer_length, -1))


def squeeze(a: Any, dimensions: Sequence[int]) -> Any:
    """Return a view without the given dimensions, each of size one."""
    return torch.squeeze(a, tuple(dimensions))


def transpose(a: Any, permutation: Sequence[int]) -> Any:
    """Return a view with the dimensions in another order."""
    return torch.permute(a, list(permutation))


def view_of(a: Any) -> Any:
    """Return a view of all of ``a``."""
    return torch.ops.aten.alias(a)


def view_element_type(a: Any, dtype: Any) -> Any:
    """Return a view of the bytes of ``a`` as another dtype."""
    return a.view(dtype)


def convert_element_type(a: Any, dtype: Any) -> Any:
    """Return a copy of another dtype."""
    return a.to(dtype, copy=True)


def device_put(a: Any, device: Any, non_blocking: bool = False) -> Any:
    """Return a copy on a device."""
    return a.to(device, non_blocking=non_blocking, copy=True)


def copy_to(a: Any, b: Any) -> Any:
    """Copy ``b`` into ``a``."""
    return a.copy_(b)


def resize(a: Any, shape: Sequence[int]) -> Any:
    """Give ``a`` another shape."""
    return a.resize_(list(shape))


def maximum_value(dtype: Any) -> Any:
    """Return the largest number of a dtype."""
    if dtype is torch.bool:
        return True
    return torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max


def minimum_value(dtype: Any) -> Any:
    """Return the smallest number of a dtype."""
    if dtype is torch.bool:
        return False
    return torch.finfo(dtype).min if dtype.is_floating_point else torch.iinfo(dtype).min


def amax(inp: Any, dims: Sequence[int] | None, *, output_dtype: Any = None) -> Any:
    """Return the largest element over dimensions."""
    return torch.amax(inp, list(range(inp.ndim)) if dims is None else list(dims))


def amin(inp: Any, dims: Sequence[int] | None, *, output_dtype: Any = None) -> Any:
    """Return the smallest element over dimensions."""
    return torch.amin(inp, list(range(inp.ndim)) if dims is None else list(dims))


def sum(inp: Any, dims: Sequence[int] | None, *, output_dtype: Any = None) -> Any:
    """Return the sum over dimensions."""
    return torch.sum(inp, None if dims is None else list(dims), dtype=output_dtype or inp.dtype)


def prod(inp: Any, dims: Sequence[int] | None, *, output_dtype: Any = None) -> Any:
    """Return the product over dimensions."""
    for dim in sorted(range(inp.ndim) if dims is None else dims, reverse=True):
        inp = torch.prod(inp, dim, dtype=output_dtype or inp.dtype)
    return inp


def var(inp: Any, dims: Sequence[int] | None, correction: float | None = 1, *, output_dtype: Any = None) -> Any:
    """Return the variance over dimensions."""
    return torch.var(inp, None if dims is None else list(dims), correction=correction)


def iota(length: int, *, start: int, step: int, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """Return ``length`` whole numbers from ``start`` on."""
    return torch.arange(start, start + length * step, step, dtype=dtype, device=device, requires_grad=requires_grad)


def svd(A: Any, *, full_matrices: bool) -> Any:
    """Return the singular value decomposition."""
    return torch.linalg.svd(A, full_matrices=full_matrices)


def normal(
    shape: Any, *, mean: Any, std: Any, dtype: Any, device: Any, requires_grad: bool, generator: Any = None
) -> Any:
    """Return normally distributed numbers."""
    drawn = torch.empty(shape, dtype=dtype, device=device).normal_(mean, std, generator=generator)
    return drawn.requires_grad_(requires_grad)


__all__ = sorted(
    {
        "RETURN_TYPE",
        *(name for name, value in globals().items() if callable(value) and not name.startswith("_")),
        *bind(globals(), _SAME, torch, functional),
    }
    - {"bind", "Any", "Sequence", "missing_attribute"}
)
__getattr__ = missing_attribute(__name__)
