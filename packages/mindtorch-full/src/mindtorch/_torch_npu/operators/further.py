"""Further operators of torch_npu: eight bits, losses over parts of a vocabulary, streams of residuals."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
import mindtorch.nn.functional as F
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators._int8 import to_int8
from mindtorch._torch_npu.operators.norm import normed
from mindtorch._torch_npu.operators.quantize import factors
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "batch_norm_reduce", "npu_add_rms_norm_dynamic_quant", "npu_add_rms_norm_v2", "npu_add_rms_norm_v2_functional",
    "npu_dynamic_block_quant", "npu_fused_attention_score", "npu_fused_attention_score_fwd",
    "npu_fused_cross_entropy_loss_with_max_sum", "npu_fused_linear_online_max_sum", "npu_gelu_quant", "npu_mhc_post",
    "npu_mhc_pre", "npu_mhc_sinkhorn", "npu_multi_head_attention", "npu_quant_conv2d", "npu_rms_norm_quant_v2",
    "npu_stride_add", "npu_transpose_trans_contiguous",
    "unsafe_empty_with_format",
]  # fmt: skip

_INT8 = (None, 1, 2, torch.int8)


def _refuse(name: str, what: str) -> None:
    raise NotImplementedError(f"torch_npu.{name}: {what} is not supported")


def _by_row(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return rows in eight bits and the scale of each, which its largest number has."""
    scale = x.abs().amax(-1, keepdim=True) / 127.0
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    return to_int8(x / scale), scale.squeeze(-1)


