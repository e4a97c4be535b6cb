"""Meta rules of Fourier transforms. The result lies in memory as the transform library left it: transformed dims
innermost, the others around them in the order of their strides."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.spec import Spec

from .checks import check, shape_text, wrap_dim
from .rule import MetaRule, Outputs

_PRECISIONS = ("float32", "float64", "complex64", "complex128")


def by_stride(self: Spec, dims: Sequence[int]) -> list[int]:
    """Return `dims` from the largest stride to the smallest."""
    return sorted(dims, key=lambda dim: -self.stride[dim])


def transformed(self: Spec, shape: Sequence[int], dims: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a transform of `self` over `dims` (innermost last) with the result `shape`."""
    others = by_stride(self, [dim for dim in range(self.ndim) if dim not in dims])
    stride, step = [0] * self.ndim, 1
    for dim in reversed([*others, *dims]):
        stride[dim] = step
        step *= max(shape[dim], 1)
    return tuple(stride)


def _wrapped(self: Spec, dims: Sequence[int]) -> tuple[int, ...]:
    check(self.dtype.name in _PRECISIONS, lambda: f"MKL FFT doesn't support tensors of type: {self.dtype.scalar_name}")
    wrapped = tuple(wrap_dim(dim, self.ndim) for dim in dims)
    signal = [-1, *(self.shape[dim] for dim in by_stride(self, sorted(wrapped)))]
    check(
        0 not in signal,
        lambda: (
            f"cannot reshape tensor of 0 elements into shape {shape_text(signal)} because the unspecified dimension size "
            "-1 can be any value and is ambiguous"
        ),
    )
    return wrapped


def _c2c(self: Spec, dim: Sequence[int], normalization: int, forward: bool) -> Outputs:
    dims = _wrapped(self, dim)
    check(self.dtype.is_complex, lambda: f"Only supports complex dtypes, but found: {self.dtype.scalar_name}")
    stride = transformed(self, self.shape, by_stride(self, dims)) if dims else None
    return Outputs(Spec.of(self.dtype, self.device, self.shape, stride), values=(self, dims, normalization, forward))


c2c = MetaRule(_c2c)
"""`_fft_c2c`; the kernel gets (self, dims, normalization, forward)."""


def _r2c(self: Spec, dim: Sequence[int], normalization: int, onesided: bool) -> Outputs:
    check(
        not self.dtype.is_complex,
        lambda: f"Only supports floating-point dtypes, but found: {self.dtype.scalar_name}",
    )
    dims = _wrapped(self, dim)
    shape = list(self.shape)
    if onesided:
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    stride = transformed(self, shape, [*by_stride(self, dims[:-1]), dims[-1]])
    spec = Spec.of(self.dtype.to_complex(), self.device, shape, stride)
    return Outputs(spec, values=(self, dims, normalization, onesided))


r2c = MetaRule(_r2c)
"""`_fft_r2c`; the kernel gets (self, dims, normalization, onesided)."""


def _c2r(self: Spec, dim: Sequence[int], normalization: int, last_dim_size: int) -> Outputs:
    check(self.dtype.is_complex, lambda: f"Only supports complex dtypes, but found: {self.dtype.scalar_name}")
    dims = _wrapped(self, dim)
    shape = list(self.shape)
    shape[dims[-1]] = last_dim_size
    between = self
    if len(dims) > 1:
        inner = transformed(self, self.shape, by_stride(self, dims[:-1]))
        between = Spec.of(self.dtype, self.device, self.shape, inner)
    stride = transformed(between, shape, dims[-1:])
    spec = Spec.of(self.dtype.to_real(), self.device, shape, stride)
    return Outputs(spec, values=(self, dims, normalization, last_dim_size))


c2r = MetaRule(_c2r)
"""`_fft_c2r`; the kernel gets (self, dims, normalization, last_dim_size)."""
