"""Padding by reflection and repetition, and resizing: along each dimension a matrix of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array

# -- padding --------------------------------------------------------------------------------------------------------


def _sources(mode: str, extent: int, left: int, right: int) -> Any:
    at = np.arange(-left, extent + right)
    if mode == "Replication":
        return np.clip(at, 0, extent - 1)
    at = np.abs(at)
    return np.where(at >= extent, 2 * (extent - 1) - at, at)


def _padded(mode: str) -> Any:
    def pad(x: Array, padding: Sequence[int]) -> Any:
        for place in range(len(padding) // 2):
            axis = x.ndim - 1 - place
            x = np.take(x, _sources(mode, x.shape[axis], padding[2 * place], padding[2 * place + 1]), axis)
        return x

    return pad


def _cut(mode: str) -> Any:
    def pad(grad: Array, x: Array, padding: Sequence[int]) -> Any:
        for place in range(len(padding) // 2):
            axis = x.ndim - 1 - place
            sources = _sources(mode, x.shape[axis], padding[2 * place], padding[2 * place + 1])
            made = np.zeros((*grad.shape[:axis], x.shape[axis], *grad.shape[axis + 1 :]), grad.dtype)
            np.add.at(np.moveaxis(made, axis, 0), sources, np.moveaxis(grad, axis, 0))
            grad = made
        return grad

    return pad


for _mode in ("Reflection", "Replication"):
    for _dims in (1, 2, 3):
        kernel(f"{_mode}Pad{_dims}d", _padded(_mode))
        kernel(f"{_mode}Pad{_dims}dBackward", _cut(_mode), workspace=True)

# -- resizing -------------------------------------------------------------------------------------------------------

Weights = Callable[[int, int, bool, float], Any]
"""Of input extent, output extent, aligned corners and scale (0: none): the matrix (output, input)."""


def _step(extent: int, count: int, align: bool, scale: float) -> Any:
    if align:
        return np.float32(extent - 1) / np.float32(count - 1) if count > 1 else np.float32(0)
    return np.float32(1.0 / scale) if scale > 0 else np.float32(extent) / np.float32(count)


def _matrix(extent: int, index: Any, weights: Any) -> Any:
    made = np.zeros((len(index), extent), np.float64)
    for tap in range(index.shape[1]):
        np.add.at(made, (np.arange(len(index)), np.clip(index[:, tap], 0, extent - 1)), weights[:, tap])
    return made


def _nearest(shift: float) -> Weights:
    def weights(extent: int, count: int, align: bool, scale: float) -> Any:
        at = (np.arange(count).astype(np.float32) + np.float32(shift)) * _step(extent, count, False, scale)
        index = np.minimum(np.floor(at).astype(np.int64), extent - 1)[:, None]
        return _matrix(extent, index, np.ones(index.shape))

    return weights


def _linear(extent: int, count: int, align: bool, scale: float) -> Any:
    if extent == count:
        return np.eye(count)
    step, at = _step(extent, count, align, scale), np.arange(count).astype(np.float32)
    where = step * at if align else np.maximum(step * (at + np.float32(0.5)) - np.float32(0.5), np.float32(0))
    first = np.minimum(where.astype(np.int64), extent - 1)
    share = np.clip(where - first, 0, 1)
    return _matrix(extent, np.stack([first, first + 1], 1), np.stack([1 - share, share], 1))


def _cubic(extent: int, count: int, align: bool, scale: float) -> Any:
    if extent == count:
        return np.eye(count)
    step, at, a = _step(extent, count, align, scale), np.arange(count).astype(np.float32), -0.75
    where = step * at if align else step * (at + np.float32(0.5)) - np.float32(0.5)
    first = np.floor(where).astype(np.int64)
    share = (where - first).astype(np.float64)

    def near(x: Array) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    taps = np.stack([far(share + 1), near(share), near(1 - share), far(2 - share)], 1)
    return _matrix(extent, first[:, None] + np.arange(-1, 3), taps)


def _smooth(reach: int, shape: Callable[[Any], Any]) -> Weights:
    """Weights of a filter that widens when the image shrinks."""

    def weights(extent: int, count: int, align: bool, scale: float) -> Any:
        step = float(_step(extent, count, align, scale))
        width = reach * step if step >= 1 else float(reach)
        made = np.zeros((count, extent))
        for at in range(count):
            middle = step * (at + 0.5)
            begin, end = max(0, int(middle - width + 0.5)), min(extent, int(middle + width + 0.5))
            taps = shape((np.arange(begin, end) - middle + 0.5) / max(step, 1.0))
            made[at, begin:end] = taps / taps.sum()
        return made

    return weights


def _triangle(x: Array) -> Any:
    return np.maximum(0, 1 - np.abs(x))


def _keys(x: Array) -> Any:
    x, a = np.abs(x), -0.5
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _resized(x: Any, matrices: Any) -> Any:
    for place, matrix in enumerate(matrices):
        axis = x.ndim - len(matrices) + place
        x = np.moveaxis(np.tensordot(x, matrix.astype(x.dtype), ([axis], [1])), -1, axis)
    return x


def _make(dims: int, weights: Weights, align: bool, scaled: bool = True) -> tuple[Any, Any]:
    def matrices(inner: Any, outer: Any, rest: Any) -> Any:
        flag, scales = (rest[0], rest[1:]) if align else (False, rest)
        scales = scales if scaled and scales else [0.0] * dims
        return [weights(n, m, flag, s) for n, m, s in zip(inner, outer, scales, strict=True)]

    def forward(x: Array, size: Sequence[int], *rest: object) -> Any:
        return _resized(x, matrices(x.shape[-dims:], size, rest))

    def backward(grad: Array, size: Sequence[int], shape: Sequence[int], *rest: object) -> Any:
        return _resized(grad, [m.T for m in matrices(shape[-dims:], size, rest)])

    return forward, backward


def _install(name: str, back: str, dims: int, weights: Weights, align: bool) -> None:
    forward, backward = _make(dims, weights, align)
    kernel(name, forward, workspace=True)
    kernel(back, backward, workspace=True)


for _dims in (1, 2):
    _install(f"UpsampleNearest{_dims}dV2", f"UpsampleNearest{_dims}dBackward", _dims, _nearest(0), False)
    _name = f"UpsampleNearestExact{_dims}d"
    _install(_name, _name + "Backward", _dims, _nearest(0.5), False)
_install("UpsampleNearest3d", "UpsampleNearest3dBackward", 3, _nearest(0), False)
_install("UpsampleLinear1d", "UpsampleLinear1dBackward", 1, _linear, True)
_install("UpsampleBilinear2d", "UpsampleBilinear2dBackward", 2, _linear, True)
_install("UpsampleTrilinear3d", "UpsampleTrilinear3dBackward", 3, _linear, True)
_install("UpsampleBicubic2d", "UpsampleBicubic2dBackward", 2, _cubic, True)
_install("UpsampleBilinear2dAA", "UpsampleBilinear2dAABackward", 2, _smooth(1, _triangle), True)
_install("UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad", 2, _smooth(2, _keys), True)
