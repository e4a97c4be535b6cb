"""Integers that stand for numbers, rounded where torch's loops over vectors and single elements round, and layers of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.decomp.quantized import exact_parameters

from ..register import kernel

_MOST_LEVEL = 127
_VECTORS = 64  # elements that torch adds at once, in a pair of vectors


def _fused(factor: Any, other: Any, addend: Any) -> Any:
    """Return the product and sum of float32 numbers, which are rounded once."""
    exact = np.asarray(factor, np.float64) * np.asarray(other, np.float64) + np.asarray(addend, np.float64)
    return exact.astype(np.float32)


def _store(out: Any, levels: Any) -> None:
    """Write whole numbers, brought into the range of the integers."""
    limits = np.iinfo(out.dtype)
    out[...] = np.clip(levels, limits.min, limits.max)


@kernel("quantized::_levels")
@np.errstate(all="ignore")
def levels(out: Any, self: Any, scale: float, zero_point: int) -> None:
    """Of 8 bits product and sum are rounded once, of 32 bits one after the other."""
    inverse = np.float32(1) / np.float32(scale)
    wide = out.dtype == np.int32
    level = self * inverse + np.float32(zero_point) if wide else _fused(self, inverse, zero_point)
    limits = np.iinfo(out.dtype)
    _store(out, np.nan_to_num(np.rint(level).astype(np.float64), nan=limits.min if wide else limits.max))


@kernel("quantized::_numbers")
@np.errstate(all="ignore")
def numbers(out: Any, self: Any, scale: float, zero_point: int) -> None:
    """The difference is one of 32 bits, which wraps."""
    np.multiply((self.astype(np.int32) - np.int32(zero_point)).astype(np.float32), np.float32(scale), out)


@kernel("quantized::_clamp")
def clamp(out: Any, self: Any, least: int, most: int) -> None:
    """Integers between two, the second where they are the wrong way round."""
    np.clip(self, least, most, out)


def _alone(out: Any, part: int) -> Any:
    """Return where single elements are added: behind the last whole vectors of each thread's part of the memory."""
    if part == 0:
        return np.zeros(out.shape, bool)
    place = np.arange(out.size)
    within = place % part
    alone = within >= np.minimum(part, out.size - (place - within)) // _VECTORS * _VECTORS
    if out.ndim == 4 and not out.flags.c_contiguous:  # the channels are last in memory
        batch, channels, height, width = out.shape
        return alone.reshape(batch, height, width, channels).transpose(0, 3, 1, 2)
    return alone.reshape(out.shape)


@kernel("quantized::_add")
@np.errstate(all="ignore")
def add(
    out: Any,
    self: Any,
    other: Any,
    self_scale: float,
    self_zero_point: int,
    other_scale: float,
    other_zero_point: int,
    scale: float,
    zero_point: int,
    relu: bool,
    part: int,
) -> None:
    """Sums as vectors, and as single elements, are added and rounded; `part` is how many of them a thread has."""
    vectors, singles = np.float32(0), np.float32(0)
    for whole, by, zero in ((self, self_scale, self_zero_point), (other, other_scale, other_zero_point)):
        single = np.float32(by)
        vectors = vectors + _fused(whole, single, single * np.float32(-zero))
        singles = singles + (whole.astype(np.int64) - zero).astype(np.float32) * single
    if relu:
        vectors, singles = np.maximum(vectors, 0), np.maximum(singles, 0)
    inverse = np.float32(1) / np.float32(scale)
    by_vectors = np.rint(vectors * inverse) + np.float32(zero_point)
    _store(out, np.where(_alone(out, part), np.rint(singles * inverse + np.float32(zero_point)), by_vectors))


@kernel("quantized::_mul")
@np.errstate(all="ignore")
def mul(
    out: Any,
    self: Any,
    other: Any,
    factor: float,
    self_zero_point: int,
    other_zero_point: int,
    zero_point: int,
    relu: bool,
) -> None:
    """The product of the integers is exact."""
    whole = (self.astype(np.int64) - self_zero_point) * (other.astype(np.int64) - other_zero_point)
    level = np.rint(whole.astype(np.float32) * np.float32(factor)) + np.float32(zero_point)
    _store(out, np.maximum(level, zero_point) if relu else level)


@kernel("quantized::_linear_sums")
def linear_sums(
    out: Any, input: Any, weight: Any, sums: Any, out_features: int, zero_point: int, weight_zero_point: int
) -> None:
    """The product of integers, computed in the narrowest type that holds all sums."""
    if not out.size:
        return
    real = np.float64 if input.shape[-1] * 255 * 255 >= _EXACT else np.float32
    rows = _unpacked(weight, out_features, input.shape[-1])
    out[...] = np.matmul(input.astype(real) - real(zero_point), (rows.astype(real) - real(weight_zero_point)).T)


_EXACT = 2**24  # sums of whole numbers below are exact in float32


@kernel("quantized::_requantize")
@np.errstate(all="ignore")
def requantize(
    out: Any,
    sums: Any,
    scales: Any,
    bias: Any,
    input_scale: float,
    scale: float,
    zero_point: int,
    scaled_bias: bool,
    relu: bool,
) -> None:
    """OneDNN adds bias and zero point to numbers, fbgemm scales bias and sum together."""
    factor, single = np.float32(input_scale) * scales, np.float32(scale)
    if scaled_bias:
        total = sums if bias is None else sums + bias / factor
        level = np.rint(total * (factor / single)) + np.float32(zero_point)
        _store(out, np.maximum(level, zero_point) if relu else level)
        return
    found = sums * factor
    found = found if bias is None else found + bias
    found = np.maximum(found, 0) if relu else found
    _store(out, np.rint(found * (np.float32(1) / single) + np.float32(zero_point)))


def _unpacked(weight: Any, out_features: int, depth: int) -> Any:
    panels, words, columns, word = weight.shape
    return weight.transpose(0, 2, 1, 3).reshape(panels * columns, words * word)[:out_features, :depth]


def _range(values: Any) -> tuple[float, float]:
    """Return the least and the greatest number, as torch finds them: nans count where there is nothing else."""
    known = values[~np.isnan(values)]
    if values.size and not known.size:
        raise RuntimeError("In ChooseQuantizationParams, min should be less than or equal to max")
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def _levels(values: Any, scale: Any, zero_point: int) -> Any:
    """Return the whole numbers that stand for others; product and sum are rounded once, as a fused one is."""
    level = _fused(values, np.float32(1) / scale, zero_point)
    return np.clip(np.nan_to_num(np.rint(level), nan=255.0), 0, 255).astype(np.float64)


@kernel("quantized::_linear_dynamic")
def linear_dynamic(
    out: Any, input: Any, weight: Any, sums: Any, bias: Any, out_features: int, scale: float, zero_point: int
) -> None:
    """Rows, rounded by the range of all of them, times the weight's integers; the scaled sum is rounded once."""
    if not out.size:
        return
    rows = _unpacked(weight, out_features, input.shape[-1])
    with np.errstate(all="ignore"):
        found, zero = exact_parameters(*_range(input), 0, _MOST_LEVEL)
        single = np.float32(found)
        levels = _levels(input, single, zero) - zero
        whole = np.matmul(levels, (rows.astype(np.float64) - zero_point).T).astype(np.float32)
        exact = whole.astype(np.float64) * np.float64(single * np.float32(scale))
        out[...] = exact if bias is None else exact + bias.astype(np.float64)
