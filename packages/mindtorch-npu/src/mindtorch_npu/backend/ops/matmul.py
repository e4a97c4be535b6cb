"""Products of matrices."""

from __future__ import annotations

from mindtorch_npu.backend.register import aclnn

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
