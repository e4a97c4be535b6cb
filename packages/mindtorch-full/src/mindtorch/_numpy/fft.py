"""`torch._numpy.fft`: Fourier transforms, in double precision by default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch._naming import adopt

from . import _dtypes_impl, _util
from ._conversions import takes


def _wide(a: Tensor) -> Any:
    defaults = _dtypes_impl.default_dtypes()
    return _util.cast_if_needed(a, defaults.complex_dtype if a.is_complex() else defaults.float_dtype)


def _along_one(name: str) -> Callable[..., Any]:
    @takes("a")
    def function(a: Tensor, n: Any = None, axis: Any = -1, norm: str | None = None) -> Any:
        return getattr(mindtorch.fft, name)(_wide(a), n, dim=axis, norm=norm)

    function.__name__ = function.__qualname__ = name
    return function


def _along_several(name: str, default: Any) -> Callable[..., Any]:
    @takes("a")
    def function(a: Tensor, s: Any = None, axes: object = default, norm: str | None = None) -> Any:
        return getattr(mindtorch.fft, name)(_wide(a), s, dim=axes, norm=norm)

    function.__name__ = function.__qualname__ = name
    return function


fft, ifft, rfft, irfft, hfft, ihfft = map(_along_one, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = (_along_several(name, None) for name in ("fftn", "ifftn", "rfftn", "irfftn"))
fft2, ifft2, rfft2, irfft2 = (_along_several(name, (-2, -1)) for name in ("fft2", "ifft2", "rfft2", "irfft2"))


@takes()
def fftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies of a transform."""
    return mindtorch.fft.fftfreq(n, d)


@takes()
def rfftfreq(n: int, d: Any = 1.0) -> Any:
    """The frequencies of a transform of real numbers."""
    return mindtorch.fft.rfftfreq(n, d)


@takes("x")
def fftshift(x: Tensor, axes: int | Sequence[int] | None = None) -> Any:
    """The frequency zero in the middle."""
    return mindtorch.fft.fftshift(x, axes)


@takes("x")
def ifftshift(x: Tensor, axes: int | Sequence[int] | None = None) -> Any:
    """The frequency zero first again."""
    return mindtorch.fft.ifftshift(x, axes)


adopt(globals())
