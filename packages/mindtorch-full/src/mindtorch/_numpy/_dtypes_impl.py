"""How element types of arrays combine: numpy's rules, for the dtypes that both numpy and tensors have."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

import mindtorch
from mindtorch._dynamo import config
from mindtorch_storage.dtype import dtype as Dtype


class DefaultDTypes(NamedTuple):
    """What arrays of numbers without a type become."""

    float_dtype: Dtype
    complex_dtype: Dtype
    int_dtype: Dtype


_default_dtypes: DefaultDTypes | None = None
_SCALARS: dict[type, Dtype] = {
    bool: mindtorch.bool,
    int: mindtorch.int64,
    float: mindtorch.float64,
    complex: mindtorch.complex128,
}
_TENSORS_ALONE = frozenset(
    "minimum maximum logaddexp logaddexp2 lcm gcd hypot heaviside fmod fmin fmax copysign arctan2".split()
)
"""Functions that take no Python numbers."""


def default_dtypes() -> DefaultDTypes:
    """Return the defaults that hold now: those of `torch._dynamo.config` when they are asked for first."""
    if _default_dtypes is None:
        names = (config.numpy_default_float, config.numpy_default_complex, config.numpy_default_int)
        set_default_dtypes(DefaultDTypes(*(getattr(mindtorch, name) for name in names)))
        return default_dtypes()
    return _default_dtypes


def set_default_dtypes(defaults: DefaultDTypes) -> None:
    """Set the defaults."""
    global _default_dtypes
    _default_dtypes = defaults


def get_default_dtype_for(dtype: Dtype) -> Dtype:
    """Return the default of the same kind."""
    if dtype == mindtorch.bool:
        return dtype
    if dtype.is_complex:
        return default_dtypes().complex_dtype
    return default_dtypes().float_dtype if dtype.is_floating_point else default_dtypes().int_dtype


def _numpy_dtype(dtype: Dtype) -> np.dtype[Any]:
    return np.dtype(str(dtype).removeprefix("torch."))


@functools.cache
def can_cast_impl(from_torch_dtype: Dtype, to_torch_dtype: Dtype, casting: Any) -> bool:
    """Whether numpy's rule of that name lets a dtype become another."""
    return np.can_cast(_numpy_dtype(from_torch_dtype), _numpy_dtype(to_torch_dtype), casting)


@functools.cache
def _promoted(a: Dtype, b: Dtype) -> Dtype:
    return getattr(mindtorch, np.promote_types(_numpy_dtype(a), _numpy_dtype(b)).name)


def result_type_impl(*tensors: Any) -> Dtype:
    """Return the dtype that holds all of these tensors' elements."""
    return functools.reduce(_promoted, (tensor.dtype for tensor in tensors[1:]), tensors[0].dtype)


def python_type_for_torch(dtype: Dtype) -> type:
    """Return the type of Python's numbers of that kind."""
    if dtype == mindtorch.bool:
        return bool
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


def is_scalar(x: object) -> bool:
    """Whether something is one of Python's numbers."""
    return isinstance(x, (int, float, complex))


def _dtype_of(x: Any) -> Dtype:
    return x.dtype if isinstance(x, mindtorch.Tensor) else _SCALARS[type(x)]


def is_float_or_fp_tensor(x: Any) -> bool:
    """Whether a number or a tensor is real and not an integer."""
    return _dtype_of(x).is_floating_point


def is_complex_or_complex_tensor(x: Any) -> bool:
    """Whether a number or a tensor is complex."""
    return _dtype_of(x).is_complex


def category(dtype: Dtype) -> int:
    """Return the kind of a dtype as a number: booleans, integers, real and complex numbers."""
    if dtype == mindtorch.bool:
        return 0
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else 1


def _tensor_of(x: Any, dtype: Dtype | None = None) -> Any:
    if isinstance(x, mindtorch.Tensor):
        return x
    return mindtorch.as_tensor(x, dtype=dtype or get_default_dtype_for(_SCALARS[type(x)]))


def nep50_to_tensors(x1: Any, x2: Any, handle_weaks: bool, function_name: str) -> tuple[Any, Any]:
    """Convert the operands of a function, of which one at least is a Python number.

    A Python number has the other operand's dtype where that is of its kind or a larger one (NEP 50).
    """
    weak = [not isinstance(x, mindtorch.Tensor) for x in (x1, x2)]
    if not handle_weaks or all(weak):
        return _tensor_of(x1), _tensor_of(x2)
    number, tensor = (x1, x2) if weak[0] else (x2, x1)
    own = _SCALARS[type(number)]
    dtype = tensor.dtype if category(own) <= category(tensor.dtype) else None
    if own.is_complex and tensor.dtype == mindtorch.float32:
        dtype = mindtorch.complex64
    if category(own) == category(tensor.dtype) == 1:
        limits = mindtorch.iinfo(tensor.dtype)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"Python integer {number} out of bounds for {tensor.dtype}")
    if own != dtype or function_name in _TENSORS_ALONE:
        number = _tensor_of(number, dtype)
    return (number, tensor) if weak[0] else (tensor, number)
