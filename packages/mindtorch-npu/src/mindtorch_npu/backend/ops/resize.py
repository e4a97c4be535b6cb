"""Padding by reflection and repetition, and resizing images."""

from __future__ import annotations

from typing import Any

from mindtorch_npu.backend.register import aclnn

for _mode in ("reflection", "replication"):
    for _dims in (1, 2, 3):
        _name = f"{_mode.title()}Pad{_dims}d"
        aclnn(f"{_mode}_pad{_dims}d", _name)
        aclnn(f"{_mode}_pad{_dims}d_backward", _name + "Backward")


def _scaled(*given: object) -> tuple[Any, ...]:
    """Return a resizing's operands; 0 stands for no scale."""
    return tuple(0.0 if value is None else value for value in given)


for _row, _operator, _backward in (
    ("upsample_nearest1d", "UpsampleNearest1dV2", "UpsampleNearest1dBackward"),
    ("upsample_nearest2d", "UpsampleNearest2dV2", "UpsampleNearest2dBackward"),
    ("upsample_nearest3d", "UpsampleNearest3d", "UpsampleNearest3dBackward"),
    ("_upsample_nearest_exact1d", "UpsampleNearestExact1d", "UpsampleNearestExact1dBackward"),
    ("_upsample_nearest_exact2d", "UpsampleNearestExact2d", "UpsampleNearestExact2dBackward"),
    ("upsample_linear1d", "UpsampleLinear1d", "UpsampleLinear1dBackward"),
    ("upsample_bilinear2d", "UpsampleBilinear2d", "UpsampleBilinear2dBackward"),
    ("upsample_trilinear3d", "UpsampleTrilinear3d", "UpsampleTrilinear3dBackward"),
    ("upsample_bicubic2d", "UpsampleBicubic2d", "UpsampleBicubic2dBackward"),
    ("_upsample_bilinear2d_aa", "UpsampleBilinear2dAA", "UpsampleBilinear2dAABackward"),
    ("_upsample_bicubic2d_aa", "UpsampleBicubic2dAA", "UpsampleBicubic2dAAGrad"),
):
    aclnn(_row, _operator, adapt=_scaled)
    aclnn(f"{_row}_backward", _backward, adapt=_scaled)
