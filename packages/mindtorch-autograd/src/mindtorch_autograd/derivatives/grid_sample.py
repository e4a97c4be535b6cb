"""Sampling at the points of a grid."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative, joint


def _sample(dims: int) -> Any:
    @joint("input", "grid")
    def formula(
        grad: Any, needs: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
    ) -> Any:
        backward = getattr(aten, f"grid_sampler_{dims}d_backward")
        return backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, list(needs))

    return formula


derivative("grid_sampler_2d", _sample(2))
derivative("grid_sampler_3d", _sample(3))
derivative(
    "affine_grid_generator",
    theta=lambda grad, size, align_corners: aten.affine_grid_generator_backward(grad, size, align_corners),
)
derivative(
    "affine_grid_generator_backward",
    grad=lambda grad, size, align_corners: aten.affine_grid_generator(grad, size, align_corners),
)
