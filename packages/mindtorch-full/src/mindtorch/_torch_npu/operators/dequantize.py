"""Products of integers that are scaled back, and what follows them in one operator, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse_given
from mindtorch._torch_npu.operators._int8 import by_row, only_int8_operands, to_int8
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_dequant_bias", "npu_dequant_swiglu_quant", "npu_grouped_matmul_finalize_routing",
    "npu_grouped_matmul_swiglu_quant", "npu_grouped_matmul_swiglu_quant_v2", "npu_moe_init_routing_quant",
    "npu_quant_grouped_matmul_dequant", "npu_quant_matmul_dequant", "npu_quant_matmul_gelu",
    "npu_quant_matmul_reduce_sum",
]  # fmt: skip


def _column(scale: Tensor) -> Tensor:
    return scale.float().reshape(-1, 1)


def _parts(group_list: Tensor, counts: bool) -> Iterator[slice]:
    """Give the rows of each group, of counts or of where each ends."""
    begin = 0
    for value in group_list.tolist():
        end = begin + value if counts else value
        yield slice(begin, end)
        begin = end


@operator(
    "npu_dequant_bias(Tensor x, Tensor weight_scale, Tensor? activation_scale, Tensor? bias, *, "
    "ScalarType? output_dtype=None) -> Tensor"
)
def npu_dequant_bias(
    x: Tensor, weight_scale: Tensor, activation_scale: Tensor | None, bias: Tensor | None, *,
    output_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Return a product of integers times both scales: a bias of integers is added before, another one after."""
    if x.dtype != torch.int32 or x.dim() != 2:
        raise RuntimeError(f"torch_npu.npu_dequant_bias: x must be a matrix of int32, but got {x.dtype} of {x.dim()}-D")
    whole = bias is not None and bias.dtype == torch.int32
    made = (x + bias if bias is not None and whole else x).float() * weight_scale.float()
    made = made if activation_scale is None else made * _column(activation_scale)
    made = made if bias is None or whole else made + bias.float()
    return made.to(torch.float16 if output_dtype is None else output_dtype)


_DEQUANT = (
    "Tensor? bias=None, Tensor? x_scale=None, Tensor? x_offset=None, Tensor? smooth_scale=None, "
    "str? quant_mode='pertoken') -> Tensor"
)


def _rounded(
    name: str, x: Tensor, x_scale: Tensor | None, smooth_scale: Tensor | None, quant_mode: str | None
) -> tuple[Tensor, Tensor]:
    """Return rows as whole float32 numbers, and their scales as a column or one number."""
    if quant_mode not in ("pertoken", "pertensor"):
        raise RuntimeError(f"torch_npu.{name}: quant_mode must be pertoken or pertensor, but got {quant_mode!r}")
    wide = x.float() if smooth_scale is None else x.float() * smooth_scale.float()
    if x_scale is None:
        if quant_mode == "pertensor":
            raise RuntimeError(f"torch_npu.{name}: quant_mode pertensor needs x_scale")
        whole, scale = by_row(wide)
        return whole.float(), scale.unsqueeze(-1)
    scale = _column(x_scale) if quant_mode == "pertoken" else x_scale.float().reshape(())
    return torch.round(wide / scale).clamp(-128, 127), scale


@operator(f"npu_quant_matmul_dequant(Tensor x, Tensor quantized_weight, Tensor weight_scale, *, {_DEQUANT}")
def npu_quant_matmul_dequant(
    x: Tensor, quantized_weight: Tensor, weight_scale: Tensor, *, bias: Tensor | None = None,
    x_scale: Tensor | None = None, x_offset: Tensor | None = None, smooth_scale: Tensor | None = None,
    quant_mode: str | None = "pertoken",
) -> Tensor:  # fmt: skip
    """Return the product of rows, made int8 on the way, with an int8 matrix that lies transposed, scaled back."""
    name = "npu_quant_matmul_dequant"
    refuse_given(name, bias=bias, x_offset=x_offset)
    only_int8_operands(name, quantized_weight)
    whole, scale = _rounded(name, x, x_scale, smooth_scale, quant_mode)
    return (whole @ quantized_weight.float().t() * weight_scale.float() * scale).to(x.dtype)


