"""Copies, fills, factories and operators that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _diagonal(x: Array, offset: int) -> Any:
    return np.diag(x, offset)


def _roll(x: Any, shifts: Any, dims: Any) -> Any:
    return np.roll(x, shifts, tuple(dims)) if dims else np.roll(x.reshape(-1), shifts).reshape(x.shape)


def _pad(x: Array, padding: Sequence[int], value: float) -> Any:
    pairs = [(padding[2 * place], padding[2 * place + 1]) for place in range(len(padding) // 2)]
    pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    cut = tuple(slice(max(0, -low), extent - max(0, -high)) for (low, high), extent in zip(pairs, x.shape, strict=True))
    return np.pad(x[cut], [(max(0, low), max(0, high)) for low, high in pairs], constant_values=value or 0)


def _steps(start: Any, end: Any, steps: int) -> Any:
    if steps == 1:
        return np.asarray([start], np.float64)
    index = np.arange(steps)
    step = (end - start) / max(1, steps - 1)
    return np.where(index < steps // 2, start + step * index, end - step * (steps - 1 - index)).astype(np.float64)


kernel("InplaceCopy", lambda x, source: np.broadcast_to(source, x.shape))
kernel("InplaceZero", np.zeros_like)
kernel("InplaceOne", np.ones_like)
kernel("InplaceFillScalar", lambda x, value: np.full(x.shape, value))
kernel("InplaceFillTensor", lambda x, value: np.broadcast_to(value.reshape(()), x.shape))
kernel("InplaceMaskedFillScalar", lambda x, mask, value: np.where(mask, np.asarray(value), x))
kernel("InplaceMaskedFillTensor", lambda x, mask, value: np.where(mask, value, x))
kernel("Cat", lambda tensors, dim: np.concatenate([t for t in tensors if t.shape != (0,)] or tensors, dim))
kernel("Stack", np.stack)
kernel("Permute", np.transpose)
kernel("Flip", lambda x, dims: np.flip(x, tuple(dims)))
kernel("Roll", _roll)
kernel("Repeat", lambda x, repeats: np.tile(x, repeats))
kernel("ConstantPadNd", _pad)
kernel("Tril", np.tril)
kernel("Triu", np.triu)
kernel("Diag", _diagonal)
kernel("Eye", np.eye, outputs=("out",))
kernel("Linspace", _steps)


def _arange(start: float, end: float, step: float) -> Any:
    count = max(0, int(np.ceil((end - start) / step)))
    if all(isinstance(number, int) for number in (start, end, step)):
        return np.arange(count, dtype=np.int64) * step + start
    return start + np.arange(count, dtype=np.float64) * step


def _range(start: Any, end: Any, step: Any) -> Any:
    count = int(np.floor((end - start) / step)) + 1
    return start + np.arange(count) * step


kernel("Arange", _arange)
kernel("Range", _range)


def _with_diagonal(x: Array, value: object, wrap: bool) -> Any:
    made = x.copy()
    np.fill_diagonal(made, value, wrap)
    return made


kernel("InplaceFillDiagonal", _with_diagonal)
kernel("LogSpace", lambda start, end, steps, base: base ** _steps(start, end, steps), outputs=("result",))
