"""`torch_npu.npu_*`: the operators that public models call, over those of `torch`. Formats of the chip are advice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._torch_npu.attention import npu_fusion_attention
from mindtorch._torch_npu.boxes import npu_giou, npu_iou, npu_ptiou
from mindtorch._torch_npu.inference import (
    npu_fused_infer_attention_score,
    npu_incre_flash_attention,
    npu_prompt_flash_attention,
)
from mindtorch.nn import functional as F

__all__ = [
    "empty_with_format", "fast_gelu", "get_npu_format", "npu_add_layer_norm", "npu_add_rms_norm",
    "npu_apply_adam_w", "npu_apply_rotary_pos_emb", "npu_bmmV2", "npu_broadcast", "npu_confusion_transpose",
    "npu_conv2d", "npu_conv3d", "npu_conv_transpose2d", "npu_cross_entropy_loss", "npu_deep_norm", "npu_dtype_cast",
    "npu_dtype_cast_", "npu_dynamic_quant", "npu_fast_gelu", "npu_format_cast", "npu_format_cast_",
    "npu_fused_infer_attention_score", "npu_fusion_attention", "npu_geglu", "npu_gelu", "npu_giou",
    "npu_group_norm_silu", "npu_grouped_matmul", "npu_incre_flash_attention", "npu_iou", "npu_layer_norm_eval",
    "npu_linear", "npu_max", "npu_min", "npu_mish", "npu_moe_gating_top_k_softmax", "npu_moe_token_permute",
    "npu_moe_token_unpermute", "npu_one_hot", "npu_pad", "npu_prompt_flash_attention", "npu_ptiou", "npu_reshape",
    "npu_rms_norm", "npu_rotary_mul", "npu_scaled_masked_softmax", "npu_scatter_nd_update",
    "npu_scatter_nd_update_", "npu_silu", "npu_silu_", "npu_slice", "npu_softmax_cross_entropy_with_logits",
    "npu_sort_v2", "npu_swiglu", "npu_transpose",
]  # fmt: skip

FORMATS = {-1: "UNDEFINED", 0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 12: "NC1HWC0_C04",
           16: "HWCN", 27: "NDHWC", 29: "FRACTAL_NZ", 30: "NCDHW", 32: "NDC1HWC0", 33: "FRACTAL_Z_3D"}  # fmt: skip
ND = 2


def _format(acl_format: int) -> None:
    if int(acl_format) not in FORMATS:
        raise ValueError(f"there is no format {acl_format}")


def npu_format_cast(self: Any, acl_format: int, customize_dtype: Any = None) -> Any:
    """Return the tensor; that it may lie in a format of the chip's own is advice, elements lie as strides say."""
    _format(acl_format)
    return self


def npu_format_cast_(self: Any, acl_format: int) -> Any:
    """Return the tensor itself; the format is advice."""
    _format(acl_format)
    return self


def get_npu_format(self: Any) -> int:
    """Return the tensor's format by its rank: NCHW of four dimensions, NCDHW of five, else ND."""
    return {4: 0, 5: 30}.get(self.dim(), ND)


def empty_with_format(
    size: Sequence[int], dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
    acl_format: int = ND, base_addr_aligned_kb: int = 16,
) -> Any:  # fmt: skip
    """Return an uninitialised tensor; the format is advice."""
    _format(acl_format)
    return torch.empty(size, dtype=dtype, device="npu" if device is None else device)


def npu_dtype_cast(self: Any, dtype: Any) -> Any:
    """Return the tensor in another dtype."""
    return self.to(dtype)


def npu_dtype_cast_(self: Any, other: Any) -> Any:
    """Copy another tensor into this one, converting."""
    return self.copy_(other)


def npu_rms_norm(self: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any]:
    """Return `self` over the root of its mean square, times `gamma`, and the reciprocal of that root."""
    dims = tuple(range(-gamma.dim(), 0))
    rstd = self.float().pow(2).mean(dims, keepdim=True).add(epsilon).rsqrt()
    return (self.float() * rstd).to(self.dtype) * gamma, rstd


def npu_add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-6) -> tuple[Any, Any, Any]:
    """Return `npu_rms_norm` of the sum, and the sum: normed, the reciprocal root, sum."""
    total = x1 + x2
    return (*npu_rms_norm(total, gamma, epsilon), total)


