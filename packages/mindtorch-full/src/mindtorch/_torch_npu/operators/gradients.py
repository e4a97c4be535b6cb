"""Gradients of torch_npu's operators under its names: each is the gradient that the operator's own formula has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators import activation, moe
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_attn_softmax_", "npu_attn_softmax_backward_", "npu_dropout_do_mask", "npu_dropout_gen_mask", "npu_geglu_grad",
    "npu_group_norm_swish_grad", "npu_layernorm_grad", "npu_moe_token_permute_grad", "npu_moe_token_permute_grad_v2",
    "npu_moe_token_permute_with_routing_map_grad", "npu_moe_token_unpermute_grad", "npu_moe_token_unpermute_grad_v2",
    "repeat_interleave_backward_int", "repeat_interleave_backward_tensor",
]  # fmt: skip


def pulled(function: Callable[..., Tensor], given: Sequence[Tensor], grad: Tensor) -> tuple[Tensor, ...]:
    """Return what a gradient of the function's result is for each of its operands."""
    with torch.enable_grad():
        own = [one.detach().requires_grad_() for one in given]
        return torch.autograd.grad(function(*own), own, grad.detach())


@operator(
    "npu_geglu_grad(Tensor grad_output, Tensor self, Tensor gelu, int dim=-1, int approximate=1, "
    "bool activate_left=False) -> Tensor"
)
def npu_geglu_grad(
    grad_output: Tensor, self: Tensor, gelu: Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False
) -> Tensor:
    """Return the gradient of `npu_geglu`."""
    return pulled(lambda x: activation.npu_geglu(x, dim, approximate, activate_left)[0], (self,), grad_output)[0]


