"""Norms, under torch_npu's names. Each computes in float32 and returns what its backward needs, as torch_npu does."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "batch_norm_reduce", "npu_add_layer_norm", "npu_add_rms_norm_cast", "npu_add_rms_norm_v2",
    "npu_add_rms_norm_v2_functional", "npu_deep_norm", "npu_gemma_rms_norm", "npu_group_norm_silu", "npu_group_norm_swish",
    "npu_layer_norm_eval",
]  # fmt: skip


def normed(x: Tensor, gamma: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return float32 rows over the root of their mean square, and the reciprocal of that root."""
    wide = x.float()
    rstd = wide.pow(2).mean(tuple(range(-gamma.dim(), 0)), keepdim=True).add(epsilon).rsqrt()
    return wide * rstd, rstd


@operator("npu_gemma_rms_norm(Tensor self, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)")
def npu_gemma_rms_norm(self: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """Return `npu_rms_norm` with one more than `gamma`."""
    made, rstd = normed(self, gamma, epsilon)
    return (made * (gamma.float() + 1)).to(self.dtype), rstd


@operator(
    "npu_add_rms_norm_cast(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_add_rms_norm_cast(
    x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return `npu_rms_norm` of the sum as float32 and in the sum's dtype, the reciprocal root, and the sum."""
    total = x1 + x2
    made, rstd = torch.ops.npu.npu_rms_norm(total, gamma, epsilon)
    return made.float(), made, rstd, total


@operator(
    "npu_add_layer_norm(Tensor x1, Tensor x2, Tensor gamma, Tensor beta, float epsilon=1e-05, "
    "bool additional_output=False) -> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_add_layer_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the layer norm of the sum, its mean, the reciprocal deviation, and the sum where it is asked for."""
    total = x1 + x2
    made, mean, rstd = torch.native_layer_norm(total, gamma.shape, gamma, beta, epsilon)
    return made, mean, rstd, total if additional_output else torch.empty_like(total)


@operator(
    "npu_deep_norm(Tensor x, Tensor gx, Tensor beta, Tensor gamma, float alpha=0.3, float epsilon=1e-06) "
    "-> (Tensor, Tensor, Tensor)"
)
def npu_deep_norm(
    x: Tensor, gx: Tensor, beta: Tensor, gamma: Tensor, alpha: float = 0.3, epsilon: float = 1e-6
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mean, the reciprocal deviation and the layer norm of `alpha * x + gx`."""
    made, mean, rstd = torch.native_layer_norm(x * alpha + gx, gamma.shape, gamma, beta, epsilon)
    return mean, rstd, made


@operator(
    "npu_layer_norm_eval(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05) -> Tensor"
)
def npu_layer_norm_eval(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Return the layer norm."""
    return F.layer_norm(input, list(normalized_shape), weight, bias, eps)


def _group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    count, channels = input.shape[:2]
    rest = input.numel() // max(1, count * channels)
    return torch.native_group_norm(input, weight, bias, count, channels, rest, group, eps)


@operator(
    "npu_group_norm_silu(Tensor input, Tensor? weight, Tensor? bias, int group, float eps=1e-05) "
    "-> (Tensor, Tensor, Tensor)"
)
def npu_group_norm_silu(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `silu` of the group norm, the means and the reciprocal deviations."""
    made, mean, rstd = _group_norm(input, weight, bias, group, eps)
    return F.silu(made), mean, rstd


@operator(
    "npu_group_norm_swish(Tensor input, int num_groups, Tensor weight, Tensor bias, float? eps=1e-05, "
    "float? swish_scale=1.0) -> (Tensor, Tensor, Tensor)"
)
def npu_group_norm_swish(
    input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, eps: float | None = 1e-5,
    swish_scale: float | None = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the group norm times the sigmoid of its scaled self, the means and the reciprocal deviations."""
    made, mean, rstd = _group_norm(input, weight, bias, num_groups, 1e-5 if eps is None else eps)
    return made * torch.sigmoid(made * (1.0 if swish_scale is None else swish_scale)), mean, rstd


@operator("npu_add_rms_norm_v2(Tensor(a!) x1, Tensor(b!) x2, Tensor gamma, float epsilon=1e-06) -> Tensor")
def npu_add_rms_norm_v2(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> Tensor:
    """Write `npu_rms_norm` of the sum over the first and the sum over the second, and return the reciprocal root."""
    made, rstd, total = torch.ops.npu.npu_add_rms_norm(x1, x2, gamma, epsilon)
    x1.copy_(made)
    x2.copy_(total)
    return rstd


@operator(
    "npu_add_rms_norm_v2_functional(Tensor x1, Tensor x2, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor, Tensor)"
)
def npu_add_rms_norm_v2_functional(
    x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the reciprocal root, `npu_rms_norm` of the sum, and the sum."""
    made, rstd, total = torch.ops.npu.npu_add_rms_norm(x1, x2, gamma, epsilon)
    return rstd, made, total


@operator("batch_norm_reduce(Tensor input, float eps) -> (Tensor, Tensor)")
def batch_norm_reduce(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return the sum and the sum of squares of each channel in float32."""
    dims = [0, *range(2, input.dim())]
    wide = input.float()
    return wide.sum(dims), wide.pow(2).sum(dims)
