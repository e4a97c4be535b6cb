"""Looking at results without knowing which library made them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-10}


def is_tensor(value: Any) -> bool:
    """True for tensors of torch's surface, whoever made them."""
    return hasattr(value, "untyped_storage") and hasattr(value, "stride")


def map_tensors(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to the tensors inside tuples, lists and dicts."""
    if is_tensor(value):
        return change(value)
    if isinstance(value, (tuple, list)):
        items = [map_tensors(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: map_tensors(item, change) for key, item in value.items()}
    return value


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors inside nested containers, in order."""
    found: list[Any] = []
    map_tensors(value, found.append)
    return found


def geometry(tensor: Any) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Return dtype, shape and strides as plain values."""
    return str(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride())


def storage_address(tensor: Any) -> int:
    """Return where the tensor's storage begins."""
    return tensor.untyped_storage().data_ptr()


def as_array(tensor: Any) -> np.ndarray:
    """Return the elements as numpy, reduced-precision floats widened."""
    plain = tensor.detach()
    if "float" in str(plain.dtype) and str(plain.dtype) not in ("torch.float32", "torch.float64"):
        plain = plain.float()
    return plain.to("cpu").numpy()


def agree(expected: Any, actual: Any, dtype: str) -> str:
    """Say how two results differ; empty when dtypes, shapes and values agree."""
    for one, other in zip(tensors_in(expected), tensors_in(actual), strict=True):
        if str(one.dtype) != str(other.dtype) or tuple(one.shape) != tuple(other.shape):
            return f"{other.dtype} {tuple(other.shape)} instead of {one.dtype} {tuple(one.shape)}"
        tolerance = _TOLERANCE.get(str(one.dtype).removeprefix("torch."), 0.0)
        tolerance = max(tolerance, _TOLERANCE.get(dtype, 0.0)) if tolerance else 0.0
        mine, theirs = as_array(other), as_array(one)
        same = np.allclose(mine, theirs, rtol=tolerance, atol=tolerance, equal_nan=mine.dtype.kind in "fc")
        if not same:
            return f"{mine} instead of {theirs}"
    return ""
