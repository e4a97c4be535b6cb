"""What numpy's kernels need where a native kernel takes bfloat16 and float16 itself: their operands as float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_storage.dtype import bfloat16, float16

_DTYPES = (bfloat16.np, float16.np)


def widened(value: Any) -> Any:
    """Return an array of halves as float32, others and numbers as they are."""
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype in _DTYPES else value


def rounder(dtype: Any) -> Callable[[Any], Any]:
    """Return what rounds a step of a computation in `dtype`: where torch composes a function in halves of other ones, each
    of their results is a half."""
    return (lambda value: value.astype(dtype).astype(np.float32)) if dtype in _DTYPES else (lambda value: value)


def _single(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.names is None:
        return value.astype(np.float32) if value.dtype in _DTYPES else value
    pairs = np.empty(value.shape, np.complex64)  # of complex32, which numpy has as two halves
    pairs.real, pairs.imag = value["real"], value["imag"]
    return pairs


def _any_half(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, np.ndarray) and (value.dtype in _DTYPES or value.dtype.names) for value in values)


def _assign(out: Any, made: Any) -> None:
    if out is made:
        return
    if out.dtype.names is None:
        out[...] = made
    else:
        out["real"][...], out["imag"][...] = made.real, made.imag


def _wide_output(out: Any) -> Any:
    if out is None or not (out.dtype in _DTYPES or out.dtype.names):
        return out
    return np.empty(out.shape, np.float32 if out.dtype.names is None else np.complex64)


def widening(single: Callable[..., None], plain: Callable[..., None]) -> Callable[..., None]:
    """Return the kernel that gives halves to `single` as float32 and rounds its results once; other operands to `plain`."""

    def wide(out: Any, *values: Any) -> None:
        outs = out if isinstance(out, tuple) else (out,)
        if not _any_half(outs) and not _any_half(values):
            plain(out, *values)
            return
        made = tuple(map(_wide_output, outs))
        single(made if isinstance(out, tuple) else made[0], *map(_single, values))
        for one, other in zip(outs, made, strict=True):
            _assign(one, other)

    return wide
