"""`torch._decomp.decompositions`: operators that have a kernel of their own, as functions of the core operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import mindtorch as torch
from mindtorch._decomp import _creation as creation
from mindtorch._decomp import _losses as losses
from mindtorch_dispatch.decomp.rnn import composed_layer
from mindtorch_dispatch.typing import Tensor

aten = torch.ops.aten

Entry = tuple[str, Callable[..., Any]]


def _swapped(self: Tensor, dim0: int, dim1: int) -> Any:
    order = list(range(self.dim()))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return aten.permute(self, order)


def _t(self: Tensor) -> Any:
    return aten.permute(self, [1, 0]) if self.dim() == 2 else aten.alias(self)


def _squeeze(self: Tensor, dim: int | None = None) -> Any:
    return aten.squeeze(self, list(range(self.dim())) if dim is None else [dim])


def _masked_fill(self: Tensor, mask: Tensor, value: object) -> Any:
    return aten.where(mask, creation.zero_dim(value, self), self)


def _masked_fill_tensor(self: Tensor, mask: Tensor, value: object) -> Any:
    return aten.where(mask, value if value.dtype is self.dtype else aten._to_copy(value, dtype=self.dtype), self)


def _all(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    return aten.logical_not(aten.any(aten.logical_not(self), dim, keepdim))


def _all_of(self: Tensor) -> Any:
    return aten.logical_not(aten.any.dims(aten.logical_not(self)))


def _split(self: Tensor, split_size: int, dim: int = 0) -> Any:
    size = self.shape[dim]
    if split_size == 0:
        return aten.split_with_sizes(self, [size], dim)
    whole, rest = divmod(size, split_size)
    parts = [split_size] * whole + ([rest] if rest or not whole else [])
    return aten.split_with_sizes(self, parts, dim)


def _stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    shape = list(tensors[0].shape)
    dim %= len(shape) + 1
    if dim == 0:
        return aten.view(aten.cat(tensors), [len(tensors), *shape]) if shape else _stacked(tensors, dim)
    return _stacked(tensors, dim)


def _stacked(tensors: Sequence[Tensor], dim: int) -> Any:
    return aten.cat([aten.unsqueeze(one, dim) for one in tensors], dim)


def _unbind(self: Tensor, dim: int = 0) -> Any:
    dim %= self.dim()
    parts = [aten.slice(self, dim, place, place + 1) for place in range(self.shape[dim])]
    return [aten.squeeze(one, [dim]) for one in parts]


def _baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
    product = aten.bmm(batch1, batch2)
    product = product if alpha == 1 else aten.mul(product, alpha)
    if beta == 0:
        return product
    return aten.add(self if beta == 1 else aten.mul(self, beta), product)


def _std(self: Tensor, dim: Any = None, *, correction: float | None = None, keepdim: bool = False) -> Any:
    return aten.sqrt(aten.var(self, dim, correction=1.0 if correction is None else float(correction), keepdim=keepdim))


def _addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: object = 1) -> Any:
    return aten.add(self, aten.mul(tensor1 if value == 1 else aten.mul(tensor1, value), tensor2))


def _addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: object = 1) -> Any:
    return aten.add(self, aten.div(aten.mul(tensor1, value), tensor2))


def _rsub(self: Tensor, other: object, alpha: float = 1) -> Any:
    scaled = self if alpha == 1 else aten.mul(self, alpha)
    return aten.sub(other, scaled)


def _clamp_min(self: Tensor, min: object) -> Any:
    return aten.clamp(self, min)


def _clamp_max(self: Tensor, max: object) -> Any:
    return aten.clamp(self, None, max)


def _logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Any:
    dims = [dim] if isinstance(dim, int) else list(dim)
    top = aten.amax(self, dims, True)
    top = aten.where(aten.eq(aten.abs(top), float("inf")), creation.zero_dim(0.0, self), top)
    added = top if keepdim else aten.squeeze(top, dims)
    return aten.add(aten.log(aten.sum(aten.exp(aten.sub(self, top)), dims, keepdim)), added)


def _mv(self: Tensor, vec: Tensor) -> Any:
    return aten.sum(aten.mul(self, vec), [1])


def _dot(self: Tensor, tensor: Tensor) -> Any:
    return losses.sum(aten.mul(self, tensor))


def _triangle(keeps: Any) -> Callable[..., Any]:
    def cut(self: Tensor, diagonal: int = 0) -> Any:
        rows, columns = self.shape[-2:]
        along = aten.unsqueeze(creation.arange(columns, device=self.device), -2)
        down = aten.unsqueeze(creation.arange(rows, device=self.device), -1)
        return aten.where(keeps(aten.sub(along, down), diagonal), self, creation.zero_dim(0, self))

    return cut


def _isfinite(self: Tensor) -> Any:
    bounded = aten.ne(aten.abs(self), float("inf"))
    return aten.mul(aten.eq(self, self), bounded)


def _frac(self: Tensor) -> Any:
    return aten.sub(self, aten.trunc(self))


def _nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    limits = torch.finfo(self.dtype)
    made = aten.where(aten.isnan(self), creation.zero_dim(0.0 if nan is None else nan, self), self)
    lowest = aten.eq(made, float("-inf"))
    made = aten.where(lowest, creation.zero_dim(limits.min if neginf is None else neginf, self), made)
    highest = aten.eq(made, float("inf"))
    return aten.where(highest, creation.zero_dim(limits.max if posinf is None else posinf, self), made)


def _floor_divide(self: Tensor, other: object) -> Any:
    return aten.div(self, other, rounding_mode="floor")


def _alias(self: Tensor) -> Any:
    return aten.alias(self)


def _unsafe_view(self: Tensor, size: Sequence[int]) -> Any:
    return aten.view(self, size)


def _copied(self: Tensor) -> Any:
    return aten.clone(self)


def _where_scalar(condition: Tensor, self: Tensor, other: object) -> Any:
    kept = other if isinstance(other, torch.Tensor) else self
    left, right = (
        one if isinstance(one, torch.Tensor) else creation.zero_dim(one, cast("Tensor", kept)) for one in (self, other)
    )
    return aten.where(condition, left, right)


def _xlogy(self: Tensor, other: object) -> Any:
    product = aten.mul(self, aten.log(other))
    made = aten.where(aten.eq(self, 0), creation.zero_dim(0, product), product)
    return aten.where(aten.isnan(other), creation.zero_dim(float("nan"), product), made)


def _dense(self: Tensor) -> Any:
    return aten.clone(self, memory_format=torch.contiguous_format)


def _pixel_shuffle(self: Tensor, upscale_factor: int) -> Any:
    *before, channels, height, width = self.shape
    factor = upscale_factor
    apart = aten.view(self, [*before, channels // factor**2, factor, factor, height, width])
    first = len(before)
    order = [*range(first), *(first + place for place in (0, 3, 1, 4, 2))]
    joined = [*before, channels // factor**2, height * factor, width * factor]
    return _dense(aten.view(_dense(aten.permute(apart, order)), joined))


def _pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    *before, channels, height, width = self.shape
    factor = downscale_factor
    apart = aten.view(self, [*before, channels, height // factor, factor, width // factor, factor])
    first = len(before)
    order = [*range(first), *(first + place for place in (0, 2, 4, 1, 3))]
    joined = [*before, channels * factor**2, height // factor, width // factor]
    return _dense(aten.view(_dense(aten.permute(apart, order)), joined))


def _channel_shuffle(self: Tensor, groups: int) -> Any:
    count, channels, *rest = self.shape
    apart = aten.view(self, [count, groups, channels // groups, *rest])
    order = [0, 2, 1, *range(3, 3 + len(rest))]
    return aten.view(_dense(aten.permute(apart, order)), list(self.shape))


def _rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: object,
    cx_: object,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    *options: object,
) -> tuple[Any, ...]:
    weights = (weight0, weight1, weight2, weight3)
    output, hidden, *cell = composed_layer(input, *weights, hx_, cx_, reverse, batch_sizes, mode)
    return output, hidden, cell[0] if cell else cx_, aten.empty([0], dtype=torch.uint8, device=input.device)


def _upper(numbers: Tensor, diagonal: int) -> Any:
    return aten.ge(numbers, diagonal)


def _lower(numbers: Tensor, diagonal: int) -> Any:
    return aten.le(numbers, diagonal)


DECOMPOSITIONS: tuple[Entry, ...] = (
    ("t", _t),
    ("transpose.int", _swapped),
    ("squeeze", _squeeze),
    ("squeeze.dim", _squeeze),
    ("sum", losses.sum),
    ("zeros", creation.filled(0)),
    ("ones", creation.filled(1)),
    ("zeros_like", creation.filled_like(0)),
    ("ones_like", creation.filled_like(1)),
    ("new_zeros", creation.new_filled(0)),
    ("new_ones", creation.new_filled(1)),
    ("new_full", creation.new_full),
    ("arange", creation.arange),
    ("arange.start", creation.arange),
    ("mse_loss", losses.mse_loss),
    ("smooth_l1_loss", losses.smooth_l1_loss),
    ("huber_loss", losses.huber_loss),
    ("silu", losses.silu),
    ("hardswish", losses.hardswish),
    ("hardsigmoid", losses.hardsigmoid),
    ("softplus", losses.softplus),
    ("mish", losses.mish),
    ("glu", losses.glu),
    ("log_sigmoid_forward", losses.log_sigmoid_forward),
    ("_prelu_kernel", losses.prelu),
    ("threshold", losses.threshold),
    ("hardshrink", losses.hardshrink),
    ("softshrink", losses.softshrink),
    ("masked_fill.Scalar", _masked_fill),
    ("masked_fill.Tensor", _masked_fill_tensor),
    ("all", _all_of),
    ("all.dim", _all),
    ("split.Tensor", _split),
    ("stack", _stack),
    ("unbind.int", _unbind),
    ("baddbmm", _baddbmm),
    ("std.correction", _std),
    ("addcmul", _addcmul),
    ("addcdiv", _addcdiv),
    ("rsub.Scalar", _rsub),
    ("rsub.Tensor", _rsub),
    ("clamp_min", _clamp_min),
    ("clamp_min.Tensor", _clamp_min),
    ("clamp_max", _clamp_max),
    ("clamp_max.Tensor", _clamp_max),
    ("logsumexp", _logsumexp),
    ("mv", _mv),
    ("dot", _dot),
    ("tril", _triangle(_lower)),
    ("triu", _triangle(_upper)),
    ("isfinite", _isfinite),
    ("frac", _frac),
    ("nan_to_num", _nan_to_num),
    ("floor_divide", _floor_divide),
    ("detach", _alias),
    ("_unsafe_view", _unsafe_view),
    ("lift_fresh_copy", _copied),
    ("where.ScalarOther", _where_scalar),
    ("where.ScalarSelf", _where_scalar),
    ("xlogy.Tensor", _xlogy),
    ("binary_cross_entropy_with_logits", losses.binary_cross_entropy_with_logits),
    ("mkldnn_rnn_layer", _rnn_layer),
    ("fill.Scalar", creation.fill),
    ("fill.Tensor", creation.fill_tensor),
    ("eye", creation.eye),
    ("eye.m", creation.eye),
    ("pixel_shuffle", _pixel_shuffle),
    ("pixel_unshuffle", _pixel_unshuffle),
    ("channel_shuffle", _channel_shuffle),
    ("nll_loss_forward", losses.nll_loss_forward),
)
"""Overloads and what is run in their place."""
