"""Numbers of eight bits and back, and products of them, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse_given
from mindtorch._torch_npu.operators._int8 import by_row, only_int8, only_nearest, to_int8
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_anti_quant", "npu_dynamic_block_quant", "npu_dynamic_quant", "npu_dynamic_quant_asymmetric", "npu_group_quant",
    "npu_quant_matmul", "npu_quant_scatter", "npu_quant_scatter_", "npu_quantize", "npu_trans_quant_param",
    "npu_weight_quant_batchmatmul",
]  # fmt: skip


@operator(
    "npu_quantize(Tensor self, Tensor scales, Tensor? zero_points, ScalarType dtype, int axis=1, bool div_mode=True) "
    "-> Tensor"
)
def npu_quantize(
    self: Tensor, scales: Tensor, zero_points: Tensor | None, dtype: torch.dtype, axis: int = 1, div_mode: bool = True
) -> Tensor:
    """Return numbers over their scales, or times them without `div_mode`, plus the zero points, as integers."""
    ranges = {torch.int8: (-128, 127), torch.uint8: (0, 255), torch.int32: (-(2**31), 2**31 - 1)}
    kinds = {torch.qint8: torch.int8, torch.quint8: torch.uint8, torch.qint32: torch.int32}
    dtype = kinds.get(dtype, dtype)
    if dtype not in ranges:
        raise NotImplementedError(f"torch_npu.npu_quantize: {dtype} is not supported")
    shape = [1] * self.dim()
    if scales.numel() > 1:
        shape[axis] = scales.numel()
    factor = scales.float().reshape(shape)
    wide = self.float() / factor if div_mode else self.float() * factor
    wide = torch.round(wide) if div_mode else wide
    if zero_points is not None:
        wide = wide + zero_points.float().reshape(shape if zero_points.numel() > 1 else [1] * self.dim())
    return torch.round(wide).clamp(*ranges[dtype]).to(dtype)


@operator(
    "npu_anti_quant(Tensor x, Tensor scale, *, Tensor? offset=None, ScalarType? dst_dtype=None, "
    "ScalarType? src_dtype=None) -> Tensor"
)
def npu_anti_quant(
    x: Tensor, scale: Tensor, *, offset: Tensor | None = None, dst_dtype: torch.dtype | None = None,
    src_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Return integers plus their offset, times their scale, in float16 or `dst_dtype`."""
    if x.dtype != torch.int8 or src_dtype not in (None, torch.int8):
        raise NotImplementedError("torch_npu.npu_anti_quant: only torch.int8 is supported")
    wide = x.float() if offset is None else x.float() + offset.float()
    return (wide * scale.float()).to(torch.float16 if dst_dtype is None else dst_dtype)


_DYNAMIC = (
    "(Tensor input, *, Tensor? smooth_scales=None, Tensor? group_index=None, ScalarType? dst_type=None, "
    "str quant_mode='pertoken') -> "
)


def _smoothed(name: str, x: Tensor, smooth: Tensor | None, group_index: Tensor | None, quant_mode: str) -> Tensor:
    if quant_mode != "pertoken":
        raise NotImplementedError(f"torch_npu.{name}: only quant_mode='pertoken' is supported, but got {quant_mode!r}")
    wide = x.float()
    if smooth is None:
        return wide
    if group_index is None:
        return wide * smooth
    rows = wide.reshape(-1, wide.shape[-1])
    group = torch.searchsorted(group_index.long(), torch.arange(rows.shape[0], device=x.device), right=True)
    factor = torch.cat((smooth.float(), torch.ones_like(smooth[:1], dtype=torch.float32)))
    return (rows * factor[group.clamp(max=smooth.shape[0])]).reshape(x.shape)


