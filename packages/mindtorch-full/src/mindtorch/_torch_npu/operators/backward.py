"""Operators that torch_npu's own gradients call, which programs with autograd functions of their own call, too."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators import layout, moe
from mindtorch._torch_npu.operators.gradients import pulled
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "_npu_dtype_cast", "_npu_dtype_cast_backward", "_npu_index_add", "_npu_index_add_", "_npu_moe_token_unpermute",
    "_npu_moe_token_unpermute_with_routing_map", "npu_conv2d_backward", "npu_dtype_cast_backward",
    "npu_fused_attention_score_backward", "npu_fused_attention_score_grad", "npu_gelu_backward",
    "npu_moe_token_unpermute_with_routing_map_grad", "npu_renorm_backward",
    "npu_softmax_cross_entropy_with_logits_backward",
]  # fmt: skip


@operator("npu_gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor")
def npu_gelu_backward(grad_output: Tensor, self: Tensor, *, approximate: str = "none") -> Tensor:
    """Return the gradient of `gelu`."""
    return torch.ops.aten.gelu_backward(grad_output, self, approximate=approximate)


@operator("npu_renorm_backward(Tensor grad, Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")
def npu_renorm_backward(grad: Tensor, self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return the gradient of `renorm`."""
    return pulled(lambda x: torch.renorm(x, p, dim, maxnorm), (self,), grad)[0]


@operator("npu_softmax_cross_entropy_with_logits_backward(Tensor grad, Tensor self, Tensor labels) -> Tensor")
def npu_softmax_cross_entropy_with_logits_backward(grad: Tensor, self: Tensor, labels: Tensor) -> Tensor:
    """Return the gradient of `npu_softmax_cross_entropy_with_logits` for the logits, of one loss for each row."""
    return (torch.softmax(self, 1) - labels) * grad.unsqueeze(1)


