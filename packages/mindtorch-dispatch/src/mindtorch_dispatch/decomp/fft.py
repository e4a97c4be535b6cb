"""Fourier transforms by their three kinds: complex to complex, real to complex, complex to real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout

from ..call import aten
from ..defaults import get_default_dtype
from ..meta.checks import wrap_dim
from ..typing import Tensor

_NONE, _ROOT, _COUNT = 0, 1, 2
"""No scaling, division by the root of the number of points, division by their number."""


def _normalization(norm: str | None, forward: bool) -> int:
    if norm is None or norm == "backward":
        return _NONE if forward else _COUNT
    if norm == "forward":
        return _COUNT if forward else _NONE
    if norm == "ortho":
        return _ROOT
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _promoted(self: Any, to_complex: bool) -> Any:
    """`self` in a precision that transforms support."""
    dtype: Dtype = self.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        dtype = get_default_dtype()
    if dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError(f"Unsupported dtype {dtype.scalar_name}")
    return self.to(dtype.to_complex() if to_complex else dtype)


def _resized(self: Any, dims: list[int], sizes: list[int]) -> Any:
    """`self` cut or padded with zeros to `sizes` along `dims`."""
    pads = [0] * (2 * self.ndim)
    for dim, size in zip(dims, sizes, strict=True):
        had = self.size(dim)
        if had < size:
            pads[len(pads) - 2 * dim - 1] = size - had
        elif had > size:
            self = aten.slice(self, dim, 0, size)
    return aten.constant_pad_nd(self, pads) if any(pads) else self


def _points(count: int) -> int:
    if count < 1:
        raise RuntimeError(f"Invalid number of data points ({count}) specified")
    return count


def one_dim(name: str) -> Callable[..., Any]:
    """Return `fft_fft` and its like: (self, n, dim, norm)."""
    forward = name in ("fft", "rfft", "hfft")

    def call(self: Tensor, n: int | None, dim: int, norm: str | None) -> Any:
        if name in ("rfft", "ihfft") or (name in ("fft", "ifft") and not self.dtype.is_complex):
            return _real_to_complex(name, self, n, dim, norm, forward, name in ("rfft", "ihfft"))
        if name in ("irfft", "hfft"):
            return _complex_to_real(self, n, dim, norm, forward)
        self = _promoted(self, False)
        self, axis = _along(self, n, dim)
        return aten._fft_c2c(self, [axis], _normalization(norm, forward), forward)

    return call


def _along(self: Tensor, n: int | None, dim: int) -> tuple[Any, int]:
    """Return the signal with `n` points along a dimension, all that it has by default, and the dimension from the front."""
    axis = wrap_dim(dim, self.ndim, scalar=False)
    count = _points(self.size(axis) if n is None else n)
    return (self if n is None else _resized(self, [axis], [count])), axis


def _real_to_complex(
    name: str, self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, onesided: bool
) -> Any:
    if self.dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {self.dtype.scalar_name}")
    self = _promoted(self, False)
    self, axis = _along(self, n, dim)
    result = aten._fft_r2c(self, [axis], _normalization(norm, forward), onesided)
    return result if forward else aten.conj(result)


def _complex_to_real(self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Any:
    self = _promoted(self, True)
    axis = wrap_dim(dim, self.ndim, scalar=False)
    count = _points(2 * (self.size(axis) - 1) if n is None else n)
    if n is not None:
        self = _resized(self, [axis], [count // 2 + 1])
    # The transform to reals runs backwards; the forward one is that of the conjugate.
    return aten._fft_c2r(aten.conj_physical(self) if forward else self, [axis], _normalization(norm, forward), count)


def _extents(self: Any, s: Any, dim: Any) -> tuple[list[int], list[int]]:
    """Return (sizes, dims) of an n-dimensional transform; torch's errors for arguments that do not fit."""
    ndim = self.ndim
    dims = None
    if dim is not None:
        dims = [wrap_dim(one, ndim, scalar=False) for one in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    if s is not None:
        if dims is not None and len(dims) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
        dims = list(range(ndim - len(s), ndim)) if dims is None else dims
        sizes = [self.size(axis) if size == -1 else size for size, axis in zip(s, dims, strict=True)]
    else:
        dims = list(range(ndim)) if dims is None else dims
        sizes = [self.size(axis) for axis in dims]
    for size in sizes:
        _points(size)
    return sizes, dims


def many_dims(name: str) -> Callable[..., Any]:
    """Return `fft_fftn` and its like: (self, s, dim, norm)."""
    forward = name in ("fftn", "rfftn", "hfftn")
    compute = {"rfftn": _rfftn, "irfftn": _to_real, "hfftn": _to_real, "ihfftn": _ihfftn}.get(name)

    def call(self: Any, s: Any, dim: Any, norm: str | None) -> Any:
        if compute is not None:
            return compute(name, self, s, dim, norm)
        self = _promoted(self, True)
        sizes, dims = _extents(self, s, dim)
        return aten._fft_c2c(_resized(self, dims, sizes), dims, _normalization(norm, forward), forward)

    return call


def _some(name: str, dims: list[int]) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _rfftn(name: str, self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Any:
    if self.dtype.is_complex:
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {self.dtype.scalar_name}")
    self = _promoted(self, False)
    sizes, dims = _extents(self, s, dim)
    _some(name, dims)
    return aten._fft_r2c(_resized(self, dims, sizes), dims, _normalization(norm, True), True)


def _to_real(name: str, self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Any:
    sizes, dims = _extents(self, s, dim)
    _some(name, dims)
    last = sizes[-1] if s is not None and s[-1] != -1 else 2 * (sizes[-1] - 1)
    sizes[-1] = _points(last) // 2 + 1
    self = _resized(_promoted(self, True), dims, sizes)
    if name == "irfftn":
        return aten._fft_c2r(self, dims, _normalization(norm, False), last)
    scaling = _normalization(norm, True)
    if len(dims) > 1:
        self = aten._fft_c2c(self, dims[:-1], scaling, True)
    return aten._fft_c2r(aten.conj_physical(self), dims[-1:], scaling, last)


def _ihfftn(name: str, self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Any:
    if self.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {self.dtype.scalar_name}")
    self = _promoted(self, False)
    sizes, dims = _extents(self, s, dim)
    _some(name, dims)
    scaling = _normalization(norm, False)
    result = aten.conj(aten._fft_r2c(_resized(self, dims, sizes), dims[-1:], scaling, True))
    return result if len(dims) == 1 else aten._fft_c2c(result, dims[:-1], scaling, False)


def frequencies(name: str) -> Callable[..., Any]:
    """Return `fft_fftfreq` or `fft_rfftfreq`."""

    def call(
        n: int, d: float, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
    ) -> Any:
        chosen = dtype or get_default_dtype()
        if not (chosen.is_floating_point or chosen.is_complex):
            raise RuntimeError(f"{name} requires a floating point or complex dtype")
        options = {"dtype": chosen, "device": device}
        if name == "rfftfreq":
            result = aten.arange(n // 2 + 1, **options)
        else:
            middle = (n + 1) // 2
            result = aten.cat([aten.arange(middle, **options), aten.arange(-(n // 2), 0, **options)])
        return aten.mul_(result, 1.0 / (n * d) if n * d else float("inf"))

    return call


def _shift(self: Tensor, dim: Sequence[int] | None, amount: Callable[[int], int]) -> Any:
    dims = list(range(self.ndim)) if dim is None else list(dim)
    shifts = [amount(self.size(wrap_dim(one, self.ndim))) for one in dims]
    return aten.roll(self, shifts, dims)


def fftshift(self: Tensor, dim: Sequence[int] | None) -> Any:
    """The zero frequency moved to the middle."""
    return _shift(self, dim, lambda size: size // 2)


def ifftshift(self: Tensor, dim: Sequence[int] | None) -> Any:
    """The zero frequency moved back to the front."""
    return _shift(self, dim, lambda size: (size + 1) // 2)
