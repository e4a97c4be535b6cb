"""Copies and conversions."""

from __future__ import annotations

import warnings
from typing import Any

import ml_dtypes
import numpy as np

from ..register import kernel


def _convert_pairs(out: Any, source: Any) -> None:
    """Convert from or to complex32, which numpy knows as a pair of halves only."""
    if source.dtype.names:
        numbers = np.empty(source.shape, np.complex64)  # parts that are infinite or no number stay apart
        numbers.real, numbers.imag = source["real"], source["imag"]
        source = numbers
    if not out.dtype.names:
        convert(out, source)
        return
    convert(out["real"], source.real if source.dtype.kind == "c" else source)
    convert(out["imag"], source.imag if source.dtype.kind == "c" else np.zeros((), np.float32))


def convert(out: Any, source: Any) -> None:
    """Write `source` into `out`, converting as C casts do: floats truncate, complex loses its imaginary part."""
    if out.dtype == source.dtype:
        out[...] = source
        return
    if source.dtype.kind == "b":
        source = source.view(np.uint8) != 0  # bytes seen as bool may be any
    if out.dtype.names or source.dtype.names:
        _convert_pairs(out, source)
    elif source.dtype.kind == "c" and out.dtype.kind != "c":
        np.copyto(out, source.real if out.dtype.kind != "b" else source != 0, casting="unsafe")
    elif out.dtype.kind in "iu" and source.dtype.kind not in "iub":
        with warnings.catch_warnings(), np.errstate(invalid="ignore", over="ignore"):
            warnings.simplefilter("ignore")
            if out.dtype.itemsize < 8:
                source = source.astype(np.float64).astype(np.int64 if out.dtype in _THROUGH_64 else np.int32)
            np.copyto(out, source, casting="unsafe")
    elif out.dtype in EIGHT_BITS:
        EIGHT_BITS[out.dtype](out, source if source.dtype.kind in "fiub" else source.astype(np.float32))
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(out, source, casting="unsafe")


_THROUGH_64 = (np.uint8, np.uint32)
"""Whole numbers that floats become through those of 64 bits, where what does not fit wraps; others through 32 bits."""


def _saturating(out: Any, source: Any) -> None:
    """A type without infinity takes what is too large as its largest value, infinity included."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, np.clip(source, -_LARGEST_E4M3, _LARGEST_E4M3), casting="unsafe")


def _with_full_nan(out: Any, source: Any) -> None:
    """A type with several NaNs gets the one of all ones."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, source, casting="unsafe")
    if source.dtype.kind == "f":
        nan = np.isnan(source)
        if nan.any():
            out.view(np.uint8)[...] |= np.where(nan, np.uint8(0x7F), np.uint8(0))


def _exponents(out: Any, source: Any) -> None:
    """A type of powers of two takes a number's magnitude, and zero as the least of them."""
    magnitude = np.abs(source.astype(np.float32))
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, np.maximum(magnitude, _LEAST_E8M0), casting="unsafe")


_LARGEST_E4M3, _LEAST_E8M0 = 448.0, np.float32(2.0**-127)
EIGHT_BITS = {
    np.dtype(ml_dtypes.float8_e4m3fn): _saturating,
    np.dtype(ml_dtypes.float8_e5m2): _with_full_nan,
    np.dtype(ml_dtypes.float8_e8m0fnu): _exponents,
}
"""Types that numpy's casts treat otherwise than torch's, with the function that writes into them."""


@kernel("clone", "_to_copy", upcast=False)
def clone(out: Any, self: Any, *options: Any) -> None:
    """Copy, converting to the output's dtype."""
    convert(out, self)


@kernel("copy_", upcast=False)
def copy_(out: Any, self: Any, src: Any, non_blocking: bool) -> None:
    """Copy into the target, broadcasting and converting."""
    if isinstance(src, np.ndarray):
        convert(out, src)
    else:
        out[...] = np.array(src).astype(out.dtype)
