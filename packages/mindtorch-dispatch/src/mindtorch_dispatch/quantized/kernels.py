"""What runs for the key QuantizedCPU: ops on quantized tensors, in terms of ops on their integers or numbers.

An op that is not here, no view, and not composed of ops that are, raises torch's error for a missing backend.
"""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import float32, float64, qint8, qint32, quint8
from mindtorch_storage.layout import preserve_format
from mindtorch_storage.quantized import PACKED, PER_TENSOR, RANGES, QuantizedArray, Quantizer

from ..call import aten
from ..meta.checks import check
from ..meta.support import lacking
from ..typing import Tensor
from .rounding import NAMESPACE, dequantize, levels, quantize, requantized, single
from .table import kernel
from .tensors import empty, integers, is_quantized, like, per_tensor, quantizer


def unpacked_only(self: Tensor, name: str = "copy_kernel") -> None:
    """Refuse tensors of several elements a byte, as torch does."""
    if self.dtype in PACKED:
        raise lacking(self.dtype, name)


@kernel("clone")
def clone(self: Tensor, memory_format: Any = None) -> Any:
    """A copy of the integers."""
    unpacked_only(self)
    return like(self, aten.clone(integers(self), memory_format=memory_format))


@kernel("_to_copy")
def to_copy(
    self: Tensor, dtype: Any, layout: object, device: Any, pin_memory: object, non_blocking: bool, memory_format: Any
) -> Any:
    """A copy; no other dtype can be had."""
    check(
        dtype is None or dtype.scalar_name.startswith("Q"),
        lambda: "Creation of quantized tensor requires quantized dtype like torch.quint8",
    )
    check(dtype is None or dtype is self.dtype, lambda: _wanted("self.scalar_type() == src.scalar_type()"))
    if device is not None and device.type != "cpu":
        raise NotImplementedError(
            f"Could not run 'aten::empty_quantized' with arguments from the 'Quantized{device.type.capitalize()}' backend."
        )
    return clone(self, memory_format)


def _wanted(condition: str) -> str:
    return (
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  If so, please report an "
        "enhancement request to PyTorch.)"
    )


@kernel("copy_")
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Any:
    """The numbers of another tensor; of a quantized one its integers and its quantizer."""
    check(
        is_quantized(self),
        lambda: (
            "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a float "
            "Tensor from a quantized Tensor"
        ),
    )
    unpacked_only(self)
    if not is_quantized(src):
        check(src.dtype is float32, lambda: "Quantized copy only works with kFloat as source Tensor")
        values = aten.expand(src, list(self.shape))
        aten.copy_(integers(self), requantized(values, quantizer(self), self.dtype))
        return self
    check(quantizer(self).scheme is quantizer(src).scheme, lambda: "Quantized Copy only works with same qscheme")
    check(self.dtype is src.dtype, lambda: _wanted("self.scalar_type() == src.scalar_type()"))
    aten.copy_(integers(self), integers(src))
    self._array = QuantizedArray(integers(self), quantizer(src))
    return self


@kernel("fill_.Scalar", "fill_.Tensor")
def fill_(self: Tensor, value: Any) -> Any:
    """The number everywhere."""
    unpacked_only(self)
    number = float(value.item() if hasattr(value, "item") else value)
    values = aten.full([1] * self.dim(), number, dtype=float32)
    return copy_(self, aten.expand(values, list(self.shape)))


@kernel("empty_like")
def empty_like(self: Tensor, dtype: Any = None, layout: object = None, device: Any = None, *rest: Any) -> Any:
    """A tensor of the same geometry and quantizer."""
    check(
        dtype is None or dtype is self.dtype,
        lambda: (
            "It is currently not supported to specify a dtype that doesn't match the input tensor's dtype via empty_like.  "
            f"Specified: {_c_name(dtype)} Input tensor's dtype: {_c_name(self.dtype)}"
        ),
    )
    if self.dtype in PACKED:
        return empty(self.shape, self.dtype, quantizer(self), device)
    memory_format = rest[-1] if rest and rest[-1] is not None else preserve_format
    return like(self, aten.empty_like(integers(self), memory_format=memory_format))


def _c_name(dtype: Any) -> str:
    return f"c10::{dtype.name}" if dtype.scalar_name.startswith("Q") else dtype.name


@kernel("empty_quantized")
def empty_quantized(
    size: Any,
    qtensor: Tensor,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    pin_memory: object = None,
    memory_format: Any = None,
) -> Any:
    """A tensor of another size with the quantizer of a given one."""
    return empty(size, dtype or qtensor.dtype, quantizer(qtensor), device, memory_format)