def npu_add_layer_norm(
    x1: Any, x2: Any, gamma: Any, beta: Any, epsilon: float = 1e-5, additional_output: bool = False
) -> tuple[Any, Any, Any, Any]:
    """Return the layer norm of the sum, its mean, the reciprocal deviation, and the sum where it is asked for."""
    total = x1 + x2
    normed, mean, rstd = torch.native_layer_norm(total, gamma.shape, gamma, beta, epsilon)
    return normed, mean, rstd, total if additional_output else torch.empty_like(total)


def npu_deep_norm(
    x: Any, gx: Any, beta: Any, gamma: Any, alpha: float = 0.3, epsilon: float = 1e-6
) -> tuple[Any, Any, Any]:
    """Return the mean, the reciprocal deviation and the layer norm of `alpha * x + gx`."""
    normed, mean, rstd = torch.native_layer_norm(x * alpha + gx, gamma.shape, gamma, beta, epsilon)
    return mean, rstd, normed


def npu_layer_norm_eval(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Return the layer norm."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def npu_group_norm_silu(input: Any, weight: Any, bias: Any, group: int, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """Return `silu` of the group norm, the means and the reciprocal deviations."""
    count, channels = input.shape[:2]
    rest = input.numel() // max(1, count * channels)
    normed, mean, rstd = torch.native_group_norm(input, weight, bias, count, channels, rest, group, eps)
    return F.silu(normed), mean, rstd


def npu_swiglu(self: Any, dim: int = -1) -> Any:
    """Return the first half along a dimension under `silu`, times the second."""
    first, second = self.chunk(2, dim)
    return F.silu(first) * second


def npu_geglu(self: Any, dim: int = -1, approximate: int = 1, activate_left: bool = False) -> tuple[Any, Any]:
    """Return one half times `gelu` of the other, and that `gelu`."""
    left, right = self.chunk(2, dim)
    kept, gated = (right, left) if activate_left else (left, right)
    gate = F.gelu(gated, approximate="tanh" if approximate else "none")
    return kept * gate, gate


def npu_fast_gelu(self: Any) -> Any:
    """Return x / (1 + exp(-1.702 |x|)) * exp(0.851 (x - |x|)), the chip's quick `gelu`: x sigmoid(1.702 x)."""
    return self * torch.sigmoid(1.702 * self)


fast_gelu = npu_fast_gelu


def npu_gelu(self: Any, *, approximate: str = "none") -> Any:
    """Return `gelu`."""
    return F.gelu(self, approximate=approximate)


def npu_silu(self: Any) -> Any:
    """Return `silu`."""
    return F.silu(self)


def npu_silu_(self: Any) -> Any:
    """`silu` in place."""
    return F.silu(self, inplace=True)


def npu_mish(self: Any) -> Any:
    """Return `mish`."""
    return F.mish(self)


def _turned(x: Any, mode: str) -> Any:
    """Return what `rotary_mul` multiplies by the sine."""
    if mode in ("half", "0"):
        first, second = x.chunk(2, -1)
        return torch.cat((-second, first), -1)
    if mode in ("interleave", "1"):
        return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    raise ValueError(f"rotary_mode must be 'half' or 'interleave', but got {mode!r}")


def npu_rotary_mul(input: Any, r1: Any, r2: Any, rotary_mode: str = "half") -> Any:
    """Return positions turned into a tensor of heads: `input * r1 + turned(input) * r2`, `r1` the cosines."""
    return input * r1 + _turned(input, rotary_mode) * r2


def npu_apply_rotary_pos_emb(
    query: Any, key: Any, cos: Any, sin: Any, layout: str = "BSND", rotary_mode: str = "half"
) -> tuple[Any, Any]:
    """Return query and key with positions turned into them. The layout is BSND, whose heads the cosines have one of."""
    if layout not in ("BSH", "BSND", "1"):
        raise ValueError(f"layout must be 'BSH' or 'BSND', but got {layout!r}")
    return npu_rotary_mul(query, cos, sin, rotary_mode), npu_rotary_mul(key, cos, sin, rotary_mode)


def npu_scaled_masked_softmax(x: Any, mask: Any, scale: float = 1.0, fixed_triu_mask: bool = False) -> Any:
    """Return `softmax` of the scaled scores over the last dimension, hidden ones at -10000."""
    if fixed_triu_mask:
        mask = torch.ones(x.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
    return torch.softmax((x * scale).masked_fill(mask.bool(), -10000.0), -1)


def npu_confusion_transpose(self: Any, perm: Sequence[int], shape: Sequence[int], transpose_first: bool) -> Any:
    """Return the tensor permuted and then reshaped, or the other way round."""
    return self.permute(*perm).reshape(shape) if transpose_first else self.reshape(shape).permute(*perm)


def npu_transpose(self: Any, perm: Sequence[int], require_contiguous: bool = True) -> Any:
    """Return the tensor with dimensions in another order, packed."""
    made = self.permute(*perm)
    return made.contiguous() if require_contiguous else made


def npu_linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """Return `linear`."""
    return F.linear(input, weight, bias)


def npu_bmmV2(self: Any, mat2: Any, output_sizes: Sequence[int]) -> Any:
    """Return the product of batches of matrices, reshaped where sizes are given."""
    made = torch.matmul(self, mat2)
    return made.reshape(tuple(output_sizes)) if output_sizes else made


def npu_conv2d(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return the convolution of images."""
    return F.conv2d(input, weight, bias, stride, padding, dilation, groups)


def npu_conv3d(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return the convolution of volumes."""
    return F.conv3d(input, weight, bias, stride, padding, dilation, groups)


def npu_conv_transpose2d(
    input: Any, weight: Any, bias: Any, padding: Any, output_padding: Any, stride: Any, dilation: Any, groups: int
) -> Any:
    """Return the transposed convolution of images."""
    return F.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)


def npu_grouped_matmul(
    x: Sequence[Any], weight: Sequence[Any], *, bias: Any = None, group_list: Any = None, split_item: int = 0,
    group_type: int | None = None, group_list_type: int = 0, act_type: int = 0, output_dtype: Any = None, **quantised: Any,
) -> list[Any]:  # fmt: skip
    """Return products of groups of rows with a matrix each. NotImplementedError for quantised operands.

    `group_list` says where each group of rows ends, or with `group_list_type` 1 how many rows it has; matrices may be
    stacked in one tensor, and with `split_item` 2 or 3 the result is one tensor.
    """
    given = [name for name, value in quantised.items() if value is not None]
    if given or act_type:
        raise NotImplementedError(f"torch_npu.npu_grouped_matmul: {', '.join(given) or 'act_type'} is not supported")
    matrices = list(weight[0]) if len(weight) == 1 and weight[0].dim() == 3 else list(weight)
    rows = list(x)
    if len(rows) == 1 and len(matrices) > 1:
        ends = [int(end) for end in (group_list.tolist() if hasattr(group_list, "tolist") else group_list)]
        if group_list_type == 1:
            ends = [sum(ends[: place + 1]) for place in range(len(ends))]
        rows = [rows[0][begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    made = [torch.matmul(one, matrix) for one, matrix in zip(rows, matrices, strict=True)]
    if bias is not None:
        biases = list(bias[0]) if len(bias) == 1 and bias[0].dim() == 2 else bias
        made = [one + shift for one, shift in zip(made, biases, strict=True)]
    made = made if output_dtype is None else [one.to(output_dtype) for one in made]
    return [torch.cat(made)] if split_item in (2, 3) else made


def npu_moe_gating_top_k_softmax(x: Any, finished: Any = None, k: int = 1) -> tuple[Any, Any, Any]:
    """Return the weights of each row's k best experts, their numbers, and where each pair goes, expert by expert."""
    weights, experts = torch.softmax(x, -1).topk(k, -1)
    if finished is not None:
        experts = experts.masked_fill(finished.unsqueeze(-1), x.shape[-1])
    rows = torch.arange(x.shape[0] * k, device=x.device, dtype=torch.int32).reshape(k, -1).t()
    return weights, experts.to(torch.int32), rows


def npu_moe_token_permute(
    tokens: Any, indices: Any, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Any, Any]:
    """Return tokens in the order of their experts, and for each pair of token and expert its place in that order."""
    if padded_mode:
        raise NotImplementedError("torch_npu.npu_moe_token_permute: padded_mode is not supported")
    each = 1 if indices.dim() == 1 else indices.shape[1]
    order = indices.flatten().argsort(stable=True)
    kept = order[:num_out_tokens] if num_out_tokens else order
    return tokens.index_select(0, kept // each), order.argsort(stable=True).to(torch.int32)


def npu_moe_token_unpermute(
    permuted_tokens: Any, sorted_indices: Any, probs: Any = None, padded_mode: bool = False, restore_shape: Any = None
) -> Any:
    """Return the sum of what the experts made of each token, weighed by `probs`."""
    if padded_mode:
        raise NotImplementedError("torch_npu.npu_moe_token_unpermute: padded_mode is not supported")
    each = 1 if probs is None else probs.shape[1]
    found = permuted_tokens.index_select(0, sorted_indices.long()).reshape(-1, each, permuted_tokens.shape[-1])
    return (found if probs is None else found * probs.unsqueeze(-1)).sum(1)


def npu_cross_entropy_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100,
    label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, return_zloss: bool = False,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Return the loss, the logarithms of the probabilities, and two that only its own backward uses, empty here."""
    if lse_square_scale_for_zloss or return_zloss:
        raise NotImplementedError("torch_npu.npu_cross_entropy_loss: the z loss is not supported")
    logs = torch.log_softmax(input, -1)
    loss = F.cross_entropy(
        input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
    return loss, logs, input.new_empty(0), input.new_empty(0)


def npu_softmax_cross_entropy_with_logits(features: Any, labels: Any) -> Any:
    """Return each row's cross entropy with probabilities."""
    return -(labels * torch.log_softmax(features, -1)).sum(-1)


def npu_one_hot(self: Any, num_classses: int = -1, depth: int = 1, on_value: Any = 1, off_value: Any = 0) -> Any:
    """Return rows that are `on_value` at the given places, as float."""
    return torch.where(F.one_hot(self.long(), depth).bool(), float(on_value), float(off_value))


def npu_max(self: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """Return the largest along a dimension and where it is, as int32."""
    values, places = torch.max(self, dim, keepdim)
    return values, places.to(torch.int32)


def npu_min(self: Any, dim: int, keepdim: bool = False) -> tuple[Any, Any]:
    """Return the smallest along a dimension and where it is, as int32."""
    values, places = torch.min(self, dim, keepdim)
    return values, places.to(torch.int32)


def npu_slice(self: Any, offsets: Sequence[int], size: Sequence[int]) -> Any:
    """Return a box of the tensor: where it begins and how large it is."""
    for dim, (start, length) in enumerate(zip(offsets, size, strict=True)):
        self = self.narrow(dim, start, self.shape[dim] - start if length == -1 else length)
    return self.contiguous()


def npu_pad(input: Any, paddings: Sequence[int]) -> Any:
    """Return the tensor with zeros around it: how many before and after each dimension, the first first."""
    pairs = [paddings[place : place + 2] for place in range(0, len(paddings), 2)]
    return F.pad(input, [number for pair in reversed(pairs) for number in pair])


def npu_reshape(self: Any, shape: Sequence[int], can_refresh: bool = False) -> Any:
    """Return the tensor in another shape."""
    return self.reshape(tuple(shape))


def npu_broadcast(self: Any, size: Sequence[int]) -> Any:
    """Return the tensor broadcast to a shape, packed."""
    return self.expand(*size).contiguous()


def npu_sort_v2(self: Any, dim: int = -1, descending: bool = False) -> Any:
    """Return the tensor sorted along a dimension."""
    return torch.sort(self, dim=dim, descending=descending)[0]


def npu_scatter_nd_update(self: Any, indices: Any, updates: Any) -> Any:
    """Return the tensor with rows put to the places that the last dimension of `indices` names."""
    return self.index_put(tuple(indices.long().unbind(-1)), updates)


def npu_scatter_nd_update_(self: Any, indices: Any, updates: Any) -> Any:
    """`npu_scatter_nd_update` in place."""
    return self.index_put_(tuple(indices.long().unbind(-1)), updates)


def npu_dynamic_quant(x: Any, *, smooth_scales: Any = None, **more: Any) -> tuple[Any, Any]:
    """Return each row as int8 and its scale, so that their product is near the row."""
    if any(value is not None for value in more.values()):
        raise NotImplementedError(f"torch_npu.npu_dynamic_quant: {', '.join(more)} is not supported")
    wide = x.float() if smooth_scales is None else x.float() * smooth_scales
    scale = wide.abs().amax(-1) / 127.0
    return torch.round(wide / scale.unsqueeze(-1)).clamp(-128, 127).to(torch.int8), scale


def npu_apply_adam_w(
    beta1_power: float, beta2_power: float, lr: float, weight_decay: float, beta1: float, beta2: float, epsilon: float,
    grad: Any, max_grad_norm: Any, amsgrad: bool, maximize: bool, *, out: tuple[Any, Any, Any],
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Make one step of AdamW on parameter, mean and square of `out`; the powers are those of the betas so far."""
    var, mean, square = out
    grad = -grad if maximize else grad
    with torch.no_grad():
        var.mul_(1 - lr * weight_decay)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        second = square
        if amsgrad:
            second = torch.maximum(max_grad_norm, square, out=max_grad_norm)
        correction1, correction2 = 1 - beta1_power * beta1, 1 - beta2_power * beta2
        var.addcdiv_(mean, (second / correction2).sqrt().add_(epsilon), value=-lr / correction1)
    return var, mean, square
