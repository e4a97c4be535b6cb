"""Arguments of the kernels of integers that stand for numbers."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as mt
from mindtorch_testing.operands.draw import Operands
from mindtorch_testing.operands.recipes import rows


def _packed_weight(draw: Operands, depth: int, features: int) -> tuple[Any, Any]:
    """Return a packed weight of bytes, and the sums of its rows."""
    generated = mt.Generator().manual_seed(draw.whole(0, 1 << 40))
    weight = mt.randint(-128, 128, (-(-features // 16), -(-depth // 4), 16, 4), generator=generated, dtype=mt.int8)
    weight[:, -1, :, (depth - 1) % 4 + 1 :] = 0
    return weight, weight.sum((1, 3), dtype=mt.int32).flatten()


@rows("quantized::_linear_dynamic")
def _linear_dynamic(draw: Operands) -> list[Any]:
    depth, features = draw.pick([1, 4, 17, 64, 100]), draw.pick([1, 5, 16, 33])
    draw.dtype = "float32"
    shape = (*([] if draw.chance(0.5) else [draw.whole(1, 3)]), draw.pick([0, 1, 3, 13, 40]), depth)
    weight, sums = _packed_weight(draw, depth, features)
    bias = draw.tensor((features,)) if draw.chance(0.5) else None
    return [draw.tensor(shape), weight, sums, bias, features, draw.pick([0.01, 1.0]), draw.pick([0, 0, 3])]


def _bytes(draw: Operands, shape: tuple[int, ...]) -> Any:
    generated = mt.Generator().manual_seed(draw.whole(0, 1 << 40))
    return mt.randint(0, 256, shape, generator=generated, dtype=mt.uint8)


@rows("quantized::_levels")
def _levels(draw: Operands) -> list[Any]:
    draw.dtype = "float32"
    dtype = draw.pick([mt.quint8, mt.qint8, mt.qint32])
    return [draw.tensor(draw.draw_shape()), draw.pick([0.05, 1e-20]), draw.pick([0, 3, 100]), dtype]


@rows("quantized::_numbers")
def _numbers(draw: Operands) -> list[Any]:
    return [_bytes(draw, draw.draw_shape()), draw.pick([0.05, 1e-20]), draw.pick([0, 3, 100])]


@rows("quantized::_clamp")
def _clamp(draw: Operands) -> list[Any]:
    return [_bytes(draw, draw.draw_shape()), draw.whole(0, 255), draw.whole(0, 255)]


@rows("quantized::_add")
def _quantized_add(draw: Operands) -> list[Any]:
    shape = draw.draw_shape()
    part = draw.pick([0, 1, 70, max(1, math.prod(shape))])
    return [_bytes(draw, shape), _bytes(draw, shape), 0.05, 3, 0.07, 100, 0.1, 20, draw.chance(0.5), part]


@rows("quantized::_mul")
def _quantized_mul(draw: Operands) -> list[Any]:
    shape = draw.draw_shape()
    return [_bytes(draw, shape), _bytes(draw, shape), 0.01, 3, 100, 20, draw.chance(0.5)]


@rows("quantized::_linear_sums")
def _linear_sums(draw: Operands) -> list[Any]:
    depth, features = draw.pick([1, 4, 17, 64, 300]), draw.pick([1, 5, 16, 33])
    rows_of = _bytes(draw, (draw.pick([0, 1, 3, 13, 40]), depth))
    return [rows_of, *_packed_weight(draw, depth, features), features, draw.pick([0, 101, 255]), draw.pick([0, 3])]


@rows("quantized::_requantize")
def _requantize(draw: Operands) -> list[Any]:
    draw.dtype = "float32"
    draw.tame()
    columns = draw.pick([1, 5, 40])
    bias = draw.tensor((columns,)) if draw.chance(0.5) else None
    scales = draw.tensor((columns if draw.chance(0.5) else 1,), unit=True) + 0.1
    options = [0.05, 0.3, 101, draw.chance(0.5), draw.chance(0.5), mt.quint8]
    return [draw.tensor((draw.pick([0, 1, 9]), columns)) * 100, scales, bias, *options]
