"""Steps of optimizers in one operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _adamw(
    var: Array, m: Array, v: Any, largest: Any, grad: Any, step: Array, lr: float, beta1: float, beta2: float, decay: float,
    eps: float, amsgrad: bool, maximize: bool,
) -> Any:  # fmt: skip
    grad = -grad if maximize else grad
    count = float(step.reshape(-1)[0]) + 1
    kind = np.float32
    var = var * kind(1 - lr * decay)
    m = m + (grad - m) * kind(1 - beta1)
    v = v * kind(beta2) + grad * grad * kind(1 - beta2)
    second = v
    if amsgrad:
        largest = second = np.maximum(largest, v)
    root = np.sqrt(second) / kind(np.sqrt(1 - beta2**count)) + kind(eps)
    return var - m / root * kind(lr / (1 - beta1**count)), m, v, largest if amsgrad else None


_STATE = ("varRef", "mRef", "vRef", "maxGradNormOptionalRef")
kernel("ApplyAdamWV2", _adamw, outputs=_STATE, updates=_STATE)
