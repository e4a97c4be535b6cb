"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def r2c_grad(grad: Tensor, self_spec: Spec, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    """The real part of the inverse transform, missing frequencies zero."""
    if onesided:
        last = dim[-1] % grad.ndim
        missing = self_spec.shape[last] - grad.size(last)
        if missing > 0:
            pads = [0] * (2 * (grad.ndim - last))
            pads[-1] = missing
            grad = aten.constant_pad_nd(grad, pads)
    return aten.real(aten._fft_c2c(grad, dim, normalization, False))


def c2r_grad(grad: Tensor, dim: Sequence[int], normalization: int) -> Any:
    """The transform of the gradient; frequencies that stand for two count twice."""
    result = aten._fft_r2c(grad, dim, normalization, True)
    last = dim[-1]
    doubled = grad.size(last) - result.size(last)
    if doubled > 0:
        middle = aten.mul(aten.narrow(result, last, 1, doubled), 2)
        rest = result.size(last) - doubled - 1
        parts = [aten.narrow(result, last, 0, 1), middle]
        if rest > 0:
            parts.append(aten.narrow(result, last, doubled + 1, rest))
        result = aten.cat(parts, last)
    return result


derivative(
    "_fft_c2c",
    self=lambda grad, dim, normalization, forward: aten._fft_c2c(grad, dim, normalization, not forward),
    node="FftC2CBackward0",
)
derivative("_fft_r2c", self=r2c_grad, node="FftR2CBackward0")
derivative("_fft_c2r", self=c2r_grad, node="FftC2RBackward0")
