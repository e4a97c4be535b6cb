"""Products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _plus(x: Array, product: Array, beta: float, alpha: int) -> Any:
    product = product if alpha == 1 else product * product.dtype.type(alpha)
    return product if beta == 0 else (x if beta == 1 else x * product.dtype.type(beta)) + product


kernel("Matmul", lambda a, b, cube: np.matmul(a, b), workspace=True)
kernel("Mm", lambda a, b, cube: np.matmul(a, b), workspace=True)
kernel("BatchMatMul", lambda a, b, cube: np.matmul(a, b), workspace=True)
kernel("Mv", lambda a, b, cube: np.matmul(a, b), workspace=True)
kernel("Dot", np.dot, workspace=True)
kernel("Ger", np.outer)
kernel("Addmm", lambda x, a, b, beta, alpha, cube: _plus(x, a @ b, beta, alpha), workspace=True)
kernel("Baddbmm", lambda x, a, b, beta, alpha, cube: _plus(x, a @ b, beta, alpha), workspace=True)
kernel("Addbmm", lambda x, a, b, beta, alpha, cube: _plus(x, (a @ b).sum(0), beta, alpha), workspace=True)
kernel("Addmv", lambda x, a, b, alpha, beta, cube: _plus(x, a @ b, beta, alpha), workspace=True)
kernel("Addr", lambda x, a, b, beta, alpha: _plus(x, np.outer(a, b), beta, alpha))
kernel("Inverse", np.linalg.inv, workspace=True, values_matter=True)
kernel("LinalgCross", lambda a, b, dim: np.cross(a, b, axis=dim))
