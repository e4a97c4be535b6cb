"""Layers with quantized weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.decomp.quantized import exact_parameters

from ..register import kernel

_MOST_LEVEL = 127


def _range(values: Any) -> tuple[float, float]:
    """Return the least and the greatest number, as torch finds them: nans count where there is nothing else."""
    known = values[~np.isnan(values)]
    if values.size and not known.size:
        raise RuntimeError("In ChooseQuantizationParams, min should be less than or equal to max")
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def _levels(values: Any, scale: Any, zero_point: int) -> Any:
    """Return the whole numbers that stand for others; product and sum are rounded once, as a fused one is."""
    product = values.astype(np.float64) * np.float64(np.float32(1) / scale) + zero_point
    return np.clip(np.nan_to_num(np.rint(product.astype(np.float32)), nan=255.0), 0, 255).astype(np.float64)


@kernel("quantized::_linear_dynamic")
def linear_dynamic(
    out: Any, input: Any, weight: Any, sums: Any, bias: Any, out_features: int, scale: float, zero_point: int
) -> None:
    """Rows, rounded by the range of all of them, times the weight's integers; the scaled sum is rounded once."""
    if not out.size:
        return
    panels, words, columns, word = weight.shape
    depth = input.shape[-1]
    rows = weight.transpose(0, 2, 1, 3).reshape(panels * columns, words * word)[:out_features, :depth]
    with np.errstate(all="ignore"):
        found, zero = exact_parameters(*_range(input), 0, _MOST_LEVEL)
        single = np.float32(found)
        levels = _levels(input, single, zero) - zero
        whole = np.matmul(levels, (rows.astype(np.float64) - zero_point).T).astype(np.float32)
        exact = whole.astype(np.float64) * np.float64(single * np.float32(scale))
        out[...] = exact if bias is None else exact + bias.astype(np.float64)
