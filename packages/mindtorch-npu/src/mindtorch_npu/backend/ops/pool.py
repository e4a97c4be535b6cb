"""Pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

_INT32 = np.dtype(np.int32)
_MAX3D, _MAX3D_BACKWARD = Operator("MaxPool3dWithArgmax"), Operator("MaxPool3dWithArgmaxBackward")
_ADAPTIVE3D, _ADAPTIVE3D_BACKWARD = Operator("AdaptiveMaxPool3d"), Operator("AdaptiveMaxPool3dBackward")


def _divided(*given: object) -> tuple[Any, ...]:
    """Return an average's operands; 0 stands for no divisor."""
    return (*given[:-1], given[-1] or 0)


def _with_narrow_indices(operator: Operator) -> Any:
    """Return a kernel whose operator gives int32 indices where the row has int64."""

    def run(outs: Sequence[DeviceArray], x: DeviceArray, *how: object) -> None:
        out, where = outs
        if not out.size:
            return
        narrow = new_array(where.shape, _INT32, where.device)
        operator((out, narrow), (x, *how))
        launch("aclnnInplaceCopy", [where, narrow])

    return run


def _back_with_narrow_indices(operator: Operator, place: int) -> Any:
    def run(out: DeviceArray, grad: DeviceArray, x: DeviceArray, *rest: Any) -> None:
        if not grad.size:
            if out.size:
                launch("aclnnInplaceZero", [out])
            return
        where = rest[place].astype(_INT32)
        how = [value for number, value in enumerate(rest) if number != place % len(rest)]
        operator((out,), (grad, x, where, *how))

    return run


aclnn("avg_pool2d", "AvgPool2d", adapt=_divided)
aclnn("avg_pool2d_backward", "AvgPool2dBackward", adapt=_divided)
aclnn("avg_pool3d", "AvgPool3d", adapt=_divided)
aclnn("avg_pool3d_backward", "AvgPool3dBackward", adapt=_divided)
aclnn("_adaptive_avg_pool2d", "AdaptiveAvgPool2d")
aclnn("_adaptive_avg_pool2d_backward", "AdaptiveAvgPool2dBackward")
aclnn("_adaptive_avg_pool3d", "AdaptiveAvgPool3d")
aclnn("_adaptive_avg_pool3d_backward", "AdaptiveAvgPool3dBackward")
aclnn("max_pool2d_with_indices", "MaxPool2dWithIndices")
aclnn(
    "max_pool2d_with_indices_backward",
    "MaxPool2dWithIndicesBackward",
    adapt=lambda grad, x, size, stride, padding, dilation, ceil, where: (
        grad, x, where, size, stride, padding, dilation, ceil
    ),
)  # fmt: skip
written("max_pool3d_with_indices", "MaxPool3dWithArgmax", _with_narrow_indices(_MAX3D))
written(
    "max_pool3d_with_indices_backward",
    "MaxPool3dWithArgmaxBackward",
    _back_with_narrow_indices(_MAX3D_BACKWARD, -1),
)
aclnn("adaptive_max_pool2d", "AdaptiveMaxPool2d")
aclnn("adaptive_max_pool2d_backward", "AdaptiveMaxPool2dBackward")
written("adaptive_max_pool3d", "AdaptiveMaxPool3d", _with_narrow_indices(_ADAPTIVE3D))
written("adaptive_max_pool3d_backward", "AdaptiveMaxPool3dBackward", _back_with_narrow_indices(_ADAPTIVE3D_BACKWARD, 0))
aclnn("max_unpool2d", "MaxUnpool2d", adapt=lambda x, where, size, *rest: (x, where, size))


def _unpool3d(out: DeviceArray, x: Any, where: Any, size: Sequence[int], *rest: object) -> None:
    """Places are numbers within the whole volume, so that a volume is a plane of its slices' elements."""
    lead = x.shape[:-3]
    flat = [on.reshaped(one, (*lead, one.shape[-3], one.shape[-2] * one.shape[-1])) for one in (x, where)]
    flat = [on.reshaped(one, (1, *one.shape)) if len(lead) == 1 else one for one in flat]
    plane = (size[0], size[1] * size[2])
    made = on.apply("MaxUnpool2d", (*flat[0].shape[:-2], *plane), x.dtype, *flat, list(plane))
    on.copied(out, on.reshaped(made, out.shape))


written("max_unpool3d", "MaxUnpool2d", _unpool3d)