@operator(
    "npu_quant_grouped_matmul_dequant(Tensor x, Tensor quantized_weight, Tensor weight_scale, Tensor group_list, *, "
    f"{_DEQUANT}"
)
def npu_quant_grouped_matmul_dequant(
    x: Tensor, quantized_weight: Tensor, weight_scale: Tensor, group_list: Tensor, *, bias: Tensor | None = None,
    x_scale: Tensor | None = None, x_offset: Tensor | None = None, smooth_scale: Tensor | None = None,
    quant_mode: str | None = "pertoken",
) -> Tensor:  # fmt: skip
    """Return `npu_quant_matmul_dequant` of groups of rows, each with its own matrix; the list says where each ends."""
    name = "npu_quant_grouped_matmul_dequant"
    refuse_given(name, bias=bias, x_offset=x_offset)
    only_int8_operands(name, quantized_weight)
    whole, scale = _rounded(name, x, x_scale, smooth_scale, quant_mode)
    scale = scale.expand(x.shape[0], 1)
    made = [
        whole[rows] @ weight.float().t() * factor.float() * scale[rows]
        for rows, weight, factor in zip(_parts(group_list, False), quantized_weight, weight_scale, strict=True)
    ]
    return torch.cat(made).to(x.dtype)


@operator(
    "npu_quant_matmul_gelu(Tensor x1, Tensor x2, Tensor x1_scale, Tensor x2_scale, *, Tensor? bias=None, "
    "str? approximate='gelu_erf') -> Tensor"
)
def npu_quant_matmul_gelu(
    x1: Tensor, x2: Tensor, x1_scale: Tensor, x2_scale: Tensor, *, bias: Tensor | None = None,
    approximate: str | None = "gelu_erf",
) -> Tensor:  # fmt: skip
    """Return gelu of a product of int8 matrices scaled back: float16, or bfloat16 as the second one's scales are."""
    name = "npu_quant_matmul_gelu"
    only_int8_operands(name, x1, x2)
    if approximate not in ("gelu_erf", "gelu_tanh"):
        raise RuntimeError(f"torch_npu.{name}: approximate must be gelu_erf or gelu_tanh, but got {approximate!r}")
    made = x1.float() @ x2.float()
    whole = bias is not None and bias.dtype == torch.int32
    made = made + bias.float() if bias is not None and whole else made
    made = made * x2_scale.float() * x1_scale.float().unsqueeze(-1)
    made = made if bias is None or whole else made + bias.float()
    made = F.gelu(made, approximate="tanh" if approximate == "gelu_tanh" else "none")
    return made.to(torch.bfloat16 if x2_scale.dtype == torch.bfloat16 else torch.float16)


@operator(
    "npu_quant_matmul_reduce_sum(Tensor x1, Tensor x2, *, Tensor? x1_scale=None, Tensor? x2_scale=None) -> Tensor"
)
def npu_quant_matmul_reduce_sum(
    x1: Tensor, x2: Tensor, *, x1_scale: Tensor | None = None, x2_scale: Tensor | None = None
) -> Tensor:
    """Return the sum over a batch of products of int8 matrices, scaled back, as bfloat16."""
    name = "npu_quant_matmul_reduce_sum"
    only_int8_operands(name, x1, x2)
    if x1_scale is None or x2_scale is None:
        raise RuntimeError(f"torch_npu.{name}: x1_scale and x2_scale are needed")
    made = torch.bmm(x1.float(), x2.float()) * x2_scale.float() * x1_scale.float().unsqueeze(-1)
    return made.sum(0).to(torch.bfloat16)


def _gated(product: Tensor) -> Tensor:
    first, second = product.chunk(2, -1)
    return F.silu(first) * second