@kernel("equal")
def equal(self: Tensor, other: Any) -> bool:
    """True where scheme, integers and quantizer agree."""
    if not is_quantized(self) or not is_quantized(other) or self.shape != other.shape or self.dtype is not other.dtype:
        return False
    one, two = quantizer(self), quantizer(other)
    if one.scheme is not two.scheme or one.axis != two.axis:
        return False
    if one.scheme is PER_TENSOR:
        same = one.scale == two.scale and one.zero_point == two.zero_point
    else:
        same = aten.equal(one.scale, two.scale) and aten.equal(one.zero_point, two.zero_point)
    return bool(same and aten.equal(integers(self), integers(other)))


def numbers(value: Any) -> Any:
    """Return the numbers of a quantized tensor, anything else as it is."""
    return dequantize(value) if is_quantized(value) else value


def _comparison(name: str) -> Any:
    return lambda self, other: getattr(aten, name)(numbers(self), numbers(other))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    kernel(f"{_name}.Tensor", f"{_name}.Scalar")(_comparison(_name))


@kernel("relu")
def relu(self: Tensor) -> Any:
    """The integers that are not below the zero point."""
    given = per_tensor(self)
    return like(self, _clamped(self, given.zero_point, None))


def _clamped(self: Tensor, least: int | None, most: int | None) -> Any:
    limits = RANGES[self.dtype]
    return NAMESPACE._clamp(integers(self), limits[0] if least is None else least, limits[1] if most is None else most)


@kernel("clamp", "hardtanh")
def clamp(self: Tensor, min: Any = None, max: Any = None) -> Any:
    """The numbers between bounds, which are rounded as numbers are."""
    check(min is not None or max is not None, lambda: "torch.clamp: At least one of 'min' or 'max' must not be None")
    given = per_tensor(self)
    bounds = [None if bound is None else _level(float(bound), given, self.dtype) for bound in (min, max)]
    return like(self, _clamped(self, *bounds))


def _level(number: float, given: Quantizer, dtype: Any) -> int:
    return int(levels(aten.full([], number, dtype=float32), given.scale, given.zero_point, dtype).item())


@kernel("threshold")
def threshold(self: Tensor, threshold: Any, value: Any) -> Any:
    """The numbers above a bound, others replaced."""
    given = per_tensor(self)
    bound, instead = (_level(float(one), given, self.dtype) for one in (threshold, value))
    whole = integers(self)
    return like(self, aten.masked_fill(whole, aten.le(whole, bound), instead))


def requantize(values: Any, tensor: Tensor) -> Any:
    """Return numbers with the dtype and the quantizer of a quantized tensor."""
    given = per_tensor(tensor)
    return quantize(values, given.scale, given.zero_point, tensor.dtype)


def _same_quantizer(name: str) -> Any:
    def computed(self: Tensor, *rest: Any) -> Any:
        return requantize(getattr(aten, name)(dequantize(self), *rest), self)

    return computed


for _name in ("leaky_relu", "upsample_bilinear2d", "avg_pool3d"):
    kernel(_name)(_same_quantizer(_name.partition(".")[0]))


@kernel("mean")
def mean(self: Tensor, dtype: Any = None) -> Any:
    """The mean of all numbers."""
    return requantize(aten.mean(dequantize(self)), self)


