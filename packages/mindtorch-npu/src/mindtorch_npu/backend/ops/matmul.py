"""Products of matrices."""

from __future__ import annotations

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import aclnn, written


def _grouped(
    out: DeviceArray, x: DeviceArray, y: DeviceArray, offsets: DeviceArray | None, bias: None, out_dtype: object
) -> None:
    """Compute each group's product; a matrix among the operands has its groups between offsets, which the host reads."""
    if offsets is None:
        return on.into(out, "Matmul", x, y)
    if out.ndim == 2 and out.size:
        launch("aclnnInplaceZero", [out])  # what no group has
    start = 0
    for group, end in enumerate(offsets.to_host().tolist()):
        if x.ndim == y.ndim:
            parts = _part(out, group), on.cut(x, 1, start, end), on.cut(y, 0, start, end)
        elif x.ndim == 2:
            parts = on.cut(out, 0, start, end), on.cut(x, 0, start, end), _part(y, group)
        else:
            parts = on.cut(out, 1, start, end), _part(x, group), on.cut(y, 1, start, end)
        if start < end:
            on.into(parts[0], "Matmul", parts[1], parts[2])
        elif parts[0].size:
            launch("aclnnInplaceZero", [parts[0]])
        start = end
    return None


def _part(x: DeviceArray, group: int) -> DeviceArray:
    return DeviceArray(x.storage, x.shape[1:], x.dtype, x.steps[1:], x.offset + group * x.steps[0], x.base)


aclnn("mm", "Mm")
aclnn("bmm", "BatchMatMul")
aclnn("mv", "Mv")
aclnn("dot", "Dot")
aclnn("addmm", "Addmm")
aclnn("baddbmm", "Baddbmm")
aclnn("addbmm", "Addbmm")
aclnn("addmv", "Addmv", adapt=lambda x, matrix, vector, beta, alpha: (x, matrix, vector, alpha, beta))
aclnn("addr", "Addr")
aclnn("linalg_cross", "LinalgCross")
written("_grouped_mm", "Matmul", _grouped)
