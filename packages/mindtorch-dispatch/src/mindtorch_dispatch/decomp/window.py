"""Window functions composed of elementwise ops over positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import strided

from ..call import aten
from ..defaults import get_default_dtype
from ..meta.checks import c_type
from ..meta.support import lacking


def periodic(name: str) -> Callable[..., Any]:
    """Return the form without `periodic`: periodic."""
    return lambda length, *options: _window(name, length, True, (), *options)


def window(name: str) -> Callable[..., Any]:
    """Return the form with `periodic` and the window's own parameters."""

    def call(length: int, is_periodic: bool, *rest: Any) -> Any:
        return _window(name, length, is_periodic, rest[:-4], *rest[-4:])

    return call


def _check(name: str, length: int, dtype: Any, layout: Layout | None) -> None:
    given = "float (default)" if dtype is None else {"float32": "float"}.get(dtype.name, c_type(dtype))
    text = "Strided (default)" if layout is None else str(layout).rpartition(".")[2].capitalize()
    options = (
        f"TensorOptions(dtype={given}, device=cpu, layout={text}, requires_grad=false (default), pinned_memory=false, "
        "memory_format=(nullopt))"
    )
    if layout is not None and layout is not strided:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {options}")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} expects floating point dtypes, got: {options}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if dtype is not None and dtype.is_complex and length > 1:
        raise lacking(dtype, "arange_cpu")


def _window(
    name: str,
    length: int,
    is_periodic: bool,
    parameters: tuple[float, ...],
    dtype: object,
    layout: Layout | None,
    device: Device | None,
    pin: bool | None,
) -> Any:
    _check(f"{name}_window", length, dtype, layout)
    options = {"dtype": dtype or get_default_dtype(), "device": device}
    if length < 2:
        return aten.ones([length], **options)
    points = length + 1 if is_periodic else length
    made = _SHAPES[name](aten.arange(points, **options), points, *parameters)
    return aten.narrow(made, 0, 0, length) if is_periodic else made


def _hamming(positions: object, points: int, alpha: float = 0.54, beta: float = 0.46) -> Any:
    wave = aten.cos_(aten.mul_(positions, math.pi * 2.0 / (points - 1)))
    return aten.add_(aten.mul_(wave, -beta), alpha)


def _hann(positions: object, points: int) -> Any:
    return _hamming(positions, points, 0.5, 0.5)


def _blackman(positions: object, points: int) -> Any:
    angles = aten.mul_(positions, math.pi / (points - 1))
    fourth = aten.mul_(aten.cos_(aten.mul(angles, 4)), 0.08)
    second = aten.mul_(aten.cos_(aten.mul(angles, 2)), 0.5)
    return aten.add(aten.sub(fourth, second), 0.42)


def _bartlett(positions: object, points: int) -> Any:
    rising = aten.mul_(positions, 2.0 / (points - 1))
    first = ((points - 1) >> 1) + 1
    aten.add_(aten.mul_(aten.narrow(rising, 0, first, points - first), -1), 2)
    return rising


def _kaiser(positions: Any, points: int, beta: float = 12.0) -> Any:
    scaled = aten.div(aten.sub(positions, (points - 1) / 2), (points - 1) / 2)
    inner = aten.sqrt(aten.clamp_min(aten.rsub(aten.mul(scaled, scaled), 1), 0))
    top = aten.i0(aten.mul(inner, beta))
    return aten.div(top, aten.i0(aten.full([], beta, dtype=positions.dtype, device=positions.device)))


_SHAPES: dict[str, Callable[..., Any]] = {
    "hann": _hann,
    "hamming": _hamming,
    "blackman": _blackman,
    "bartlett": _bartlett,
    "kaiser": _kaiser,
}
