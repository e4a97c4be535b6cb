"""Products and convolutions, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse_given
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_bmmV2", "npu_conv2d", "npu_conv3d", "npu_conv_transpose2d", "npu_convolution", "npu_convolution_transpose",
    "npu_ffn", "npu_fused_matmul", "npu_grouped_matmul", "npu_grouped_matmul_add", "npu_grouped_matmul_add_",
    "npu_linear", "npu_transpose_batchmatmul",
]  # fmt: skip


@operator("npu_linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
def npu_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `linear`."""
    return F.linear(input, weight, bias)


@operator("npu_bmmV2(Tensor self, Tensor mat2, int[] output_sizes) -> Tensor")
def npu_bmmV2(self: Tensor, mat2: Tensor, output_sizes: Sequence[int]) -> Tensor:
    """Return the product of batches of matrices, reshaped where sizes are given."""
    made = torch.matmul(self, mat2)
    return made.reshape(tuple(output_sizes)) if output_sizes else made


_CONV = "(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups) -> Tensor"
_TRANSPOSED = (
    "(Tensor input, Tensor weight, Tensor? bias, int[] padding, int[] output_padding, int[] stride, int[] dilation, "
    "int groups) -> Tensor"
)


@operator(f"npu_convolution{_CONV}")
def npu_convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """Return the convolution of images or volumes."""
    none = [0] * (weight.dim() - 2)
    return torch.convolution(input, weight, bias, list(stride), list(padding), list(dilation), False, none, groups)


npu_conv2d = operator(f"npu_conv2d{_CONV}", out=True)(npu_convolution)
npu_conv3d = operator(f"npu_conv3d{_CONV}", out=True)(npu_convolution)


@operator(f"npu_convolution_transpose{_TRANSPOSED}")
def npu_convolution_transpose(
    input: Tensor, weight: Tensor, bias: Tensor | None, padding: Sequence[int], output_padding: Sequence[int],
    stride: Sequence[int], dilation: Sequence[int], groups: int,
) -> Tensor:  # fmt: skip
    """Return the transposed convolution of images or volumes."""
    return torch.convolution(
        input, weight, bias, list(stride), list(padding), list(dilation), True, list(output_padding), groups
    )


npu_conv_transpose2d = operator(f"npu_conv_transpose2d{_TRANSPOSED}")(npu_convolution_transpose)


@operator(
    "npu_transpose_batchmatmul(Tensor input, Tensor weight, *, Tensor? bias=None, Tensor? scale=None, "
    "int[]? perm_x1=None, int[]? perm_x2=None, int[]? perm_y=None, int? batch_split_factor=1) -> Tensor"
)
def npu_transpose_batchmatmul(
    input: Tensor, weight: Tensor, *, bias: Tensor | None = None, scale: Tensor | None = None,
    perm_x1: Sequence[int] | None = None, perm_x2: Sequence[int] | None = None, perm_y: Sequence[int] | None = None,
    batch_split_factor: int | None = 1,
) -> Tensor:  # fmt: skip
    """Return the product of batches of matrices whose dimensions are put in order before, and after.

    With `scale` the batches lie side by side and are rounded to int8; NotImplementedError for a bias.
    """
    if bias is not None:
        raise NotImplementedError("torch_npu.npu_transpose_batchmatmul: bias is not supported")
    first = input if perm_x1 is None else input.permute(*perm_x1)
    second = weight if perm_x2 is None else weight.permute(*perm_x2)
    if scale is not None:
        made = torch.matmul(first.float(), second.float()).permute(*(perm_y or (1, 0, 2))).flatten(1).unsqueeze(1)
        return torch.round(made * scale).clamp(-128, 127).to(torch.int8)
    made = torch.matmul(first, second).permute(*(perm_y or (1, 0, 2)))
    parts = batch_split_factor or 1
    return made if parts == 1 else made.reshape(made.shape[0], parts, -1).transpose(0, 1)


@operator(
    "npu_fused_matmul(Tensor x1, Tensor x2, *, Tensor? bias=None, Tensor? x3=None, str fused_op_type='') -> Tensor"
)
def npu_fused_matmul(
    x1: Tensor, x2: Tensor, *, bias: Tensor | None = None, x3: Tensor | None = None, fused_op_type: str = ""
) -> Tensor:
    """Return the product of matrices, and what is done to it: `add` or `mul` with a third, `gelu_erf`, `gelu_tanh`."""
    made = torch.matmul(x1, x2)
    made = made if bias is None else made + bias
    if fused_op_type in ("add", "mul"):
        if x3 is None:
            raise RuntimeError(f"x3 is needed when fused_op_type is {fused_op_type}")
        return made + x3 if fused_op_type == "add" else made * x3
    if fused_op_type in ("gelu_erf", "gelu_tanh"):
        return F.gelu(made, approximate="tanh" if fused_op_type == "gelu_tanh" else "none")
    if fused_op_type in ("relu",):
        return torch.relu(made)
    if fused_op_type not in ("", "16cast32"):
        raise RuntimeError(f"fused_op_type {fused_op_type!r} is not supported")
    return made.float() if fused_op_type else made


