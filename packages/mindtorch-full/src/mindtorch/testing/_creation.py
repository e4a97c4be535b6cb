"""`make_tensor`: random tensors for tests."""

from __future__ import annotations

import math
import warnings
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["make_tensor"]

_FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_FLOATING_8BIT = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)
_COMPLEX = (torch.complex32, torch.complex64, torch.complex128)
_INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64)


def _uniform_random_(t: Any, low: float, high: float) -> Any:
    """Fill in place; an interval wider than the type can express is drawn at half its size."""
    if high - low >= torch.finfo(t.dtype).max:
        return t.uniform_(low / 2, high / 2).mul_(2)
    return t.uniform_(low, high)


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of values drawn uniformly from ``[low, high)``; the interval depends on the dtype by default.

    >>> torch.testing.make_tensor(2, 3, dtype=torch.float32, device="cpu").shape
    torch.Size([2, 3])
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list, torch.Size)):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and (dtype in _INTEGRAL or dtype == torch.bool):
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    # Every second element of a tensor twice as wide.
    strided = noncontiguous and math.prod(shape) > 1
    drawn = (*shape[:-1], 2 * shape[-1]) if strided else shape
    result = _draw(drawn, dtype, device, low, high)
    if strided:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = _replacement(dtype)
    if dtype in _FLOATING + _FLOATING_8BIT + _COMPLEX:
        result.requires_grad = requires_grad
    return result


def _draw(shape: Any, dtype: Any, device: Any, low: Any, high: Any) -> Any:
    if dtype is torch.bool:
        lowest, highest = _interval(low, high, 0, 2, 0, 2, dtype)
        return torch.randint(lowest, highest, shape, device=device, dtype=dtype)
    info: Any
    if dtype in _INTEGRAL:
        info = torch.iinfo(dtype)
        least = max(info.min, -9) if dtype is not torch.uint8 else 0
        lowest, highest = _interval(
            low, high, least, 10, info.min, info.max + (0 if dtype is torch.int64 else 1), dtype
        )
        return torch.randint(lowest, highest, shape, device=device, dtype=dtype)
    if dtype in _FLOATING_8BIT:
        info = torch.finfo(dtype)
        low, high = _interval(low, high, -9, 9, info.min, info.max, dtype)
        return _draw(shape, torch.float32, device, low, high).to(dtype)
    if dtype in _FLOATING or dtype in _COMPLEX:
        part = dtype.to_real() if dtype in _COMPLEX else dtype
        info = torch.finfo(part)
        low, high = _interval(low, high, -9, 9, info.min, info.max, dtype)
        result = torch.empty(shape, device=device, dtype=dtype)
        _uniform_random_(torch.view_as_real(result) if dtype in _COMPLEX else result, low, high)
        return result
    raise TypeError(
        f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor()."
        " To request support, file an issue at: https://github.com/pytorch/pytorch/issues"
    )


def _interval(low: Any, high: Any, default_low: Any, default_high: Any, least: Any, most: Any, dtype: Any) -> Any:
    """The interval to draw from, within what the dtype can hold."""
    low = default_low if low is None else low
    high = default_high if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    continuous = dtype.is_floating_point or dtype.is_complex
    if low == high and continuous:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types "
            "is deprecated since 2.1 and will be removed in 2.3. "
            "Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{least}, {most})"
        )
    low, high = max(low, least), min(high, most)
    # A whole number below a fractional bound belongs to the interval only above it.
    return (low, high) if continuous else (math.ceil(low), math.ceil(high))


def _replacement(dtype: Any) -> Any:
    """What stands in for a zero."""
    if dtype in _COMPLEX:
        tiny = torch.finfo(dtype).tiny
        return complex(tiny, tiny)
    return torch.finfo(dtype).tiny if dtype.is_floating_point else 1


adopt(globals())