@operator(
    "npu_conv2d_backward(Tensor input, Tensor grad_output, Tensor weight, int[] stride, int[] padding, int[] dilation, "
    "int groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)
def npu_conv2d_backward(
    input: Tensor, grad_output: Tensor, weight: Tensor, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int, output_mask: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_conv2d` for the input, the weight and the bias, which the mask asks for."""
    return torch.ops.aten.convolution_backward(
        grad_output, input, weight, [weight.shape[0]], list(stride), list(padding), list(dilation), False, [0, 0], groups,
        list(output_mask),
    )  # fmt: skip


@operator("_npu_dtype_cast(Tensor self, ScalarType dtype) -> Tensor")
def _npu_dtype_cast(self: Tensor, dtype: torch.dtype) -> Tensor:
    """Return `npu_dtype_cast`."""
    return layout.npu_dtype_cast(self, dtype)


@operator("_npu_dtype_cast_backward(Tensor grad, ScalarType dtype) -> Tensor")
def _npu_dtype_cast_backward(grad: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a gradient as the dtype that the operand had."""
    return grad.to(dtype)


@operator(
    "npu_dtype_cast_backward(Tensor grad, ScalarType dtype, int? grad_dtype=None, int? input_dtype=None) -> Tensor"
)
def npu_dtype_cast_backward(
    grad: Tensor, dtype: torch.dtype, grad_dtype: int | None = None, input_dtype: int | None = None
) -> Tensor:
    """Return a gradient as the dtype that the operand had. NotImplementedError for the vendor's own dtypes."""
    if grad_dtype is not None or input_dtype is not None:
        raise NotImplementedError("torch_npu.npu_dtype_cast_backward: grad_dtype and input_dtype are not supported")
    return grad.to(dtype)


@operator("_npu_index_add(Tensor self, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor")
def _npu_index_add(self: Tensor, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a tensor with rows added where an index says."""
    return self.index_add(0, index.flatten(), source.reshape(-1, *self.shape[1:]), alpha=alpha)


@operator("_npu_index_add_(Tensor(a!) self, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)")
def _npu_index_add_(self: Tensor, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Add rows where an index says, in place."""
    return self.index_add_(0, index.flatten(), source.reshape(-1, *self.shape[1:]), alpha=alpha)


@operator(
    "_npu_moe_token_unpermute(Tensor permuted_tokens, Tensor sorted_indices, Tensor? probs=None, bool padded_mode=False, "
    "int[]? restore_shape=None) -> (Tensor unpermuted_tokens, Tensor permuted_tokens_for_backward)"
)
def _npu_moe_token_unpermute(
    permuted_tokens: Tensor, sorted_indices: Tensor, probs: Tensor | None = None, padded_mode: bool = False,
    restore_shape: Sequence[int] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_moe_token_unpermute` and what its gradient needs: the tokens, where there are weights."""
    made = moe.npu_moe_token_unpermute(permuted_tokens, sorted_indices, probs, padded_mode, restore_shape)
    return made, permuted_tokens.new_empty(0) if probs is None else permuted_tokens


_MAPPED = (
    "Tensor permuted_tokens, Tensor sorted_indices, int[] restore_shape, *, Tensor? probs=None, "
    "Tensor? routing_map=None, bool drop_and_pad=False"
)


@operator(f"_npu_moe_token_unpermute_with_routing_map({_MAPPED}) -> (Tensor, Tensor, Tensor, Tensor)")
def _npu_moe_token_unpermute_with_routing_map(
    permuted_tokens: Tensor, sorted_indices: Tensor, restore_shape: Sequence[int], *, probs: Tensor | None = None,
    routing_map: Tensor | None = None, drop_and_pad: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return `npu_moe_token_unpermute_with_routing_map` and what its gradient needs.

    That is, for tokens that are padded, their order by the row they go to and that row; and each token's weight.
    """
    made = moe.npu_moe_token_unpermute_with_routing_map(
        permuted_tokens, sorted_indices, restore_shape, probs=probs, routing_map=routing_map, drop_and_pad=drop_and_pad
    )
    weights = permuted_tokens.new_empty(0)
    if drop_and_pad:
        rows, order = sorted_indices.sort(stable=True)
        if probs is not None:
            experts = probs.shape[1]
            pairs = torch.arange(experts, device=probs.device).unsqueeze(-1) * probs.shape[0]
            places = (pairs + sorted_indices.long().reshape(experts, -1)).reshape(-1)
            weights = probs.t().reshape(-1).index_select(0, places)
        return made, order.to(torch.int32), rows.to(torch.int32), weights
    if routing_map is not None and probs is not None:
        weights = probs.masked_select(routing_map.bool())
    return made, sorted_indices, sorted_indices.new_empty(0), weights


@operator(
    "npu_moe_token_unpermute_with_routing_map_grad(Tensor unpermuted_tokens_grad, Tensor out_index, "
    "Tensor permuted_token_id, Tensor? routing_map, Tensor? permuted_tokens, Tensor? probs, bool drop_and_pad, "
    "int[] restore_shape) -> (Tensor, Tensor)"
)
def npu_moe_token_unpermute_with_routing_map_grad(
    unpermuted_tokens_grad: Tensor, out_index: Tensor, permuted_token_id: Tensor, routing_map: Tensor | None,
    permuted_tokens: Tensor | None, probs: Tensor | None, drop_and_pad: bool, restore_shape: Sequence[int],
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_moe_token_unpermute_with_routing_map` for the tokens and for the weights."""
    places = out_index
    if drop_and_pad:
        places = torch.empty_like(permuted_token_id).scatter_(0, out_index.long(), permuted_token_id)
    if permuted_tokens is None:
        if probs is not None:
            raise RuntimeError("permuted_tokens is needed with probs")
        permuted_tokens = unpermuted_tokens_grad.new_zeros(out_index.numel(), unpermuted_tokens_grad.shape[-1])
    given = (permuted_tokens,) if probs is None else (permuted_tokens, probs)

    def joined(tokens: Tensor, weights: Tensor | None = None) -> Tensor:
        return moe.npu_moe_token_unpermute_with_routing_map(
            tokens, places, restore_shape, probs=weights, routing_map=routing_map, drop_and_pad=drop_and_pad
        )

    found = pulled(joined, given, unpermuted_tokens_grad)
    return found[0], found[1] if len(found) > 1 else permuted_tokens.new_empty(0)


_SCORED = (
    "(Tensor grad_output, Tensor softmax_output, Tensor query_layer, Tensor key_layer, Tensor value_layer, Tensor mask, "
    "Scalar scale, float keep_prob, bool query_transpose=False, bool key_transpose=False, bool value_transpose=False, "
    "bool dx_transpose=False) -> (Tensor, Tensor, Tensor)"
)


@operator(f"npu_fused_attention_score_backward{_SCORED}")
@operator(f"npu_fused_attention_score_grad{_SCORED}")
def npu_fused_attention_score_grad(
    grad_output: Tensor, softmax_output: Tensor, query_layer: Tensor, key_layer: Tensor, value_layer: Tensor,
    mask: Tensor, scale: float, keep_prob: float, query_transpose: bool = False, key_transpose: bool = False,
    value_transpose: bool = False, dx_transpose: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_fused_attention_score` for query, key and value, of weights and dropout's bits."""
    if query_transpose or key_transpose or value_transpose:
        raise NotImplementedError(
            "torch_npu.npu_fused_attention_score_grad: operands that are turned are not supported"
        )
    batch, heads, rows, width = query_layer.shape
    grad = grad_output.reshape(batch, rows, heads, width).transpose(1, 2)
    dropped, for_weights = softmax_output, grad @ value_layer.transpose(-2, -1)
    if keep_prob < 1:
        dropped, for_weights = (
            torch.ops.npu.npu_dropout_backward(one.contiguous(), mask, 1 - keep_prob) for one in (dropped, for_weights)
        )
    inner = for_weights * softmax_output
    scores = (inner - softmax_output * inner.sum(-1, keepdim=True)) * scale
    return scores @ key_layer, scores.transpose(-2, -1) @ query_layer, dropped.transpose(-2, -1) @ grad


npu_fused_attention_score_backward = npu_fused_attention_score_grad
