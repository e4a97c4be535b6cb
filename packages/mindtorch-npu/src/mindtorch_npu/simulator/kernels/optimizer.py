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
    return _moved(var, m, v, largest, -grad if maximize else grad, float(step.reshape(-1)[0]) + 1,
                  (lr, beta1, beta2, decay, eps), amsgrad)  # fmt: skip


def _moved(
    var: Array, m: Array, v: Any, largest: Any, grad: Any, count: float, rates: tuple[float, ...], amsgrad: bool
) -> Any:
    lr, beta1, beta2, decay, eps = rates
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


def _fused_adamw(
    params: list[Array], grads: list[Array], means: list[Array], squares: list[Array], largest: list[Array] | None,
    steps: list[Array], grad_scale: Array | None, found_inf: Array | None, lr: float, beta1: float, beta2: float,
    decay: float, eps: float, amsgrad: bool, maximize: bool,
) -> Any:  # fmt: skip
    if grad_scale is not None or found_inf is not None or amsgrad:
        raise ValueError("FusedAdamw: only without scaled gradients and amsgrad")
    made = [
        _moved(*one[:3], None, -one[3] if maximize else one[3], float(one[4].reshape(-1)[0]),
               (lr, beta1, beta2, decay, eps), False)
        for one in zip(params, means, squares, grads, steps, strict=True)
    ]  # fmt: skip
    return (*([one[place] for one in made] for place in range(3)), None)


_LISTS = ("paramsRef", "expAvgsRef", "expAvgSqsRef", "maxExpAvgSqsRef")
kernel("FusedAdamw", _fused_adamw, outputs=_LISTS, updates=_LISTS, workspace=True)
