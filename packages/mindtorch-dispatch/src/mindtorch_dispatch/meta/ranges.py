"""Meta rules of ranges: numbers from one to another, by a step or by their count."""

from __future__ import annotations

import math
import warnings
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from ..defaults import get_default_device, get_default_dtype
from ..frames import frames_to_caller
from ..typing import Scalar
from .checks import c_type, check
from .factory import fresh, options_rule
from .rule import Outputs
from .support import BOOL_NAMES, COMPLEX, WIDE_UNSIGNED, lacking, refuse

counting_rule = options_rule(out=True, counted=True)


def _bound(value: Any, dtype: Dtype) -> Any:
    """Return a bound as torch counts it: whole numbers for int64."""
    if isinstance(value, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if dtype is not int64:
        return float(value)
    check(-(2.0**63) <= value < 2.0**63, lambda: "value cannot be converted to type int64_t without overflow")
    return int(value)


def _range_bounds(start: Scalar, end: Scalar, step: Scalar, dtype: Dtype) -> tuple[Any, Any, Any]:
    check(step != 0 and step == step, lambda: "step must be nonzero")
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


def _ratio(first: Any, last: Any, stride: Any) -> float:
    """Return how many steps there are; torch's error where no number says it."""
    ratio = (last - first) / stride
    check(math.isfinite(ratio), lambda: "invalid size, possible overflow?")
    return float(ratio)


def _counted(first: Any, last: Any, stride: Any, length: int, dtype: Dtype, device: Device) -> Outputs:
    """The answer of a range; the kernel of an integral dtype counts in whole numbers."""
    check(length < 2**63, lambda: "invalid size, possible overflow?")
    whole = not dtype.is_floating_point
    values = tuple(int(value) if whole and math.isfinite(value) else value for value in (first, last, stride))
    return Outputs(Spec.of(dtype, device, (max(length, 0),)), values=values)


_NOT_COUNTED = BOOL_NAMES | COMPLEX | WIDE_UNSIGNED
_NOT_SPACED = BOOL_NAMES | WIDE_UNSIGNED | {"complex32"}


def _arange(start: Scalar, end: Scalar, step: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    if dtype is None:
        floating = any(isinstance(value, float) for value in (start, end, step))
        dtype = get_default_dtype() if floating else int64
    device = device or get_default_device()
    if device.type != "meta" and dtype.name in _NOT_COUNTED:
        raise lacking(dtype, "arange_cpu")
    first, last, stride = _range_bounds(start, end, step, dtype)
    length = -((first - last) // stride) if dtype is int64 else math.ceil(_ratio(first, last, stride))
    return _counted(first, last, stride, length, dtype, device)


def _range(start: Scalar, end: Scalar, step: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=frames_to_caller(),
    )
    dtype = dtype or get_default_dtype()
    first, last, stride = _range_bounds(start, end, step, dtype)
    return _counted(first, last, stride, int(_ratio(first, last, stride)) + 1, dtype, device or get_default_device())


@counting_rule
def range_(start: Scalar, end: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    """`range(start, end)`: both ends included."""
    return _range(start, end, 1, dtype, device)


@counting_rule
def range_step(start: Scalar, end: Scalar, step: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    """`range(start, end, step)`."""
    return _range(start, end, step, dtype, device)


@counting_rule
def arange_end(end: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    """`arange(end)`."""
    return _arange(0, end, 1, dtype, device)


@counting_rule
def arange_start(start: Scalar, end: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    """`arange(start, end)`."""
    return _arange(start, end, 1, dtype, device)


@counting_rule
def arange_step(start: Scalar, end: Scalar, step: Scalar, dtype: Dtype | None, device: Device | None) -> Outputs:
    """`arange(start, end, step)`."""
    return _arange(start, end, step, dtype, device)


def _spaced(name: str, start: Scalar, end: Scalar, steps: int, dtype: Any, device: Any) -> Spec:
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
    result: Spec = fresh((steps,), dtype, device)
    refuse(result, f"{name}_cpu", _NOT_SPACED)
    return result


@counting_rule
def linspace(start: Scalar, end: Scalar, steps: int, dtype: Dtype | None, device: Device | None) -> Spec:
    """`linspace`."""
    return _spaced("linspace", start, end, steps, dtype, device)


@counting_rule
def logspace(start: Scalar, end: Scalar, steps: int, base: float, dtype: Dtype | None, device: Device | None) -> Spec:
    """`logspace`: powers of `base` with equidistant exponents."""
    return _spaced("logspace", start, end, steps, dtype, device)
