"""Sampling by the number of dimensions."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.grid_sample import check_sample
from ..typing import Tensor


def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """`grid_sampler`."""
    dims = 3 if len(input.shape) == 5 else 2
    check_sample(input._sig.spec, grid._sig.spec, max(len(input.shape) - 2, 1), interpolation_mode)
    sampler = aten.grid_sampler_3d if dims == 3 else aten.grid_sampler_2d
    return sampler(input, grid, interpolation_mode, padding_mode, align_corners)
