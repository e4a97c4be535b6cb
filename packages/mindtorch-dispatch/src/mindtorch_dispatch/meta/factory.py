"""Meta rules of factories: tensors out of sizes and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import complex32, complex64, int64
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format, preserve_format
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import channels_last_3d_strides, channels_last_strides, preserved_strides

from ..defaults import get_default_device, get_default_dtype
from ..typing import Scalar
from .checks import check, shape_text
from .rule import MetaRule
from .support import WIDE_UNSIGNED, refuse


def options_rule(*, after: int = 0, **family: Any) -> Callable[[Callable[..., Any]], MetaRule]:
    """Decorator: a rule whose function takes of a factory's options the dtype and the device, which shape the result.

    In schema order they are dtype, layout, device and pin_memory; `after` more arguments follow.
    """

    def decorate(fn: Callable[..., Any]) -> MetaRule:
        def in_schema_order(*values: object) -> Any:
            start, end = len(values) - after - 4, len(values) - after
            dtype, _, device, _ = values[start:end]
            return fn(*values[:start], dtype, device, *values[end:])

        return MetaRule(in_schema_order, **family)

    return decorate


factory_rule = options_rule(out=True)
filling_rule = options_rule(out=True, repeats_ok=True)
new_rule = options_rule()
like_rule = options_rule(after=1)
"""The options of `empty_like` and its like end with a memory format."""


def check_size(size: Any) -> tuple[int, ...]:
    """Return the size as a tuple; torch's error for negative extents."""
    size = tuple(size)
    for extent in size:
        if extent < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {extent}: {shape_text(size)}")
    found: tuple[int, ...] = size
    return found


def check_zeros(size: Sequence[int]) -> None:
    """torch's error for negative extents of `zeros`."""
    check(all(extent >= 0 for extent in size), lambda: "zeros: Dimension size must be non-negative.")


def dtype_of_number(value: object) -> Dtype:
    """Return the dtype that a factory gives a Python number."""
    if isinstance(value, bool):
        return bool_dtype
    if isinstance(value, int):
        return int64
    return get_default_dtype().to_complex() if isinstance(value, complex) else get_default_dtype()


def fresh(size: object, dtype: Dtype | None, device: Device | None, stride: Any = None) -> Spec:
    """Return the spec of a new tensor with the defaults filled in."""
    return Spec.of(dtype or get_default_dtype(), device or get_default_device(), check_size(size), stride)


def strides_for(shape: tuple[int, ...], memory_format: object) -> tuple[int, ...] | None:
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
def sized(size: Sequence[int], dtype: Dtype | None, device: Device | None) -> Spec:
    """`ones`: a size and options."""
    return fresh(size, dtype, device)


@filling_rule
def zeros(size: Sequence[int], dtype: Dtype | None, device: Device | None) -> Spec:
    """`zeros`, whose error for negative extents is its own where there is memory."""
    if (device or get_default_device()).type != "meta":
        check_zeros(size)
    return fresh(size, dtype, device)


@options_rule(after=1, out=True)
def empty(size: Sequence[int], dtype: Dtype | None, device: Device | None, memory_format: MemoryFormat | None) -> Spec:
    """`empty`."""
    return fresh(size, dtype, device, strides_for(check_size(size), memory_format))


@new_rule
def empty_strided(size: Sequence[int], stride: Sequence[int], dtype: Dtype | None, device: Device | None) -> Spec:
    """`empty_strided`."""
    check(
        len(size) == len(stride),
        lambda: f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})",
    )
    return fresh(size, dtype, device, tuple(stride))


@filling_rule
def full(size: Sequence[int], fill_value: Scalar, dtype: Dtype | None, device: Device | None) -> Spec:
    """`full`: the dtype follows the kind of the value; a complex one is never of halves."""
    kind = dtype or dtype_of_number(fill_value)
    return fresh(size, complex64 if dtype is None and kind is complex32 else kind, device)


@new_rule
def scalar_tensor(s: Scalar, dtype: Dtype | None, device: Device | None) -> Spec:
    """`scalar_tensor`."""
    return fresh((), dtype, device)


def like_spec(self: Spec, dtype: Any, device: Any, memory_format: object) -> Spec:
    """Return the spec of a tensor made like `self`."""
    stride: tuple[int, ...] | None
    if memory_format is None or memory_format is preserve_format:
        stride = tuple(preserved_strides(self.shape, self.stride))
    else:
        stride = strides_for(self.shape, memory_format)
    return Spec.of(dtype or self.dtype, device or self.device, self.shape, stride)


@like_rule
def like(self: Spec, dtype: Dtype | None, device: Device | None, memory_format: MemoryFormat | None) -> Spec:
    """`empty_like`, `zeros_like`, ..."""
    return like_spec(self, dtype, device, memory_format)


@like_rule
def full_like(
    self: Spec,
    fill: Scalar,
    dtype: Dtype | None,
    device: Device | None,
    memory_format: MemoryFormat | None,
) -> Spec:
    """`full_like`."""
    return like_spec(self, dtype, device, memory_format)


@new_rule
def new(self: Spec, size: Sequence[int], dtype: Dtype | None, device: Device | None) -> Spec:
    """`new_empty`, `new_zeros`, `new_ones`."""
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size))


@new_rule
def new_full(self: Spec, size: Sequence[int], fill: Scalar, dtype: Dtype | None, device: Device | None) -> Spec:
    """`new_full`."""
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size))


@new_rule
def new_empty_strided(
    self: Spec,
    size: Sequence[int],
    stride: Sequence[int],
    dtype: Dtype | None,
    device: Device | None,
) -> Spec:
    """`new_empty_strided`."""
    check(
        len(size) == len(stride),
        lambda: f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})",
    )
    return Spec.of(dtype or self.dtype, device or self.device, check_size(size), tuple(stride))


@new_rule
def empty_permuted(size: Sequence[int], order: Sequence[int], dtype: Dtype | None, device: Device | None) -> Spec:
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


def _identity(n: int, m: int, dtype: Dtype | None, device: Device | None) -> Spec:
    spec: Spec = fresh((n, m), dtype, device)
    refuse(spec, "eye", WIDE_UNSIGNED)
    return spec


@factory_rule
def eye(n: int, dtype: Dtype | None, device: Device | None) -> Spec:
    """`eye(n)`."""
    check(n >= 0, lambda: f"n must be greater or equal to 0, got {n}")
    return _identity(n, n, dtype, device)


@factory_rule
def eye_m(n: int, m: int, dtype: Dtype | None, device: Device | None) -> Spec:
    """`eye(n, m)`."""
    check(n >= 0, lambda: f"n must be greater or equal to 0, got {n}")
    check(m >= 0, lambda: f"m must be greater or equal to 0, got {m}")
    return _identity(n, m, dtype, device)


def written(fn: Callable[..., Any]) -> MetaRule:
    """Decorator: a rule for ops that write their first argument."""
    return MetaRule(fn, mixed_devices=True, aliases_ok=True)
