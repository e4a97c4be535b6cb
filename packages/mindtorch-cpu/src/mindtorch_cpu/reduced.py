"""Rows whose native kernels read and write bfloat16 themselves: the framework need not convert their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_storage.dtype import bfloat16, float16

NAMES = frozenset(
    """
    matrix_product scaled_product
    add sub rsub mul div maximum minimum clamp clamp_min clamp_max addcmul addcdiv lerp pow
    eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf isfinite
    neg abs floor ceil round trunc sign sqrt rsqrt reciprocal relu exp expm1 log log2 log10 log1p sin cos tanh erf sigmoid
    silu gelu leaky_relu elu softplus hardswish hardsigmoid hardtanh mish threshold softshrink hardshrink
    silu_backward gelu_backward leaky_relu_backward elu_backward softplus_backward hardswish_backward
    hardsigmoid_backward hardtanh_backward mish_backward threshold_backward softshrink_backward hardshrink_backward
    tanh_backward sigmoid_backward
    """.split()
)
"""Native kernels that take bfloat16 next to float32 and numbers, and compute in float32."""

_DTYPES = (bfloat16.np, float16.np)


def _single(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.names is None:
        return value.astype(np.float32) if value.dtype in _DTYPES else value
    pairs = np.empty(value.shape, np.complex64)  # of complex32, which numpy has as two halves
    pairs.real, pairs.imag = value["real"], value["imag"]
    return pairs


def widening(fn: Callable[..., None]) -> Callable[..., None]:
    """Return the kernel `fn` for operands of any dtype: halves are given as float32 and the result is rounded once."""

    def wide(out: Any, *values: Any) -> None:
        if out.dtype.names is not None:
            pairs = np.empty(out.shape, np.complex64)
            fn(pairs, *map(_single, values))
            out["real"][...], out["imag"][...] = pairs.real, pairs.imag
        elif out.dtype in _DTYPES:
            made = np.empty(out.shape, np.float32)
            fn(made, *map(_single, values))
            out[...] = made
        else:
            fn(out, *map(_single, values))

    return wide
