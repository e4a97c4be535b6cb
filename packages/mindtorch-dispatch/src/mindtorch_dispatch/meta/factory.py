"""Meta rules of factories: tensors out of sizes and options."""

from __future__ import annotations

import math
import warnings
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import complex32, int64
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format, preserve_format
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import channels_last_3d_strides, channels_last_strides, preserved_strides

from ..defaults import get_default_device, get_default_dtype
from .checks import c_type, check, shape_text
from .rule import MetaRule, Outputs, meta_rule

factory_rule = meta_rule(out=True)
counting_rule = meta_rule(out=True, counted=True)
filling_rule = meta_rule(out=True, overlap_ok=True)
like_rule = meta_rule()


def check_size(size: Any) -> tuple[int, ...]:
    """Return the size as a tuple; torch's error for negative extents."""
    size = tuple(size)
    for extent in size:
        if extent < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {extent}: {shape_text(size)}")
    found: tuple[int, ...] = size
    return found


def dtype_of_number(value: Any) -> Dtype:
    """Return the dtype that a factory gives a Python number."""
    if isinstance(value, bool):
        return bool_dtype
    if isinstance(value, int):
        return int64
    return get_default_dtype().to_complex() if isinstance(value, complex) else get_default_dtype()


def fresh(size: Any, dtype: Dtype | None, device: Device | None, stride: Any = None) -> Spec:
    """Return the spec of a new tensor with the defaults filled in."""
    return Spec.of(dtype or get_default_dtype(), device or get_default_device(), check_size(size), stride)


def strides_for(shape: tuple[int, ...], memory_format: Any) -> tuple[int, ...] | None:
    """Return the strides that a memory format gives `shape`, None for contiguous; torch's errors for wrong ranks."""
    if memory_format is None or memory_format is contiguous_format:
        return None
    if memory_format is channels_last:
        check(len(shape) == 4, lambda: "required rank 4 tensor to use channels_last format")
        return tuple(channels_last_strides(shape))
    if memory_format is channels_last_3d:
        check(len(shape) == 5, lambda: "required rank 5 tensor to use channels_last_3d format")
        return tuple(channels_last_3d_strides(shape))
    raise RuntimeError("unsupported memory format option Preserve")


@filling_rule
def sized(size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None) -> Spec:
    """`zeros`, `ones`: a size and options."""
    return fresh(size, dtype, device)


