"""Copies and conversions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..register import kernel


def _convert_pairs(out: Any, source: Any) -> None:
    """Convert from or to complex32, which numpy knows as a pair of halves only."""
    if source.dtype.names:
        source = source["real"].astype(np.float32) + np.complex64(1j) * source["imag"].astype(np.float32)
    if not out.dtype.names:
        convert(out, source)
        return
    convert(out["real"], source.real if source.dtype.kind == "c" else source)
    if source.dtype.kind == "c":
        convert(out["imag"], source.imag)
    else:
        out["imag"][...] = 0


def convert(out: Any, source: Any) -> None:
    """Write `source` into `out`, converting as C casts do: floats truncate, complex loses its imaginary part."""
    if out.dtype == source.dtype:
        out[...] = source
    elif source.dtype.names is not None:
        convert(out, source["real"] + source["imag"] * np.complex64(1j))
    elif out.dtype.names is not None:
        convert(out["real"], source.real)
        convert(out["imag"], source.imag if source.dtype.kind == "c" else np.zeros((), np.float32))
    elif out.dtype.names or source.dtype.names:
        _convert_pairs(out, source)
    elif source.dtype.kind == "c" and out.dtype.kind != "c":
        np.copyto(out, source.real if out.dtype.kind != "b" else source != 0, casting="unsafe")
    elif out.dtype.kind in "iu" and source.dtype.kind not in "iub":
        with warnings.catch_warnings(), np.errstate(invalid="ignore", over="ignore"):
            warnings.simplefilter("ignore")
            if out.dtype.itemsize < 8:
                source = source.astype(np.float64).astype(np.int64)
            np.copyto(out, source, casting="unsafe")
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            np.copyto(out, source, casting="unsafe")


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