def _experts(
    name: str, x: Tensor, weights: Sequence[Tensor], scales: Sequence[Tensor], x_scale: Tensor, parts: Iterator[slice]
) -> tuple[Tensor, Tensor]:
    """Return each expert's gated product as int8, and its rows' scales; rows of no group are zero."""
    only_int8_operands(name, x, *weights)
    whole = x.new_zeros(x.shape[0], weights[0].shape[-1] // 2, dtype=torch.int8)
    found = x.new_zeros(x.shape[0], dtype=torch.float32)
    for rows, weight, scale in zip(parts, weights, scales, strict=True):
        if rows.stop > rows.start:
            product = x[rows].float() @ weight.float() * scale.float().reshape(1, -1) * _column(x_scale[rows])
            whole[rows], found[rows] = by_row(_gated(product))
    return whole, found


@operator(
    "npu_grouped_matmul_swiglu_quant(Tensor x, Tensor weight, Tensor group_list, Tensor weight_scale, Tensor x_scale, *, "
    "Tensor? bias=None, Tensor? offset=None) -> (Tensor, Tensor, Tensor)"
)
def npu_grouped_matmul_swiglu_quant(
    x: Tensor, weight: Tensor, group_list: Tensor, weight_scale: Tensor, x_scale: Tensor, *,
    bias: Tensor | None = None, offset: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return swiglu of groups of rows times a matrix each as int8, the rows' scales, and nothing for an offset."""
    name = "npu_grouped_matmul_swiglu_quant"
    refuse_given(name, bias=bias, offset=offset)
    made = _experts(name, x, list(weight), list(weight_scale), x_scale, _parts(group_list, False))
    return *made, x.new_empty(0, dtype=torch.float32)


@operator(
    "npu_grouped_matmul_swiglu_quant_v2(Tensor x, Tensor[] weight, Tensor[] weight_scale, Tensor x_scale, "
    "Tensor group_list, *, Tensor? smooth_scale=None, Tensor[]? weight_assist_matrix=None, Tensor? bias=None, "
    "int? dequant_mode=0, int? dequant_dtype=0, int? quant_mode=0, int? quant_dtype=1, int? group_list_type=0, "
    "int[]? tuning_config=None, int? x_dtype=None, int? weight_dtype=None, int? weight_scale_dtype=None, "
    "int? x_scale_dtype=None) -> (Tensor, Tensor)"
)
def npu_grouped_matmul_swiglu_quant_v2(
    x: Tensor, weight: Sequence[Tensor], weight_scale: Sequence[Tensor], x_scale: Tensor, group_list: Tensor, *,
    quant_dtype: int | None = 1, group_list_type: int | None = 0, tuning_config: Sequence[int] | None = None,
    dequant_dtype: int | None = 0, **others: object,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_grouped_matmul_swiglu_quant` of a list of matrices, of groups by their ends or, with type 1, counts."""
    name = "npu_grouped_matmul_swiglu_quant_v2"
    refuse_given(name, **others)
    if quant_dtype != 1:
        raise NotImplementedError(f"torch_npu.{name}: only quant_dtype 1 is supported, but got {quant_dtype}")
    matrices = list(weight[0]) if len(weight) == 1 and weight[0].dim() == 3 else list(weight)
    scales = list(weight_scale[0]) if len(weight_scale) == 1 and weight_scale[0].dim() == 2 else list(weight_scale)
    return _experts(name, x, matrices, scales, x_scale, _parts(group_list, group_list_type == 1))


@operator(
    "npu_grouped_matmul_finalize_routing(Tensor x, Tensor w, Tensor group_list, *, Tensor? scale=None, Tensor? bias=None, "
    "Tensor? offset=None, Tensor? pertoken_scale=None, Tensor? shared_input=None, Tensor? logit=None, "
    "Tensor? row_index=None, ScalarType? dtype=None, float? shared_input_weight=1.0, int? shared_input_offset=0, "
    "int? output_bs=0, int? group_list_type=1, int[]? tuning_config=None, int? x_dtype=None, int? w_dtype=None, "
    "int? scale_dtype=None, int? pertoken_scale_dtype=None) -> Tensor"
)
def npu_grouped_matmul_finalize_routing(
    x: Tensor, w: Tensor, group_list: Tensor, *, scale: Tensor | None = None, pertoken_scale: Tensor | None = None,
    shared_input: Tensor | None = None, logit: Tensor | None = None, row_index: Tensor | None = None,
    dtype: torch.dtype | None = None, shared_input_weight: float | None = 1.0, shared_input_offset: int | None = 0,
    output_bs: int | None = 0, group_list_type: int | None = 1, tuning_config: Sequence[int] | None = None,
    **others: object,
) -> Tensor:  # fmt: skip
    """Return what experts make of their rows, weighed by `logit` and summed where `row_index` says, as float32.

    A shared expert's rows are added from `shared_input_offset` on, times `shared_input_weight`.
    """
    name = "npu_grouped_matmul_finalize_routing"
    refuse_given(name, **others)
    only_int8_operands(name, x, w)
    if scale is None or row_index is None or dtype not in (None, torch.float32):
        raise RuntimeError(f"torch_npu.{name}: scale and row_index are needed, and dtype is torch.float32")
    made = [
        x[rows].float() @ weight.float() * factor.float().reshape(1, -1)
        for rows, weight, factor in zip(_parts(group_list, group_list_type == 1), w, scale, strict=True)
    ]
    product = torch.cat(made)
    total = product.shape[0]
    product = product if pertoken_scale is None else product * _column(pertoken_scale[:total])
    product = product if logit is None else product * _column(logit[:total])
    height = output_bs or int(row_index.max()) + 1
    out = product.new_zeros(height, product.shape[-1])
    if shared_input is not None:
        first = shared_input_offset or 0
        out[first : first + shared_input.shape[0]] = shared_input.float() * (shared_input_weight or 0.0)
    return out.index_add(0, row_index[:total].long(), product)


_SWIGLU = (
    "Tensor? weight_scale=None, Tensor? activation_scale=None, Tensor? bias=None, Tensor? quant_scale=None, "
    "Tensor? quant_offset=None, Tensor? group_index=None, bool activate_left=False, int quant_mode=0, "
    "int? dst_type=None, int? round_mode=None, int? activate_dim=None, int swiglu_mode=0, float clamp_limit=7.0, "
    "float glu_alpha=1.702, float glu_bias=1.0"
)


def _activated(x: Tensor, left: bool, mode: int, limit: float, alpha: float, shift: float) -> Tensor:
    """Return swiglu of halves, or with mode 1 of every second number, cut off at a limit."""
    if mode == 1:
        gate, linear = x[..., ::2].clamp(max=limit), x[..., 1::2].clamp(-limit, limit)
        return gate * torch.sigmoid(alpha * gate) * (linear + shift)
    first, second = x.chunk(2, -1)
    return F.silu(first) * second if left else F.silu(second) * first


@operator(f"npu_dequant_swiglu_quant(Tensor x, *, {_SWIGLU}) -> (Tensor, Tensor)")
def npu_dequant_swiglu_quant(
    x: Tensor, *, weight_scale: Tensor | None = None, activation_scale: Tensor | None = None,
    bias: Tensor | None = None, quant_scale: Tensor | None = None, quant_offset: Tensor | None = None,
    group_index: Tensor | None = None, activate_left: bool = False, quant_mode: int = 0, dst_type: int | None = None,
    round_mode: int | None = None, activate_dim: int | None = None, swiglu_mode: int = 0, clamp_limit: float = 7.0,
    glu_alpha: float = 1.702, glu_bias: float = 1.0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return swiglu of integers scaled back as int8, and its rows' scales.

    With `quant_mode` 1 rows have scales of their own; with 0 they are divided by `quant_scale` and shifted. Groups by
    `group_index` have scales of their own. NotImplementedError for other numbers than int8 and other roundings.
    """
    name = "npu_dequant_swiglu_quant"
    if dst_type not in (None, 1, torch.int8) or round_mode or activate_dim not in (None, -1, x.dim() - 1):
        raise NotImplementedError(f"torch_npu.{name}: only int8, rounded to even, over the last dimension is supported")
    if quant_mode not in (0, 1):
        raise RuntimeError(f"torch_npu.{name}: quant_mode must be 0 or 1, but got {quant_mode}")
    rows = x.reshape(-1, x.shape[-1])
    parts = [slice(0, rows.shape[0])] if group_index is None else list(_parts(group_index, True))
    whole = rows.new_zeros(rows.shape[0], rows.shape[1] // 2, dtype=torch.int8)
    scales = rows.new_zeros(rows.shape[0], dtype=torch.float32)
    whole_bias = bias is not None and bias.dtype == torch.int32
    for place, part in enumerate(parts):
        made = rows[part]
        if x.dtype == torch.int32:
            if weight_scale is None:
                raise RuntimeError(f"torch_npu.{name}: weight_scale is needed for int32")
            made = made + _of(bias, place) if bias is not None and whole_bias else made
            made = made.float() * _of(weight_scale, place).float()
            made = made if activation_scale is None else made * _column(activation_scale.reshape(-1)[part])
            made = made if bias is None or whole_bias else made + _of(bias, place).float()
        made = _activated(made.float(), activate_left, swiglu_mode, clamp_limit, glu_alpha, glu_bias)
        if quant_mode == 1:
            made = made if quant_scale is None else made * _of(quant_scale, place).float()
            whole[part], scales[part] = by_row(made)
            continue
        made = made if quant_scale is None else made / _of(quant_scale, place).float()
        whole[part] = to_int8(made if quant_offset is None else made + _of(quant_offset, place).float())
    shape = x.shape[:-1]
    return whole.reshape(*shape, -1), scales.reshape(shape)


def _of(table: Tensor, place: int) -> Tensor:
    """Return a group's row of a table, or its only one."""
    return table if table.dim() < 2 else table[place if table.shape[0] > 1 else 0]


@operator(
    "npu_moe_init_routing_quant(Tensor x, Tensor expert_idx, *, Tensor? scale=None, Tensor? offset=None, "
    "int active_num=1024, int expert_capacity=0, int expert_num=256, int drop_pad_mode=0, int expert_tokens_num_mode=0, "
    "bool expert_tokens_before_capacity_flag=False, int quant_mode=1) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_moe_init_routing_quant(
    x: Tensor, expert_idx: Tensor, *, scale: Tensor | None = None, offset: Tensor | None = None,
    active_num: int = 1024, expert_capacity: int = 0, expert_num: int = 256, drop_pad_mode: int = 0,
    expert_tokens_num_mode: int = 0, expert_tokens_before_capacity_flag: bool = False, quant_mode: int = 1,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return rows as int8 in the order of their experts, each pair's place, the experts' counts, none, and the scales.

    `expert_tokens_num_mode` is 0 for no counts, 1 for sums of them, 2 for counts; `quant_mode` 0 for one scale and offset,
    1 for scales by row. NotImplementedError for experts of a limited capacity.
    """
    name = "npu_moe_init_routing_quant"
    refuse_given(name, drop_pad_mode=drop_pad_mode, expert_capacity=expert_capacity)
    flat = expert_idx.flatten().long()
    order = flat.argsort(stable=True)
    kept = order[:active_num] if active_num > 0 else order
    rows = x.index_select(0, kept // expert_idx.shape[1]).float()
    experts = flat.index_select(0, kept)
    if quant_mode == 0:
        if scale is None:
            raise RuntimeError(f"torch_npu.{name}: quant_mode 0 needs scale")
        made = rows * scale.float().reshape(-1)[0]
        whole, scales = to_int8(made if offset is None else made + offset.float().reshape(-1)[0]), rows.new_empty(0)
    else:
        whole, scales = by_row(rows if scale is None else rows * _smooth(scale, experts))
    counts = torch.zeros(expert_num, dtype=torch.int32, device=x.device)
    counts = counts.index_add(0, flat, torch.ones_like(flat, dtype=torch.int32))
    modes = {0: counts.new_empty(0), 1: counts.cumsum(0).to(torch.int32), 2: counts}
    return whole, order.argsort(stable=True).to(torch.int32), modes[expert_tokens_num_mode], counts.new_empty(0), scales


def _smooth(scale: Tensor, experts: Tensor) -> Tensor:
    """Return each row's factors: those of its expert, or the only ones."""
    return scale.float() if scale.shape[0] == 1 else scale.float().index_select(0, experts)