@operator(f"npu_dynamic_quant{_DYNAMIC}(Tensor, Tensor)")
def npu_dynamic_quant(
    input: Tensor, *, smooth_scales: Tensor | None = None, group_index: Tensor | None = None,
    dst_type: torch.dtype | None = None, quant_mode: str = "pertoken",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return each row as int8 and its scale, so that their product is near the row."""
    only_int8("npu_dynamic_quant", dst_type)
    wide = _smoothed("npu_dynamic_quant", input, smooth_scales, group_index, quant_mode)
    return by_row(wide)


@operator(f"npu_dynamic_quant_asymmetric{_DYNAMIC}(Tensor, Tensor, Tensor)")
def npu_dynamic_quant_asymmetric(
    input: Tensor, *, smooth_scales: Tensor | None = None, group_index: Tensor | None = None,
    dst_type: torch.dtype | None = None, quant_mode: str = "pertoken",
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return each row as int8, its scale and its offset, which lay its least and largest number at the ends."""
    only_int8("npu_dynamic_quant_asymmetric", dst_type)
    wide = _smoothed("npu_dynamic_quant_asymmetric", input, smooth_scales, group_index, quant_mode)
    largest, least = wide.amax(-1, keepdim=True), wide.amin(-1, keepdim=True)
    scale = (largest - least) / 255
    offset = 127 - largest / scale
    return to_int8(wide / scale + offset), scale.squeeze(-1), offset.squeeze(-1)


@operator(
    "npu_group_quant(Tensor x, Tensor scale, Tensor group_index, *, Tensor? offset=None, ScalarType? dst_dtype=None) "
    "-> Tensor"
)
def npu_group_quant(
    x: Tensor, scale: Tensor, group_index: Tensor, *, offset: Tensor | None = None,
    dst_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Return rows times their group's scale plus an offset, as int8; `group_index` says where each group ends."""
    only_int8("npu_group_quant", {torch.qint8: torch.int8}.get(dst_dtype, dst_dtype))
    rows = torch.arange(x.shape[0], device=x.device)
    group = torch.searchsorted(group_index.long(), rows, right=True).clamp(max=scale.shape[0] - 1)
    wide = x.float() * scale.float()[group]
    return to_int8(wide if offset is None else wide + offset.float())


@operator("npu_trans_quant_param(Tensor scale, Tensor? offset=None, int? round_mode=0) -> Tensor")
def npu_trans_quant_param(scale: Tensor, offset: Tensor | None = None, round_mode: int | None = 0) -> Tensor:
    """Return scales as the chip's matrix unit reads them: 19 bits of each float32, in an int64 with bit 46 set."""
    if offset is not None or round_mode:
        raise NotImplementedError("torch_npu.npu_trans_quant_param: offset and round_mode are not supported")
    bits = scale.float().view(torch.int32).long() & 0xFFFFE000
    return bits | (1 << 46)


def factors(scale: Tensor) -> Tensor:
    """Return scales as float32; those of `npu_trans_quant_param` are read back."""
    if scale.dtype != torch.int64:
        return scale.float()
    low = scale & 0xFFFFFFFF
    return torch.where(low >= 2**31, low - 2**32, low).to(torch.int32).view(torch.float32)


EXACT = 1024
"""So many products of int8 have a sum that float32 holds without rounding."""


def _product(first: Tensor, second: Tensor) -> Tensor:
    """Return the product of int8 matrices as int32, exact."""
    parts = range(0, first.shape[-1], EXACT)
    total = torch.zeros((), dtype=torch.int32, device=first.device)
    for begin in parts:
        rows, columns = first[..., begin : begin + EXACT].float(), second[..., begin : begin + EXACT, :].float()
        total = total + torch.matmul(rows, columns).to(torch.int32)
    return total


@operator(
    "npu_quant_matmul(Tensor x1, Tensor x2, Tensor scale, *, Tensor? offset=None, Tensor? pertoken_scale=None, "
    "Tensor? bias=None, ScalarType? output_dtype=None, int[]? group_sizes=None) -> Tensor"
)
def npu_quant_matmul(
    x1: Tensor, x2: Tensor, scale: Tensor, *, offset: Tensor | None = None, pertoken_scale: Tensor | None = None,
    bias: Tensor | None = None, output_dtype: torch.dtype | None = None, group_sizes: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Return the product of int8 matrices, exact, times its scales: as int8 of the default, float16 or bfloat16."""
    if x1.dtype != torch.int8 or x2.dtype != torch.int8 or group_sizes:
        raise NotImplementedError("torch_npu.npu_quant_matmul: only torch.int8 is supported, and no groups")
    made = _product(x1, x2)
    if bias is not None and bias.dtype == torch.int32:
        made = made + bias
    if output_dtype == torch.int32:
        return made.to(torch.int32)
    wide = made.float() * factors(scale)
    wide = wide if pertoken_scale is None else wide * pertoken_scale.float().unsqueeze(-1)
    if bias is not None and bias.dtype != torch.int32:
        wide = wide + bias.float()
    if output_dtype in (None, torch.int8):
        return to_int8(wide if offset is None else wide + offset.float())
    return wide.to(output_dtype)


@operator(
    "npu_weight_quant_batchmatmul(Tensor x, Tensor weight, Tensor antiquant_scale, Tensor? antiquant_offset=None, "
    "Tensor? quant_scale=None, Tensor? quant_offset=None, Tensor? bias=None, int antiquant_group_size=0, "
    "int inner_precise=0) -> Tensor"
)
def npu_weight_quant_batchmatmul(
    x: Tensor, weight: Tensor, antiquant_scale: Tensor, antiquant_offset: Tensor | None = None,
    quant_scale: Tensor | None = None, quant_offset: Tensor | None = None, bias: Tensor | None = None,
    antiquant_group_size: int = 0, inner_precise: int = 0,
) -> Tensor:  # fmt: skip
    """Return the product with a matrix of int8 that is scaled to numbers first, by column, or by group of rows."""
    if weight.dtype != torch.int8:
        raise NotImplementedError("torch_npu.npu_weight_quant_batchmatmul: only weights of torch.int8 are supported")

    def each(one: Tensor) -> Tensor:
        return one.repeat_interleave(antiquant_group_size, 0)[: weight.shape[0]] if antiquant_group_size else one

    matrix = weight.to(x.dtype)
    matrix = matrix if antiquant_offset is None else matrix + each(antiquant_offset)
    made = torch.matmul(x, matrix * each(antiquant_scale))
    made = made if bias is None else made + bias
    if quant_scale is None:
        return made
    wide = made.float() * factors(quant_scale)
    return to_int8(wide if quant_offset is None else wide + quant_offset)


_SCATTER = (
    "Tensor indices, Tensor updates, Tensor quant_scales, Tensor? quant_zero_points=None, int axis=-2, int quant_axis=-1, "
    "str reduce='update') -> "
)


@operator(f"npu_quant_scatter_(Tensor(a!) self, {_SCATTER}Tensor(a!)")
def npu_quant_scatter_(
    self: Tensor, indices: Tensor, updates: Tensor, quant_scales: Tensor, quant_zero_points: Tensor | None = None,
    axis: int = -2, quant_axis: int = -1, reduce: str = "update",
) -> Tensor:  # fmt: skip
    """Write updates as int8 along an axis, in place, each sample's from where its index says."""
    if reduce != "update":
        raise RuntimeError(f"reduce must be 'update', but got {reduce!r}")
    wide = updates.float() / quant_scales.float()
    made = to_int8(wide if quant_zero_points is None else wide + quant_zero_points.float())
    for place, at in enumerate(indices.tolist()):
        sample, start = at if isinstance(at, list) else (place, at)
        along = axis % self.dim() - 1
        self[sample].narrow(along, start, made.shape[along + 1]).copy_(made[place])
    return self


@operator(f"npu_quant_scatter(Tensor self, {_SCATTER}Tensor")
def npu_quant_scatter(
    self: Tensor, indices: Tensor, updates: Tensor, quant_scales: Tensor, quant_zero_points: Tensor | None = None,
    axis: int = -2, quant_axis: int = -1, reduce: str = "update",
) -> Tensor:  # fmt: skip
    """Return `npu_quant_scatter_` of a copy."""
    return npu_quant_scatter_(self.clone(), indices, updates, quant_scales, quant_zero_points, axis, quant_axis, reduce)


@operator(
    'npu_dynamic_block_quant(Tensor x, *, float min_scale=0.0, str round_mode="rint", int dst_type=1, '
    "int row_block_size=1, int col_block_size=128, float dst_type_max=0.0) -> (Tensor y, Tensor scale)"
)
def npu_dynamic_block_quant(
    x: Tensor, *, min_scale: float = 0.0, round_mode: str = "rint", dst_type: int = 1, row_block_size: int = 1,
    col_block_size: int = 128, dst_type_max: float = 0.0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return numbers in eight bits and the scale of each block of rows and columns."""
    only_nearest("npu_dynamic_block_quant", dst_type, round_mode)
    refuse_given("npu_dynamic_block_quant", dst_type_max=dst_type_max)
    rows, columns = x.shape[-2:]
    down, across = -rows % row_block_size, -columns % col_block_size
    padded = F.pad(x.float(), [0, across, 0, down])
    blocks = padded.unflatten(-1, (-1, col_block_size)).unflatten(-3, (-1, row_block_size))
    scale = (blocks.abs().amax((-3, -1), keepdim=True) / 127.0).clamp(min=min_scale)
    made = to_int8(blocks / torch.where(scale > 0, scale, torch.ones_like(scale)))
    return made.reshape(padded.shape)[..., :rows, :columns].contiguous(), scale.squeeze(-1).squeeze(-2)