@operator(
    "npu_layernorm_grad(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, "
    "Tensor? bias) -> (Tensor, Tensor, Tensor)"
)
def npu_layernorm_grad(
    grad_out: Tensor, input: Tensor, normalized_shape: Sequence[int], mean: Tensor, rstd: Tensor,
    weight: Tensor | None, bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of the layer norm for the input, the weight and the bias."""
    back = torch.ops.aten.native_layer_norm_backward
    return back(grad_out, input, list(normalized_shape), mean, rstd, weight, bias, [True, True, True])


@operator(
    "npu_group_norm_swish_grad(Tensor grad, Tensor input, int num_groups, Tensor weight, Tensor bias, Tensor mean, "
    "Tensor rstd, bool[3] grad_input_mask, float? swish_scale=1.0) -> (Tensor, Tensor, Tensor)"
)
def npu_group_norm_swish_grad(
    grad: Tensor, input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, mean: Tensor, rstd: Tensor,
    grad_input_mask: Sequence[bool], swish_scale: float | None = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_group_norm_swish` for the input, the weight and the bias, which the mask asks for."""
    scale = 1.0 if swish_scale is None else swish_scale
    shape = (input.shape[0], num_groups, -1)
    side = [1, -1, *[1] * (input.dim() - 2)]

    def swish(x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
        groups = x.reshape(shape)
        centred = groups - groups.mean(-1, keepdim=True)
        # The norm's own numbers stand for the deviation: the gradient through it is written out.
        root = (centred.pow(2).mean(-1, keepdim=True) + _epsilon(centred, rstd.reshape(*shape[:2], 1))).rsqrt()
        made = (centred * root).reshape(x.shape) * gamma.reshape(side) + beta.reshape(side)
        return made * torch.sigmoid(made * scale)

    found = pulled(swish, (input, weight, bias), grad)
    first, second, third = (
        one if wanted else one.new_empty(0) for one, wanted in zip(found, grad_input_mask, strict=True)
    )
    return first, second, third


def _epsilon(centred: Tensor, rstd: Tensor) -> Tensor:
    """Return what the norm added to the variance, of the reciprocal deviation that it returned."""
    return (rstd.float().pow(-2) - centred.detach().float().pow(2).mean(-1, keepdim=True)).clamp(min=0).to(rstd.dtype)


@operator("npu_attn_softmax_(Tensor(a!) self) -> Tensor(a!)")
def npu_attn_softmax_(self: Tensor) -> Tensor:
    """`softmax` over the last dimension, in place."""
    return self.copy_(torch.softmax(self, -1))


@operator("npu_attn_softmax_backward_(Tensor(a!) self, Tensor grad_output, Tensor values) -> Tensor(a!)")
def npu_attn_softmax_backward_(self: Tensor, grad_output: Tensor, values: Tensor) -> Tensor:
    """Write over weights the gradient of their scores, of the gradient of `weights @ values`."""
    inner = torch.matmul(grad_output, values.transpose(-2, -1))
    return self.copy_(self * (inner - (inner * self).sum(-1, keepdim=True)))


@operator(
    "npu_dropout_gen_mask(int[] size, float p, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
def npu_dropout_gen_mask(
    size: Sequence[int], p: float, *, dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: torch.device | None = None, pin_memory: bool | None = None,
) -> Tensor:  # fmt: skip
    """Return which elements of so many sizes dropout keeps, as bits, on the current device or the one given."""
    like = torch.empty(0, device="npu" if device is None else device)
    return torch.ops.npu._npu_dropout_mask(like, int(torch.Size(size).numel()), p)


@operator("npu_dropout_do_mask(Tensor self, Tensor mask, float p) -> (Tensor, Tensor)")
def npu_dropout_do_mask(self: Tensor, mask: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """Return the elements whose bits are set, scaled, and the mask."""
    return torch.ops.npu.npu_dropout_backward(self, mask, p), mask.clone()


@operator(
    "npu_moe_token_permute_grad(Tensor tokens, Tensor grad_permuted_tokens, Tensor indices, Tensor sorted_indices, "
    "bool padded_mode=False) -> Tensor"
)
def npu_moe_token_permute_grad(
    tokens: Tensor, grad_permuted_tokens: Tensor, indices: Tensor, sorted_indices: Tensor, padded_mode: bool = False
) -> Tensor:
    """Return the gradient of `npu_moe_token_permute`."""
    return npu_moe_token_permute_grad_v2(
        grad_permuted_tokens, sorted_indices, tokens.shape[0], tokens.dtype, indices.numel() // max(1, tokens.shape[0]),
        padded_mode,
    )  # fmt: skip


@operator(
    "npu_moe_token_permute_grad_v2(Tensor grad_permuted_tokens, Tensor sorted_indices, int tokens_size_0, "
    "ScalarType tokens_dtype, int num_topK, bool padded_mode=False) -> Tensor"
)
def npu_moe_token_permute_grad_v2(
    grad_permuted_tokens: Tensor, sorted_indices: Tensor, tokens_size_0: int, tokens_dtype: torch.dtype, num_topK: int,
    padded_mode: bool = False,
) -> Tensor:  # fmt: skip
    """Return for each token the sum of the gradients where it went."""
    if padded_mode:
        raise NotImplementedError("torch_npu.npu_moe_token_permute_grad: padded_mode is not supported")
    places = sorted_indices.long()
    dropped = places >= grad_permuted_tokens.shape[0]
    found = grad_permuted_tokens.index_select(0, places.masked_fill(dropped, 0)).masked_fill(dropped.unsqueeze(-1), 0.0)
    return found.reshape(tokens_size_0, num_topK, -1).sum(1).to(tokens_dtype)


@operator(
    "npu_moe_token_unpermute_grad(Tensor permuted_tokens, Tensor grad_unpermuted_tokens, Tensor sorted_indices, "
    "Tensor? probs=None, bool padded_mode=False, int[]? restore_shape=None) -> (Tensor, Tensor)"
)
def npu_moe_token_unpermute_grad(
    permuted_tokens: Tensor, grad_unpermuted_tokens: Tensor, sorted_indices: Tensor, probs: Tensor | None = None,
    padded_mode: bool = False, restore_shape: Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_moe_token_unpermute` for the tokens and for the weights, empty without weights."""
    given = (permuted_tokens,) if probs is None else (permuted_tokens, probs)
    found = pulled(
        lambda tokens, *weights: moe.npu_moe_token_unpermute(tokens, sorted_indices, *weights, padded_mode=padded_mode),
        given,
        grad_unpermuted_tokens,
    )
    return found[0], found[1] if len(found) > 1 else permuted_tokens.new_empty(0)


@operator(
    "npu_moe_token_unpermute_grad_v2(Tensor grad_unpermuted_tokens, Tensor sorted_indices, int permuted_tokens_size_0, "
    "ScalarType permuted_tokens_dtype, Tensor? probs=None, bool padded_mode=False, int[]? restore_shape=None, "
    "Tensor? permuted_tokens=None) -> (Tensor, Tensor)"
)
def npu_moe_token_unpermute_grad_v2(
    grad_unpermuted_tokens: Tensor, sorted_indices: Tensor, permuted_tokens_size_0: int,
    permuted_tokens_dtype: torch.dtype, probs: Tensor | None = None, padded_mode: bool = False,
    restore_shape: Sequence[int] | None = None, permuted_tokens: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_moe_token_unpermute_grad`; the tokens themselves are needed where there are weights."""
    if permuted_tokens is None:
        if probs is not None:
            raise RuntimeError("permuted_tokens is needed with probs")
        width = grad_unpermuted_tokens.shape[-1]
        permuted_tokens = grad_unpermuted_tokens.new_zeros(permuted_tokens_size_0, width, dtype=permuted_tokens_dtype)
    return npu_moe_token_unpermute_grad(
        permuted_tokens, grad_unpermuted_tokens, sorted_indices, probs, padded_mode, restore_shape
    )


@operator(
    "npu_moe_token_permute_with_routing_map_grad(Tensor permuted_token_out_grad, Tensor? probs_grad, "
    "Tensor sorted_indices, Tensor routing_map, int experts_num, int tokens_num, bool drop_and_pad) -> (Tensor, Tensor)"
)
def npu_moe_token_permute_with_routing_map_grad(
    permuted_token_out_grad: Tensor, probs_grad: Tensor | None, sorted_indices: Tensor, routing_map: Tensor,
    experts_num: int, tokens_num: int, drop_and_pad: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_moe_token_permute_with_routing_map` for the tokens and for the weights."""
    rows = permuted_token_out_grad.shape[0]
    tokens = permuted_token_out_grad.new_zeros(tokens_num, permuted_token_out_grad.shape[-1])
    own: dict[str, Any] = {"num_out_tokens": rows, "drop_and_pad": drop_and_pad}
    moved = moe.npu_moe_token_permute_with_routing_map
    to_tokens = pulled(lambda x: moved(x, routing_map, **own)[0], (tokens,), permuted_token_out_grad)[0]
    if probs_grad is None:
        return to_tokens, tokens.new_empty(0)
    probs = probs_grad.new_zeros(tokens_num, experts_num)
    return to_tokens, pulled(lambda p: moved(tokens, routing_map, probs=p, **own)[1], (probs,), probs_grad)[0]


@operator("repeat_interleave_backward_int(Tensor grad, Tensor self, int repeats, int? dim=None) -> Tensor")
def repeat_interleave_backward_int(grad: Tensor, self: Tensor, repeats: int, dim: int | None = None) -> Tensor:
    """Return the gradient of `repeat_interleave`."""
    return pulled(lambda x: x.repeat_interleave(repeats, dim), (self,), grad)[0]


@operator("repeat_interleave_backward_tensor(Tensor grad, Tensor self, Tensor repeats, int? dim=None) -> Tensor")
def repeat_interleave_backward_tensor(grad: Tensor, self: Tensor, repeats: Tensor, dim: int | None = None) -> Tensor:
    """Return the gradient of `repeat_interleave` where each element has its own number."""
    return pulled(lambda x: x.repeat_interleave(repeats, dim), (self,), grad)[0]
