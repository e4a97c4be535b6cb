"""Activations, softmax and losses, under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "dropout_with_byte_mask", "fast_gelu", "npu_clipped_swiglu", "npu_cross_entropy_loss", "npu_dropout_with_add_softmax",
    "npu_fast_gelu", "npu_geglu", "npu_gelu", "npu_gelu_mul", "npu_masked_softmax_with_rel_pos_bias", "npu_mish",
    "npu_scaled_masked_softmax", "npu_silu", "npu_silu_", "npu_sim_exponential_",
    "npu_softmax_cross_entropy_with_logits", "npu_top_k_top_p",
]  # fmt: skip


@operator(
    "npu_clipped_swiglu(Tensor x, *, Tensor? group_index=None, int dim=-1, float alpha=1.702, float limit=7.0, "
    "float bias=1.0, bool interleaved=True) -> Tensor"
)
def npu_clipped_swiglu(
    x: Tensor, *, group_index: Tensor | None = None, dim: int = -1, alpha: float = 1.702, limit: float = 7.0,
    bias: float = 1.0, interleaved: bool = True,
) -> Tensor:  # fmt: skip
    """Return `npu_swiglu` of numbers that are cut off at a limit, as gpt-oss computes it; zeros behind the groups' rows."""
    place = dim % x.dim()
    rows = x.reshape(int(torch.Size(x.shape[:place]).numel()), -1)
    gate, linear = (rows[:, ::2], rows[:, 1::2]) if interleaved else rows.chunk(2, -1)
    gate, linear = gate.clamp(max=limit), linear.clamp(-limit, limit)
    made = gate * torch.sigmoid(alpha * gate) * (linear + bias)
    if group_index is not None:
        used = torch.arange(rows.shape[0], device=x.device) < group_index.sum()
        made = made.masked_fill(~used.unsqueeze(-1), 0.0)
    return made.reshape(*x.shape[:place], x.shape[place] // 2, *x.shape[place + 1 :])


@operator("npu_geglu(Tensor self, int dim=-1, int approximate=1, bool activate_left=False) -> (Tensor, Tensor)")
def npu_geglu(self: Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False) -> tuple[Tensor, Tensor]:
    """Return one half times `gelu` of the other, and that `gelu`."""
    left, right = self.chunk(2, dim)
    kept, gated = (right, left) if activate_left else (left, right)
    gate = F.gelu(gated, approximate="tanh" if approximate else "none")
    return kept * gate, gate


@operator("npu_gelu(Tensor self, *, str approximate='none') -> Tensor")
def npu_gelu(self: Tensor, *, approximate: str = "none") -> Tensor:
    """Return `gelu`."""
    return F.gelu(self, approximate=approximate)


@operator("npu_gelu_mul(Tensor input, *, str approximate='none') -> Tensor")
def npu_gelu_mul(input: Tensor, *, approximate: str = "none") -> Tensor:
    """Return the first half of the last dimension under `gelu`, times the second."""
    first, second = input.chunk(2, -1)
    return F.gelu(first, approximate=approximate) * second


@operator("npu_fast_gelu(Tensor self) -> Tensor")
def npu_fast_gelu(self: Tensor) -> Tensor:
    """Return x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), the chip's quick `gelu`: x sigmoid(1.702 x)."""
    return self * torch.sigmoid(1.702 * self)


fast_gelu = operator("fast_gelu(Tensor self) -> Tensor")(npu_fast_gelu)


@operator("npu_silu(Tensor self) -> Tensor")
def npu_silu(self: Tensor) -> Tensor:
    """Return `silu`."""
    return F.silu(self)


@operator("npu_silu_(Tensor(a!) self) -> Tensor(a!)")
def npu_silu_(self: Tensor) -> Tensor:
    """`silu` in place."""
    return F.silu(self, inplace=True)


@operator("npu_mish(Tensor self) -> Tensor")
def npu_mish(self: Tensor) -> Tensor:
    """Return `mish`."""
    return F.mish(self)


@operator("npu_scaled_masked_softmax(Tensor x, Tensor mask, Scalar scale=1, bool fixed_triu_mask=False) -> Tensor")
def npu_scaled_masked_softmax(x: Tensor, mask: Tensor, scale: float = 1.0, fixed_triu_mask: bool = False) -> Tensor:
    """Return `softmax` of the scaled scores over the last dimension, hidden ones at -10000."""
    if fixed_triu_mask:
        mask = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    return torch.softmax((x * scale).masked_fill(mask.bool(), -10000.0), -1)


@operator(
    "npu_masked_softmax_with_rel_pos_bias(Tensor x, Tensor? atten_mask, Tensor relative_pos_bias, "
    "float scale_value=1.0, int inner_precision_mode=0) -> Tensor"
)
def npu_masked_softmax_with_rel_pos_bias(
    x: Tensor, atten_mask: Tensor | None, relative_pos_bias: Tensor, scale_value: float = 1.0,
    inner_precision_mode: int = 0,
) -> Tensor:  # fmt: skip
    """Return `softmax` of the scaled scores plus the mask plus the bias of places, as windows of Swin have them."""
    total = x * scale_value
    if atten_mask is not None:
        total = total + atten_mask.reshape(*(1,) * (total.dim() - atten_mask.dim()), *atten_mask.shape)
    return torch.softmax(total + relative_pos_bias, -1)


@operator(
    "npu_dropout_with_add_softmax(Tensor self, Tensor x1, Scalar alpha, float prob, int dim) -> (Tensor, Tensor, Tensor)"
)
def npu_dropout_with_add_softmax(
    self: Tensor, x1: Tensor, alpha: float, prob: float, dim: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what was kept, `softmax` of `self * alpha + x1`, and dropout of it."""
    probabilities = torch.softmax(self * alpha + x1, dim)
    kept, mask = torch.native_dropout(probabilities, prob, True)
    return mask.to(torch.uint8), probabilities, kept


@operator("dropout_with_byte_mask(Tensor self, float p, bool train) -> Tensor")
def dropout_with_byte_mask(self: Tensor, p: float, train: bool) -> Tensor:
    """Return the tensor with elements left out by chance."""
    return F.dropout(self, p, train)


@operator("npu_sim_exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)")
def npu_sim_exponential_(self: Tensor, lambd: float = 1.0, *, generator: torch.Generator | None = None) -> Tensor:
    """Write numbers of the exponential distribution."""
    return self.exponential_(lambd, generator=generator)


@operator("npu_top_k_top_p(Tensor logits, Tensor? p=None, Tensor? k=None) -> Tensor")
def npu_top_k_top_p(logits: Tensor, p: Tensor | None = None, k: Tensor | None = None) -> Tensor:
    """Return the logits with minus infinity where a token is not of its row's `k` best or of the best that make up `p`."""
    ordered, places = logits.sort(dim=-1, descending=False, stable=True)
    if k is not None:
        least = ordered.gather(1, (ordered.shape[1] - k.long()).unsqueeze(1))
        ordered = ordered.masked_fill(ordered < least, float("-inf"))
    if p is not None:
        total = ordered.float().softmax(-1).cumsum(-1)
        last = torch.arange(ordered.shape[1], device=logits.device) == ordered.shape[1] - 1
        ordered = ordered.masked_fill((total <= 1 - p.unsqueeze(1)) & ~last, float("-inf"))
    return torch.empty_like(ordered).scatter_(-1, places, ordered)


@operator(
    "npu_cross_entropy_loss(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean', "
    "int ignore_index=-100, float label_smoothing=0.0, float lse_square_scale_for_zloss=0.0, bool return_zloss=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_cross_entropy_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean", ignore_index: int = -100,
    label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, return_zloss: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the loss, the logarithms of the probabilities, and two that only its own backward uses, empty here."""
    if lse_square_scale_for_zloss or return_zloss:
        raise NotImplementedError("torch_npu.npu_cross_entropy_loss: the z loss is not supported")
    logs = torch.log_softmax(input, -1)
    loss = F.cross_entropy(
        input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
    return loss, logs, input.new_empty(0), input.new_empty(0)


@operator("npu_softmax_cross_entropy_with_logits(Tensor self, Tensor labels) -> Tensor")
def npu_softmax_cross_entropy_with_logits(self: Tensor, labels: Tensor) -> Tensor:
    """Return each row's cross entropy with probabilities."""
    return -(labels * torch.log_softmax(self, -1)).sum(-1)