@operator("batch_norm_reduce(Tensor input, float eps) -> (Tensor, Tensor)")
def batch_norm_reduce(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return the sum and the sum of squares of each channel in float32."""
    dims = [0, *range(2, input.dim())]
    wide = input.float()
    return wide.sum(dims), wide.pow(2).sum(dims)


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


@operator(
    "npu_add_rms_norm_dynamic_quant(Tensor x1, Tensor x2, Tensor gamma, *, Tensor? smooth_scale1=None, "
    "Tensor? smooth_scale2=None, Tensor? beta=None, float epsilon=1e-6, bool[2]? output_mask=None, int? y_dtype=None) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_add_rms_norm_dynamic_quant(
    x1: Tensor, x2: Tensor, gamma: Tensor, *, smooth_scale1: Tensor | None = None, smooth_scale2: Tensor | None = None,
    beta: Tensor | None = None, epsilon: float = 1e-6, output_mask: Sequence[bool] | None = None,
    y_dtype: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return `npu_rms_norm` of the sum in eight bits, twice where there are two smoothings, the sum, and the scales."""
    if y_dtype not in _INT8:
        _refuse("npu_add_rms_norm_dynamic_quant", f"y_dtype {y_dtype}")
    total = x1 + x2
    made = normed(total, gamma, epsilon)[0] * gamma.float()
    made = made if beta is None else made + beta.float()
    first, second = output_mask or (True, smooth_scale1 is not None and smooth_scale2 is not None)
    empty = (made.new_empty(0, dtype=torch.int8), made.new_empty(0))
    outs = [
        _by_row(made if smooth is None else made * smooth.float()) if wanted else empty
        for smooth, wanted in ((smooth_scale1, first), (smooth_scale2, second))
    ]
    return outs[0][0], outs[1][0], total, outs[0][1], outs[1][1]


@operator(
    "npu_rms_norm_quant_v2(Tensor x, Tensor gamma, Tensor scale, *, Tensor? offset=None, Tensor? beta=None, "
    "float epsilon=1e-06, bool div_mode=True, int? dst_dtype=None) -> (Tensor, Tensor)"
)
def npu_rms_norm_quant_v2(
    x: Tensor, gamma: Tensor, scale: Tensor, *, offset: Tensor | None = None, beta: Tensor | None = None,
    epsilon: float = 1e-6, div_mode: bool = True, dst_dtype: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_rms_norm` over a scale, or times it without `div_mode`, as int8, and the reciprocal root."""
    if dst_dtype not in _INT8:
        _refuse("npu_rms_norm_quant_v2", f"dst_dtype {dst_dtype}")
    made, rstd = normed(x, gamma, epsilon)
    made = made * gamma.float()
    made = made if beta is None else made + beta.float()
    made = made / scale.float() if div_mode else made * scale.float()
    return to_int8(made if offset is None else made + offset.float()), rstd


@operator(
    "npu_gelu_quant(Tensor self, *, Tensor? input_scale=None, Tensor? input_offset=None, str approximate='none', "
    "str quant_mode='dynamic', int? dst_type=None, str round_mode='rint') -> (Tensor, Tensor)"
)
def npu_gelu_quant(
    self: Tensor, *, input_scale: Tensor | None = None, input_offset: Tensor | None = None, approximate: str = "none",
    quant_mode: str = "dynamic", dst_type: int | None = None, round_mode: str = "rint",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `gelu` in eight bits and, where rows have scales of their own, those."""
    if dst_type not in _INT8 or round_mode != "rint":
        _refuse("npu_gelu_quant", f"dst_type {dst_type} with round_mode {round_mode}")
    made = F.gelu(self.float(), approximate=approximate)
    made = made if input_scale is None else made * input_scale.float()
    if quant_mode == "dynamic":
        return _by_row(made)
    if input_scale is None:
        raise RuntimeError("input_scale is needed with quant_mode static")
    return to_int8(made if input_offset is None else made + input_offset.float()), made.new_empty(0)


@operator(
    'npu_dynamic_block_quant(Tensor x, *, float min_scale=0.0, str round_mode="rint", int dst_type=1, '
    "int row_block_size=1, int col_block_size=128, float dst_type_max=0.0) -> (Tensor y, Tensor scale)"
)
def npu_dynamic_block_quant(
    x: Tensor, *, min_scale: float = 0.0, round_mode: str = "rint", dst_type: int = 1, row_block_size: int = 1,
    col_block_size: int = 128, dst_type_max: float = 0.0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return numbers in eight bits and the scale of each block of rows and columns."""
    if dst_type not in _INT8 or round_mode != "rint" or dst_type_max:
        _refuse("npu_dynamic_block_quant", f"dst_type {dst_type} with round_mode {round_mode}")
    rows, columns = x.shape[-2:]
    down, across = -rows % row_block_size, -columns % col_block_size
    padded = F.pad(x.float(), [0, across, 0, down])
    blocks = padded.unflatten(-1, (-1, col_block_size)).unflatten(-3, (-1, row_block_size))
    scale = (blocks.abs().amax((-3, -1), keepdim=True) / 127.0).clamp(min=min_scale)
    made = to_int8(blocks / torch.where(scale > 0, scale, torch.ones_like(scale)))
    return made.reshape(padded.shape)[..., :rows, :columns].contiguous(), scale.squeeze(-1).squeeze(-2)


@operator(
    "npu_fused_linear_online_max_sum(Tensor input, Tensor weight, Tensor target, int vocab_start_index, "
    "int vocab_end_index, bool return_logits=False) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fused_linear_online_max_sum(
    input: Tensor, weight: Tensor, target: Tensor, vocab_start_index: int, vocab_end_index: int,
    return_logits: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return of scores of a part of the vocabulary each row's largest, sum and target's, and which targets are elsewhere.

    They are bits, eight rows a byte, the first row's the highest. The last ones are the targets' places in the part and,
    where they are asked for, the scores.
    """
    logits = (input @ weight.t()).float()
    largest = logits.amax(-1)
    less = logits - largest.unsqueeze(-1)
    elsewhere = (target < vocab_start_index) | (target > vocab_end_index)
    place = (target - vocab_start_index).masked_fill(elsewhere, 0)
    found = less.gather(1, place.long().unsqueeze(1)).squeeze(1).masked_fill(elsewhere, 0.0)
    bits = F.pad(elsewhere.to(torch.int32), [0, -len(target) % 8], value=1).reshape(-1, 8)
    packed = (bits * 2 ** torch.arange(7, -1, -1, device=target.device, dtype=torch.int32)).sum(1).to(torch.uint8)
    shown = (input @ weight.t()) if return_logits else input.new_empty(0)
    return largest, less.exp().sum(-1), found, packed, place, shown


@operator(
    "npu_fused_cross_entropy_loss_with_max_sum(Tensor logits_max, Tensor sum_exp_logits, Tensor predicted_logits, *, "
    "float? label_smoothing=0.0, Tensor? input=None, Tensor? weight=None, Tensor? vocab_parallel_logits=None) "
    "-> (Tensor, Tensor)"
)
def npu_fused_cross_entropy_loss_with_max_sum(
    logits_max: Tensor, sum_exp_logits: Tensor, predicted_logits: Tensor, *, label_smoothing: float | None = 0.0,
    input: Tensor | None = None, weight: Tensor | None = None, vocab_parallel_logits: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return each row's loss, and `softmax` of the scores where they are given."""
    if label_smoothing or input is not None or weight is not None:
        _refuse("npu_fused_cross_entropy_loss_with_max_sum", "label_smoothing, input and weight")
    loss = sum_exp_logits.log() - predicted_logits
    if vocab_parallel_logits is None:
        return loss, loss.new_empty(0)
    less = vocab_parallel_logits.float() - logits_max.unsqueeze(-1)
    return loss, less.exp() / sum_exp_logits.unsqueeze(-1)


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
        _refuse("npu_mhc_sinkhorn", "out_flag")
    made = torch.softmax(x.float(), -1) + eps
    made = made / (made.sum(-2, keepdim=True) + eps)
    for _ in range(num_iters - 1):
        made = made / (made.sum(-1, keepdim=True) + eps)
        made = made / (made.sum(-2, keepdim=True) + eps)
    return made.to(x.dtype), x.new_empty(0), x.new_empty(0)


_TURNS = (
    "Scalar scale, float keep_prob, bool query_transpose=False, bool key_transpose=False, "
    "bool bmm_score_transpose_a=False, bool bmm_score_transpose_b=False, bool value_transpose=False, "
    "bool dx_transpose=False"
)
_LAYERS = "Tensor query_layer, Tensor key_layer, Tensor value_layer, Tensor attention_mask"


def _scored(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float, keep_prob: float
) -> tuple[Tensor, Tensor, Tensor]:
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale + mask, -1)
    if keep_prob == 1:
        return weights @ value, weights, weights.new_empty(0, dtype=torch.uint8)
    dropped, bits = torch.ops.npu._npu_dropout(weights, 1 - keep_prob)
    return dropped @ value, weights, bits


def _unturned(name: str, *turns: bool) -> None:
    if any(turns):
        _refuse(name, "an operand that is transposed")


@operator(f"npu_fused_attention_score_fwd({_LAYERS}, {_TURNS}) -> (Tensor, Tensor, Tensor)")
def npu_fused_attention_score_fwd(
    query_layer: Tensor, key_layer: Tensor, value_layer: Tensor, attention_mask: Tensor, scale: float,
    keep_prob: float, query_transpose: bool = False, key_transpose: bool = False, bmm_score_transpose_a: bool = False,
    bmm_score_transpose_b: bool = False, value_transpose: bool = False, dx_transpose: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention with a mask that is added to the scaled scores, its weights, and the bits of dropout."""
    turns = (query_transpose, key_transpose, bmm_score_transpose_a, bmm_score_transpose_b, value_transpose)
    _unturned("npu_fused_attention_score_fwd", *turns)
    return _scored(query_layer, key_layer, value_layer, attention_mask, scale, keep_prob)


@operator(f"npu_fused_attention_score({_LAYERS}, {_TURNS}) -> Tensor")
def npu_fused_attention_score(
    query_layer: Tensor, key_layer: Tensor, value_layer: Tensor, attention_mask: Tensor, scale: float,
    keep_prob: float, query_transpose: bool = False, key_transpose: bool = False, bmm_score_transpose_a: bool = False,
    bmm_score_transpose_b: bool = False, value_transpose: bool = False, dx_transpose: bool = False,
) -> Tensor:  # fmt: skip
    """Return attention with a mask that is added to the scaled scores: a row for each token, its heads side by side."""
    turns = (query_transpose, key_transpose, bmm_score_transpose_a, bmm_score_transpose_b, value_transpose)
    _unturned("npu_fused_attention_score", *turns)
    made = _scored(query_layer, key_layer, value_layer, attention_mask, scale, keep_prob)[0]
    return made.permute(0, 2, 1, 3).reshape(made.shape[0] * made.shape[2], -1)


@operator("npu_stride_add(Tensor self, Tensor other, Scalar offset1, Scalar offset2, Scalar c1_len) -> Tensor")
def npu_stride_add(self: Tensor, other: Tensor, offset1: int, offset2: int, c1_len: int) -> Tensor:
    """Return the sum of some channels of both, in blocks of 16 from an offset on; channels behind the last are zeros."""
    first, second = (
        F.pad(one, [0, 0, 0, 0, 0, max(0, (offset + c1_len) * 16 - one.shape[1])])[
            :, offset * 16 : (offset + c1_len) * 16
        ]
        for one, offset in ((self, int(offset1)), (other, int(offset2)))
    )
    return first + second


@operator(
    "npu_transpose_trans_contiguous.out(Tensor self, int[] perm, bool require_contiguous=True, *, Tensor(a!) out) "
    "-> Tensor(a!)"
)
def npu_transpose_trans_contiguous(
    self: Tensor, perm: Sequence[int], require_contiguous: bool = True, *, out: Tensor
) -> Tensor:
    """Write the tensor with its dimensions in another order."""
    return out.copy_(self.permute(tuple(perm)))


@operator(
    "unsafe_empty_with_format(int[] size, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, int acl_format=2, bool keep_format=False) -> Tensor"
)
def unsafe_empty_with_format(
    size: Sequence[int], dtype: torch.dtype | None = None, layout: torch.layout | None = None,
    device: torch.device | None = None, pin_memory: bool | None = None, acl_format: int = 2, keep_format: bool = False,
) -> Tensor:  # fmt: skip
    """Return a tensor that nothing was written to; the format is advice."""
    return torch.empty(tuple(size), dtype=dtype, device="npu" if device is None else device)


@operator(
    "npu_multi_head_attention(Tensor query, Tensor key, Tensor value, Tensor query_weight, Tensor key_weight, "
    "Tensor value_weight, Tensor attn_mask, Tensor out_proj_weight, Tensor? query_bias, Tensor? key_bias, "
    "Tensor? value_bias, Tensor? out_proj_bias, Tensor? dropout_mask, int attn_head_num, int attn_dim_per_head, "
    "int src_len, int tgt_len, float dropout_prob, bool softmax_use_float) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, value_weight: Tensor,
    attn_mask: Tensor, out_proj_weight: Tensor, query_bias: Tensor | None, key_bias: Tensor | None,
    value_bias: Tensor | None, out_proj_bias: Tensor | None, dropout_mask: Tensor | None, attn_head_num: int,
    attn_dim_per_head: int, src_len: int, tgt_len: int, dropout_prob: float, softmax_use_float: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention of rows of samples, dropout's bits, and what came of each step, which its own backward uses."""
    if dropout_mask is not None:
        _refuse("npu_multi_head_attention", "dropout_mask")
    steps = ((query, query_weight, query_bias, tgt_len), (key, key_weight, key_bias, src_len))
    q, k, v = (
        F.linear(rows, weight, bias).reshape(-1, length, attn_head_num, attn_dim_per_head).transpose(1, 2)
        for rows, weight, bias, length in (*steps, (value, value_weight, value_bias, src_len))
    )
    scores = (q @ k.transpose(-2, -1)) * attn_dim_per_head**-0.5 + attn_mask
    weights = torch.softmax(scores.float() if softmax_use_float else scores, -1).to(q.dtype)
    bits = weights.new_empty(0, dtype=torch.uint8)
    dropped = weights
    if dropout_prob > 0:
        dropped, bits = torch.ops.npu._npu_dropout(weights, dropout_prob)
    context = (dropped @ v).transpose(1, 2).reshape(query.shape[0], -1)
    return F.linear(context, out_proj_weight, out_proj_bias), bits, q, k, v, scores, weights, context


@operator(
    "npu_quant_conv2d(Tensor input, Tensor weight, Tensor scale, int[2] strides=1, int[2] pads=0, int[2] dilations=1, "
    "int groups=1, int offset_x=0, str round_mode='rint', ScalarType? output_dtype=None, Tensor? bias=None, "
    "Tensor? offset=None, int? input_dtype=None, int? weight_dtype=None) -> Tensor"
)
def npu_quant_conv2d(
    input: Tensor, weight: Tensor, scale: Tensor, strides: Sequence[int] = (1, 1), pads: Sequence[int] = (0, 0),
    dilations: Sequence[int] = (1, 1), groups: int = 1, offset_x: int = 0, round_mode: str = "rint",
    output_dtype: torch.dtype | None = None, bias: Tensor | None = None, offset: Tensor | None = None,
    input_dtype: int | None = None, weight_dtype: int | None = None,
) -> Tensor:  # fmt: skip
    """Return the convolution of int8 images, exact, times the scale of each channel, as float16."""
    if input.dtype is not torch.int8 or weight.dtype is not torch.int8 or offset is not None or offset_x:
        _refuse("npu_quant_conv2d", "anything but torch.int8 without offsets")
    if output_dtype not in (torch.float16, torch.bfloat16) or round_mode != "rint":
        _refuse("npu_quant_conv2d", f"output_dtype {output_dtype} with round_mode {round_mode}")
    made = F.conv2d(input.float(), weight.float(), None, strides, pads, dilations, groups)
    if bias is not None:
        made = made + bias.float().reshape(-1, 1, 1)
    return (made * factors(scale).reshape(-1, 1, 1)).to(output_dtype)
