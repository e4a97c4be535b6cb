"""Window functions: shapes evaluated at equally spaced points. `sym=False` makes the window of one period."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from mindtorch._naming import adopt
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.defaults import get_default_dtype
from mindtorch_storage.dtype import float32, float64
from mindtorch_storage.layout import strided

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


class _Options:
    """Checked options of one window: its length and how its tensor is made."""

    def __init__(self, name: str, M: int, sym: bool, dtype: Any, layout: Any, device: Any, requires_grad: bool) -> None:
        dtype = dtype or get_default_dtype()
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        if dtype not in (float32, float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
        self.count = M
        self.whole = M + 1 if not sym and M > 1 else M
        self.factory = {"dtype": dtype, "device": device}
        self.requires_grad = requires_grad

    def _tracked(self, tensor: Any) -> Any:
        return tensor.requires_grad_(True) if self.requires_grad else tensor

    def trivial(self, one: bool) -> Any:
        """The window of length 0, or of length 1 where `one` says that it is a single 1; else None."""
        if self.count == 0 or (self.count == 1 and one):
            return self._tracked(aten.ones([self.count], **self.factory))
        return None

    def points(self, first: float, step: float) -> Any:
        """The points `first`, `first + step`, ..."""
        return self._tracked(aten.linspace(first, first + (self.count - 1) * step, self.count, **self.factory))

    def tensor(self, values: list[float]) -> Any:
        """A vector of given numbers."""
        made = aten.stack([aten.full([], value, **self.factory) for value in values])
        return self._tracked(made)


def _evaluated(
    options: _Options, one: bool, first: float, step: Callable[[], float], shape: Callable[[Any], Any]
) -> Any:
    trivial = options.trivial(one)
    return shape(options.points(first, step())) if trivial is None else trivial


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """A triangle that is zero at its ends.

    >>> torch.signal.windows.bartlett(3)
    tensor([0., 1., 0.])
    """
    options = _Options("bartlett", M, sym, dtype, layout, device, requires_grad)
    return _evaluated(
        options, True, -1.0, lambda: 2 / (options.whole - 1), lambda points: aten.rsub(aten.abs(points), 1)
    )


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Half a period of the sine.

    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    options = _Options("cosine", M, sym, dtype, layout, device, requires_grad)
    step = math.pi / max(options.whole, 1)
    return _evaluated(options, False, step / 2, lambda: step, aten.sin)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`exp(-|n - center| / tau)`.

    >>> torch.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    options = _Options("exponential", M, sym, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (options.whole - 1) / 2.0 if center is None else center
    return _evaluated(
        options, False, -middle / tau, lambda: 1 / tau, lambda points: aten.exp(aten.neg(aten.abs(points)))
    )


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`exp(-(n - middle)^2 / (2 std^2))`.

    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    options = _Options("gaussian", M, sym, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    step = 1 / (std * math.sqrt(2))
    middle = (options.whole - 1) / 2.0
    return _evaluated(
        options, False, -middle * step, lambda: step, lambda points: aten.exp(aten.neg(aten.mul(points, points)))
    )


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Bessel's function over a half circle.

    >>> torch.signal.windows.kaiser(3)
    tensor([5.2773e-05, 1.0000e+00, 5.2773e-05])
    """
    options = _Options("kaiser", M, sym, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(points: Any) -> Any:
        # The points are scaled by beta in the window's precision, so that the ends stay inside the circle.
        peak = aten.full([], beta, **options.factory)
        scaled = aten.clamp(aten.mul(points, peak), -beta, beta)
        inside = aten.clamp_min(aten.sub(aten.mul(peak, peak), aten.mul(scaled, scaled)), 0)
        return aten.div(aten.i0(aten.sqrt(inside)), aten.i0(peak))

    return _evaluated(options, True, -1.0, lambda: 2.0 / (options.whole - 1), shape)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Sum of cosines with the coefficients `a`, every other one subtracted.

    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    options = _Options("general_cosine", M, sym, dtype, layout, device, requires_grad)
    trivial = options.trivial(True)
    if trivial is not None:
        return trivial
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    weights = list(a)
    if not weights:
        raise ValueError("Coefficients cannot be empty")
    signed = options.tensor([-weight if index % 2 else weight for index, weight in enumerate(weights)])
    orders = options.tensor([float(index) for index in range(len(weights))])
    points = options.points(0.0, 2 * math.pi / (options.whole - 1))
    waves = aten.cos(aten.mul(aten.unsqueeze(orders, -1), points))
    return aten.sum(aten.mul(aten.unsqueeze(signed, -1), waves), 0)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`alpha - (1 - alpha) cos`.

    >>> torch.signal.windows.general_hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`general_hamming` with alpha 0.54.

    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """`general_hamming` with alpha 0.5.

    >>> torch.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Three cosines.

    >>> torch.signal.windows.blackman(3, sym=False)
    tensor([-1.4901e-08,  6.3000e-01,  6.3000e-01])
    """
    _Options("blackman", M, sym, dtype, layout, device, requires_grad)
    return general_cosine(
        M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Four cosines with the smallest side lobes.

    >>> torch.signal.windows.nuttall(3)
    tensor([3.6280e-04, 1.0000e+00, 3.6280e-04])
    """
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


adopt(globals())