@kernel("mean.dim")
def mean_of(self: Tensor, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    """The mean over dimensions."""
    return requantize(aten.mean(dequantize(self), dim, keepdim), self)


@kernel("std.correction")
def std(self: Tensor, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    """The standard deviation over dimensions."""
    return requantize(aten.std(dequantize(self), dim, correction=correction, keepdim=keepdim), self)


@kernel("gelu")
def gelu(self: Tensor, approximate: str = "none") -> Any:
    """The Gaussian error linear unit; the scale becomes one of float32."""
    given = per_tensor(self)
    values = aten.gelu(dequantize(self), approximate=approximate)
    return quantize(values, single(given.scale), given.zero_point, self.dtype)


def _squashed(name: str, steps: dict[Any, tuple[float, int]]) -> Any:
    def computed(self: Tensor) -> Any:
        per_tensor(self)
        scale, zero_point = steps[self.dtype]
        return quantize(getattr(aten, name)(dequantize(self)), scale, zero_point, self.dtype)

    return computed


_UNIT = {quint8: (2.0**-8, 0), qint8: (2.0**-8, -128), qint32: (2.0**-32, -(2**31))}
kernel("sigmoid")(_squashed("sigmoid", {**_UNIT, qint32: (2.0**-31, -(2**31))}))
kernel("hardsigmoid")(_squashed("hardsigmoid", _UNIT))
kernel("tanh")(_squashed("tanh", {quint8: (2.0**-7, 128), qint8: (2.0**-7, 0), qint32: (2.0**-31, 0)}))


def _uniform(self: Tensor, refusal: str) -> None:
    check(quantizer(self).scheme is PER_TENSOR, lambda: refusal)


_STRIDES = "Setting strides is possible only on uniformly quantized tensor"


def _of_integers(name: str, refusal: str = _STRIDES, wide: bool = False) -> Any:
    """Ops that only move elements, or compare them with each other."""

    def computed(self: Tensor, *rest: Any) -> Any:
        _uniform(self, refusal) if refusal else per_tensor(self)
        whole = integers(self)
        result = getattr(aten, name)(aten._to_copy(whole, dtype=float64) if wide else whole, *rest)
        if wide:
            return like(self, aten._to_copy(result, dtype=whole.dtype))
        if isinstance(result, tuple):
            return (like(self, result[0]), *result[1:])
        return like(self, result)

    return computed


_EXTREMUM = (
    "{0} operator for quantized tensors only works for per tensor quantized tensors. Please open an issue on "
    "https://github.com/pytorch/pytorch/issues if you need per channel quantized tensor support."
)
for _name in ("max", "min"):
    kernel(_name, f"{_name}.dim")(_of_integers(_name, _EXTREMUM.format(_name.capitalize())))
kernel("index_select")(
    _of_integers("index_select", "Only per_tensor quantized quantized tensors are supported by index_select.")
)
kernel("topk")(_of_integers("topk", "Top-K is only supported on per-tensor quantization"))
kernel("index.Tensor")(_of_integers("index"))
for _name in ("flip", "channel_shuffle"):
    kernel(_name)(_of_integers(_name))
for _name in ("upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"):
    kernel(_name)(_of_integers(_name, "", wide=True))
for _name in ("reflection_pad1d", "reflection_pad2d"):
    kernel(_name)(_of_integers(_name, wide=True))


@kernel("sort.stable", "sort")
def sort(self: Tensor, *rest: Any) -> Any:
    """In order along a dimension, with where the elements were."""
    per_tensor(self)
    stable, dim, descending = rest if len(rest) == 3 else (False, *((*rest, *(-1, False)[len(rest) :])))
    values, indices = aten.sort.stable(integers(self), stable=bool(stable), dim=dim, descending=descending)
    return like(self, values), indices


@kernel("cat")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined; the result has the quantizer of the first."""
    check(
        all(is_quantized(one) and quantizer(one).scheme is PER_TENSOR for one in tensors),
        lambda: "Only per-tensor quantization is supported in 'cat'!",
    )
    first = tensors[0]
    given = quantizer(first)
    parts = []
    for one in tensors:
        own = quantizer(one)
        same = own.scale == given.scale and own.zero_point == given.zero_point
        parts.append(integers(one) if same else requantized(dequantize(one), given, first.dtype))
    return like(first, aten.cat(parts, dim))


@kernel("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along a new dimension."""
    return cat([aten.unsqueeze(one, dim) for one in tensors], dim)


@kernel("masked_fill_.Scalar", "masked_fill_.Tensor")
def masked_fill_(self: Tensor, mask: Any, value: Any) -> Any:
    """A number where a mask is true."""
    _uniform(self, _STRIDES)
    given = per_tensor(self)
    number = float(value.item() if hasattr(value, "item") else value)
    aten.masked_fill_(integers(self), mask, _level(number, given, self.dtype))
    return self


@kernel("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(self: Tensor, mask: Any, value: Any) -> Any:
    """A copy with a number where a mask is true."""
    _uniform(self, _STRIDES)
    return masked_fill_(clone(self), mask, value)


@kernel("index_put_", "_index_put_impl_")
def index_put_(self: Tensor, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False) -> Any:
    """Numbers at indices."""
    check(not accumulate, lambda: "index_put for quantized tensors is currently only supported for accumulate=False")
    given = per_tensor(self)
    whole = (
        integers(values)
        if is_quantized(values)
        else requantized(aten._to_copy(values, dtype=float32), given, self.dtype)
    )
    aten.index_put_(integers(self), indices, whole)
    return self


@kernel("repeat")
def repeat(self: Tensor, repeats: Any) -> Any:
    """The tensor several times along its dimensions."""
    per_tensor(self)
    return like(self, aten.repeat(integers(self), repeats))


@kernel("constant_pad_nd")
def constant_pad_nd(self: Tensor, pad: Any, value: Any = 0) -> Any:
    """A border of one number."""
    _uniform(self, "Only per-tensor padding is supported.")
    given = per_tensor(self)
    return like(self, aten.constant_pad_nd(integers(self), pad, _level(float(value), given, self.dtype)))


@kernel("_local_scalar_dense", "item")
def item(self: Tensor) -> Any:
    """The only number."""
    check(self.numel() == 1, lambda: f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return dequantize(aten.reshape(self, [1])).item()