@factory_rule
def empty(
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> Spec:
    """`empty`."""
    return fresh(size, dtype, device, strides_for(check_size(size), memory_format))


@like_rule
def empty_strided(
    size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`empty_strided`."""
    check(
        len(size) == len(stride),
        lambda: f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})",
    )
    return fresh(size, dtype, device, tuple(stride))


@filling_rule
def full(
    size: Any, fill_value: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`full`: the dtype follows the kind of the value."""
    return fresh(size, dtype or dtype_of_number(fill_value), device)


@like_rule
def scalar_tensor(s: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Spec:
    """`scalar_tensor`."""
    return fresh((), dtype, device)


def like_spec(self: Spec, dtype: Any, device: Any, memory_format: Any) -> Spec:
    """Return the spec of a tensor made like `self`."""
    stride: tuple[int, ...] | None
    if memory_format is None or memory_format is preserve_format:
        stride = tuple(preserved_strides(self.shape, self.stride))
    else:
        stride = strides_for(self.shape, memory_format)
    return Spec.of(dtype or self.dtype, device or self.device, self.shape, stride)


@like_rule
def like(
    self: Spec, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None, memory_format: Any = None
) -> Spec:
    """`empty_like`, `zeros_like`, ..."""
    return like_spec(self, dtype, device, memory_format)


@like_rule
def full_like(
    self: Spec, fill: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None, fmt: Any = None
) -> Spec:
    """`full_like`."""
    return like_spec(self, dtype, device, fmt)


@like_rule
def new(self: Spec, size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Spec:
    """`new_empty`, `new_zeros`, `new_ones`."""
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size))


@like_rule
def new_full(
    self: Spec, size: Any, fill: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`new_full`."""
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size))


@like_rule
def new_empty_strided(
    self: Spec, size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`new_empty_strided`."""
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size), tuple(stride))


def _bound(value: Any, dtype: Dtype) -> Any:
    """Return a bound as torch counts it: whole numbers for int64."""
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if dtype is not int64:
        return float(value)
    check(math.isfinite(value), lambda: "value cannot be converted to type int64_t without overflow")
    return int(value)


def _range_bounds(start: Any, end: Any, step: Any, dtype: Dtype) -> tuple[Any, Any, Any]:
    check(step != 0, lambda: "step must be nonzero")
    first, last, stride = (_bound(value, dtype) for value in (start, end, step))
    check(stride != 0, lambda: "step must be nonzero", ValueError)
    check(
        math.isfinite(first) and math.isfinite(last),
        lambda: f"unsupported range: {first:.6g} -> {last:.6g}",
    )
    check(
        (stride > 0 and last >= first) or (stride < 0 and last <= first),
        lambda: "upper bound and lower bound inconsistent with step sign",
    )
    return first, last, stride


def _counted(first: Any, last: Any, stride: Any, length: int, dtype: Dtype, device: Device) -> Outputs:
    """The answer of a range; the kernel of an integral dtype counts in whole numbers."""
    whole = not dtype.is_floating_point
    values = tuple(int(value) if whole and math.isfinite(value) else value for value in (first, last, stride))
    return Outputs(Spec.of(dtype, device, (max(length, 0),)), values=values)


def _arange(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Outputs:
    if dtype is None:
        floating = any(isinstance(value, float) for value in (start, end, step))
        dtype = get_default_dtype() if floating else int64
    device = device or get_default_device()
    check(
        device.type == "meta" or not (dtype.is_complex or dtype is bool_dtype),
        lambda: f"\"arange_cpu\" not implemented for '{dtype.scalar_name}'",
        NotImplementedError,
    )
    first, last, stride = _range_bounds(start, end, step, dtype)
    length = -((first - last) // stride) if dtype is int64 else math.ceil((last - first) / stride)
    return _counted(first, last, stride, length, dtype, device)


def _range(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Outputs:
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    dtype = dtype or get_default_dtype()
    first, last, stride = _range_bounds(start, end, step, dtype)
    return _counted(first, last, stride, int((last - first) / stride) + 1, dtype, device or get_default_device())


@counting_rule
def range_(start: Any, end: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Outputs:
    """`range(start, end)`: both ends included."""
    return _range(start, end, 1, dtype, device)


@counting_rule
def range_step(
    start: Any, end: Any, step: Any = 1, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Outputs:
    """`range(start, end, step)`."""
    return _range(start, end, step, dtype, device)


@counting_rule
def arange_end(end: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Outputs:
    """`arange(end)`."""
    return _arange(0, end, 1, dtype, device)


@counting_rule
def arange_start(
    start: Any, end: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Outputs:
    """`arange(start, end)`."""
    return _arange(start, end, 1, dtype, device)


@counting_rule
def arange_step(
    start: Any, end: Any, step: Any = 1, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Outputs:
    """`arange(start, end, step)`."""
    return _arange(start, end, step, dtype, device)


def _spaced(name: str, start: Any, end: Any, steps: int, dtype: Any, device: Any) -> Spec:
    check(steps >= 0, lambda: "number of steps must be non-negative")
    if isinstance(start, complex) or isinstance(end, complex):
        inferred = get_default_dtype().to_complex()
        check(
            dtype is None or dtype.is_complex,
            lambda: (
                f"torch.{name}(): inferred dtype {c_type(inferred)} can't be safely cast to passed dtype "
                f"{dtype.scalar_name}"
            ),
        )
        dtype = dtype or inferred
    check(
        dtype is not bool_dtype and dtype is not complex32,
        lambda: f"\"{name}_cpu\" not implemented for '{dtype.scalar_name}'",
        NotImplementedError,
    )
    return fresh((steps,), dtype, device)


@counting_rule
def linspace(
    start: Any, end: Any, steps: int, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`linspace`."""
    return _spaced("linspace", start, end, steps, dtype, device)


@counting_rule
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, dtype: Any = None, layout: Any = None, device: Any = None,
    pin: Any = None,
) -> Spec:  # fmt: skip
    """`logspace`: powers of `base` with equidistant exponents."""
    return _spaced("logspace", start, end, steps, dtype, device)


@like_rule
def empty_permuted(
    size: Any, order: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None
) -> Spec:
    """`empty_permuted`: dense, the dimensions in the given order in memory."""
    check(
        len(size) == len(order),
        lambda: (
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = "
            f"{len(size)} is not equal to len(physical_layout) = {len(order)}"
        ),
    )
    stride, step, seen = [0] * len(size), 1, set()
    for place, dim in enumerate(order):
        check(
            0 <= dim < len(size),
            lambda dim=dim, place=place: (
                f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got "
                f"{dim} at index {place}).  NB: negative dims not currently supported; file an issue if you want it."
            ),
        )
        check(dim not in seen, lambda: "Duplicate dim not allowed")
        seen.add(dim)
    for dim in reversed(order):
        stride[dim] = step
        step *= max(size[dim], 1)
    return fresh(size, dtype, device, tuple(stride))


@factory_rule
def eye(n: int, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Spec:
    """`eye(n)`."""
    check(n >= 0, lambda: f"n must be greater or equal to 0, got {n}")
    return fresh((n, n), dtype, device)


@factory_rule
def eye_m(n: int, m: int, dtype: Any = None, layout: Any = None, device: Any = None, pin: Any = None) -> Spec:
    """`eye(n, m)`."""
    check(n >= 0, lambda: f"n must be greater or equal to 0, got {n}")
    check(m >= 0, lambda: f"m must be greater or equal to 0, got {m}")
    return fresh((n, m), dtype, device)


def written(fn: Any) -> MetaRule:
    """Decorator: a rule for ops that write their first argument."""
    return MetaRule(fn, mixed_devices=True, aliases_ok=True)
