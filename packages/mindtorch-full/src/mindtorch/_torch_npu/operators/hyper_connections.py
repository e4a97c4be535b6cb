"""Streams of residuals that mix with each other (mHC), under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_mhc_post", "npu_mhc_pre", "npu_mhc_sinkhorn",
]  # fmt: skip


@operator("npu_mhc_post(Tensor x, Tensor? h_res, Tensor h_out, Tensor h_post) -> Tensor")
def npu_mhc_post(x: Tensor, h_res: Tensor | None, h_out: Tensor, h_post: Tensor) -> Tensor:
    """Return streams of residuals mixed with each other, each with its share of a layer's result."""
    added = h_post.float().unsqueeze(-1) * h_out.float().unsqueeze(-2)
    kept = x.float() if h_res is None else h_res.float().transpose(-2, -1) @ x.float()
    return (kept + added).to(x.dtype)


@operator(
    "npu_mhc_pre(Tensor x, Tensor phi, Tensor alpha, Tensor bias, *, Tensor? gamma=None, float norm_eps=1e-6, "
    "float hc_eps=1e-6, int out_flag=0, int inner_precise=0) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_mhc_pre(
    x: Tensor, phi: Tensor, alpha: Tensor, bias: Tensor, *, gamma: Tensor | None = None, norm_eps: float = 1e-6,
    hc_eps: float = 1e-6, out_flag: int = 0, inner_precise: int = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return a layer's input of streams of residuals, how its result is shared, how they mix, and what the three are of."""
    streams, width = x.shape[-2:]
    flat = x.float().flatten(-2)
    root = flat.square().mean(-1, keepdim=True).add(norm_eps).rsqrt()
    mixed = (flat if gamma is None else flat * gamma.float().flatten()) @ phi.float().t()
    weight = mixed * root
    before = torch.sigmoid(weight[..., :streams] * alpha[0] + bias[:streams]) + hc_eps
    after = 2 * torch.sigmoid(weight[..., streams : 2 * streams] * alpha[1] + bias[streams : 2 * streams])
    rest = weight[..., 2 * streams :]
    between = rest * alpha[2] + bias[2 * streams :] if rest.shape[-1] else rest
    between = between.unflatten(-1, (streams, streams)) if rest.shape[-1] else between
    layer = (before.unsqueeze(-1) * flat.unflatten(-1, (streams, width))).sum(-2).to(x.dtype)
    if out_flag:
        return layer, after, between, root.squeeze(-1), mixed, before
    return layer, after, between, root.new_empty(0), root.new_empty(0), root.new_empty(0)


@operator("npu_mhc_sinkhorn(Tensor x, *, float eps=1e-6, int num_iters=20, int out_flag=0) -> (Tensor, Tensor, Tensor)")
def npu_mhc_sinkhorn(
    x: Tensor, *, eps: float = 1e-6, num_iters: int = 20, out_flag: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Return matrices whose rows and columns each sum up to one; what its own backward uses is empty here."""
    if out_flag:
        refuse("npu_mhc_sinkhorn", "out_flag")
    made = torch.softmax(x.float(), -1) + eps
    made = made / (made.sum(-2, keepdim=True) + eps)
    for _ in range(num_iters - 1):
        made = made / (made.sum(-1, keepdim=True) + eps)
        made = made / (made.sum(-2, keepdim=True) + eps)
    return made.to(x.dtype), x.new_empty(0), x.new_empty(0)