def _ends(group_list: Tensor | Sequence[int] | None, kind: int | None, name: str) -> list[int]:
    """Return where each group of rows ends."""
    if group_list is None:
        raise RuntimeError(f"{name}: group_list is needed for one tensor of all groups' rows")
    given: list[Any] = group_list.tolist() if isinstance(group_list, Tensor) else list(group_list)
    if kind == 0 or kind is None:
        return given
    if kind == 1:
        return [sum(given[: place + 1]) for place in range(len(given))]
    ends, total = {}, 0  # pairs of a group's number and how many rows it has
    for group, count in given:
        total += count
        ends[group] = total
    return [max([0, *(end for number, end in ends.items() if number <= place)]) for place in range(max(ends) + 1)]


_ACTIVATIONS = {
    0: lambda x: x, 1: torch.relu, 2: lambda x: F.gelu(x, approximate="tanh"), 4: lambda x: x * torch.sigmoid(1.702 * x),
    5: F.silu,
}  # fmt: skip


def _grouped(
    x: Sequence[Tensor], weight: Sequence[Tensor], bias: Sequence[Tensor] | None,
    group_list: Tensor | Sequence[int] | None, split_item: int | None, group_type: int | None,
    group_list_type: int | None, act_type: int | None, output_dtype: torch.dtype | None,
) -> list[Tensor]:  # fmt: skip
    name = "torch_npu.npu_grouped_matmul"
    if act_type not in _ACTIVATIONS and act_type is not None:
        raise NotImplementedError(f"{name}: act_type {act_type} is not supported")
    kind = 2 if group_type == 2 else 0
    one_each = len(x) == 1 and len(weight) == 1 and weight[0].dim() == 3 - kind // 2 and not bias
    if one_each and isinstance(group_list, Tensor) and split_item in (2, 3) and group_list_type in (0, 1):
        first = x[0].t() if kind else x[0]
        made = torch.ops.npu._npu_grouped_product(first, weight[0], group_list, kind, group_list_type)
        made = _ACTIVATIONS[0 if kind else act_type or 0](made)
        return [made if output_dtype is None else made.to(output_dtype)]
    matrices = list(weight[0]) if len(weight) == 1 and weight[0].dim() == 3 else list(weight)
    rows, biases = list(x), bias
    if group_type == 2:  # groups of columns of the first are groups of rows of the second
        ends = _ends(group_list, group_list_type, name)
        parts = list(zip([0, *ends], ends, strict=False))
        made = [torch.matmul(rows[0][:, begin:end], matrices[0][begin:end]) for begin, end in parts]
        return [torch.stack(made)] if split_item in (2, 3) else made
    if len(rows) == 1 and len(matrices) > 1:
        ends = _ends(group_list, group_list_type, name)
        rows = [rows[0][begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    made = [torch.matmul(one, matrix) for one, matrix in zip(rows, matrices, strict=True)]
    if biases:
        each = list(biases[0]) if len(biases) == 1 and biases[0].dim() == 2 else biases
        made = [one + shift for one, shift in zip(made, each, strict=True)]
    made = [_ACTIVATIONS[act_type or 0](one) for one in made]
    made = made if output_dtype is None else [one.to(output_dtype) for one in made]
    return [torch.cat(made)] if split_item in (2, 3) else made


_QUANTISED = (
    "Tensor[]? scale=None, Tensor[]? offset=None, Tensor[]? antiquant_scale=None, Tensor[]? antiquant_offset=None, "
    "Tensor[]? per_token_scale=None"
)
_ACTIVATED = (
    "Tensor[]? activation_input=None, Tensor[]? activation_quant_scale=None, Tensor[]? activation_quant_offset=None, "
    "int? split_item=0, int? group_type=None, int? group_list_type=0, int? act_type=0"
)


@operator(
    f"npu_grouped_matmul.List(Tensor[] x, Tensor[] weight, *, Tensor[]? bias=None, {_QUANTISED}, int[]? group_list=None, "
    f"{_ACTIVATED}, ScalarType? output_dtype=None) -> Tensor[]"
)
@operator(
    f"npu_grouped_matmul(Tensor[] x, Tensor[] weight, *, Tensor[]? bias=None, {_QUANTISED}, Tensor? group_list=None, "
    f"{_ACTIVATED}, int[]? tuning_config=None, ScalarType? output_dtype=None) -> Tensor[]"
)
def npu_grouped_matmul(
    x: Sequence[Tensor], weight: Sequence[Tensor], *, bias: Sequence[Tensor] | None = None,
    group_list: Tensor | Sequence[int] | None = None, split_item: int | None = 0, group_type: int | None = None,
    group_list_type: int | None = 0, act_type: int | None = 0, output_dtype: torch.dtype | None = None,
    tuning_config: Sequence[int] | None = None, **quantised: object,
) -> list[Tensor]:  # fmt: skip
    """Return products of groups of rows with a matrix each. NotImplementedError for quantised operands.

    `group_list` says where each group of rows ends, or with `group_list_type` 1 how many rows it has; matrices may be
    stacked in one tensor, and with `split_item` 2 or 3 the result is one tensor.
    """
    refuse_given("npu_grouped_matmul", **quantised)
    return _grouped(x, weight, bias, group_list, split_item, group_type, group_list_type, act_type, output_dtype)


_ADDED = (
    "Tensor x, Tensor weight, Tensor group_list, *, bool transpose_x=True, bool transpose_weight=False, int group_type=2, "
    "int? group_list_type=0"
)


@operator(f"npu_grouped_matmul_add_(Tensor(a!) self, {_ADDED}) -> Tensor(a!)")
def npu_grouped_matmul_add_(
    self: Tensor, x: Tensor, weight: Tensor, group_list: Tensor, *, transpose_x: bool = True,
    transpose_weight: bool = False, group_type: int = 2, group_list_type: int | None = 0,
) -> Tensor:  # fmt: skip
    """Add to a tensor, in place, each group's product of rows of both, the first's transposed: gradients of weights."""
    if not transpose_x or transpose_weight or group_type != 2:
        raise NotImplementedError("torch_npu.npu_grouped_matmul_add_: only transpose_x and group_type 2 are supported")
    ends = _ends(group_list, group_list_type, "torch_npu.npu_grouped_matmul_add_")
    parts = zip([0, *ends], ends, strict=False)
    made = torch.stack([torch.matmul(x[a:b].float().t(), weight[a:b].float()) for a, b in parts])
    return self.add_(made.reshape(self.shape))


@operator(f"npu_grouped_matmul_add(Tensor self, {_ADDED}) -> Tensor")
def npu_grouped_matmul_add(
    self: Tensor, x: Tensor, weight: Tensor, group_list: Tensor, *, transpose_x: bool = True,
    transpose_weight: bool = False, group_type: int = 2, group_list_type: int | None = 0,
) -> Tensor:  # fmt: skip
    """Return `npu_grouped_matmul_add_` of a copy."""
    return npu_grouped_matmul_add_(
        self.clone(), x, weight, group_list, transpose_x=transpose_x, transpose_weight=transpose_weight,
        group_type=group_type, group_list_type=group_list_type,
    )  # fmt: skip


_GATED: dict[str, Any] = {"geglu": F.gelu, "swiglu": F.silu, "reglu": torch.relu}
_PLAIN = {"relu": torch.relu, "gelu": F.gelu, "fastgelu": _ACTIVATIONS[4], "silu": F.silu}


def _feed_forward(
    x: Tensor, weight1: Tensor, weight2: Tensor, activation: str, bias1: Tensor | None, bias2: Tensor | None
) -> Tensor:
    inner = torch.matmul(x, weight1)
    inner = inner if bias1 is None else inner + bias1
    if activation in _GATED:
        first, second = inner.chunk(2, -1)
        inner = _GATED[activation](first) * second
    elif activation in _PLAIN:
        inner = _PLAIN[activation](inner)
    else:
        raise RuntimeError(f"activation {activation!r} is not supported")
    made = torch.matmul(inner.to(weight2.dtype), weight2)
    return made if bias2 is None else made + bias2


@operator(
    "npu_ffn(Tensor x, Tensor weight1, Tensor weight2, str activation, *, int[]? expert_tokens=None, "
    "int[]? expert_tokens_index=None, Tensor? bias1=None, Tensor? bias2=None, Tensor? scale=None, Tensor? offset=None, "
    "Tensor? deq_scale1=None, Tensor? deq_scale2=None, Tensor? antiquant_scale1=None, Tensor? antiquant_scale2=None, "
    "Tensor? antiquant_offset1=None, Tensor? antiquant_offset2=None, int? inner_precise=None, "
    "ScalarType? output_dtype=None) -> Tensor"
)
def npu_ffn(
    x: Tensor, weight1: Tensor, weight2: Tensor, activation: str, *, expert_tokens: Sequence[int] | None = None,
    expert_tokens_index: Sequence[int] | None = None, bias1: Tensor | None = None, bias2: Tensor | None = None,
    inner_precise: int | None = None, output_dtype: torch.dtype | None = None, **quantised: Tensor | None,
) -> Tensor:  # fmt: skip
    """Return a feed-forward block, or one for each expert's rows. NotImplementedError for quantised operands."""
    refuse_given("npu_ffn", output_dtype=output_dtype, **quantised)
    if expert_tokens is None and expert_tokens_index is None:
        return _feed_forward(x, weight1, weight2, activation, bias1, bias2)
    ends = _ends(expert_tokens or expert_tokens_index, 1 if expert_tokens else 0, "torch_npu.npu_ffn")
    made = [
        _feed_forward(
            x[a:b], weight1[one], weight2[one], activation, None if bias1 is None else bias1[one],
            None if bias2 is None else bias2[one],
        )
        for one, (a, b) in enumerate(zip([0, *ends], ends, strict=False))
    ]  # fmt: skip
    return torch.cat(made)
