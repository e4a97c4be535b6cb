"""Resizing: the gradient is the transposed resize, and the gradient of that the resize again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative


def _resizes(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return what gives a resize and its transpose when a formula runs: rows are read after formulas."""
    return lambda: getattr(aten, name).default, lambda: getattr(aten, f"{name}_backward")


def _plain(name: str, dims: int) -> tuple[Any, Any]:
    """Return the formulas of a resize without corners to align."""
    forward, backward = _resizes(name)
    if dims == 1:
        return (
            lambda grad, self_spec, output_size, scales: backward()(grad, output_size, list(self_spec.shape), scales),
            lambda grad, output_size, scales: forward()(grad, output_size, scales),
        )
    if dims == 2:
        return (
            lambda grad, self_spec, output_size, scales_h, scales_w: backward()(
                grad, output_size, list(self_spec.shape), scales_h, scales_w
            ),
            lambda grad, output_size, scales_h, scales_w: forward()(grad, output_size, scales_h, scales_w),
        )
    return (
        lambda grad, self_spec, output_size, scales_d, scales_h, scales_w: backward()(
            grad, output_size, list(self_spec.shape), scales_d, scales_h, scales_w
        ),
        lambda grad, output_size, scales_d, scales_h, scales_w: forward()(
            grad, output_size, scales_d, scales_h, scales_w
        ),
    )


def _aligned(name: str, dims: int) -> tuple[Any, Any]:
    """Return the formulas of a resize that may align corners."""
    forward, backward = _resizes(name)
    if dims == 1:
        return (
            lambda grad, self_spec, output_size, align_corners, scales: backward()(
                grad, output_size, list(self_spec.shape), align_corners, scales
            ),
            lambda grad, output_size, align_corners, scales: forward()(grad, output_size, align_corners, scales),
        )
    if dims == 2:
        return (
            lambda grad, self_spec, output_size, align_corners, scales_h, scales_w: backward()(
                grad, output_size, list(self_spec.shape), align_corners, scales_h, scales_w
            ),
            lambda grad, output_size, align_corners, scales_h, scales_w: forward()(
                grad, output_size, align_corners, scales_h, scales_w
            ),
        )
    return (
        lambda grad, self_spec, output_size, align_corners, scales_d, scales_h, scales_w: backward()(
            grad, output_size, list(self_spec.shape), align_corners, scales_d, scales_h, scales_w
        ),
        lambda grad, output_size, align_corners, scales_d, scales_h, scales_w: forward()(
            grad, output_size, align_corners, scales_d, scales_h, scales_w
        ),
    )


for _make, _names in (
    (_plain, {f"{kind}{n}d": n for kind in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3)}),
    (
        _aligned,
        {
            "upsample_linear1d": 1,
            "upsample_bilinear2d": 2,
            "upsample_trilinear3d": 3,
            "upsample_bicubic2d": 2,
            "_upsample_bilinear2d_aa": 2,
            "_upsample_bicubic2d_aa": 2,
            "_upsample_lanczos2d_aa": 2,
        },
    ),
):
    for _name, _dims in _names.items():
        _once, _twice = _make(_name, _dims)
        derivative(_name, self=_once)
        derivative(f"{_name}_backward", grad_output=_twice)
