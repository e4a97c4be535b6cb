"""Axes, casts and conversions that the functions share."""

from __future__ import annotations

import operator
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import LazyModule

from . import _dtypes_impl

_arrays = LazyModule("mindtorch._numpy._ndarray", "arrays are made of these")


class AxisError(ValueError, IndexError):
    """An axis that an array does not have."""


class UFuncTypeError(TypeError, RuntimeError):
    """A type that a function does not take."""


def is_sequence(seq: Any) -> bool:
    """Whether something has a length and is no text."""
    return not isinstance(seq, str) and hasattr(seq, "__len__")


def cast_if_needed(tensor: Any, dtype: Any) -> Any:
    """Return a tensor of a dtype, the same one where it has it; None is every dtype."""
    return tensor if dtype is None or tensor.dtype == dtype else tensor.to(dtype)


def cast_int_to_float(x: Any) -> Any:
    """Return a tensor of the default dtype of real numbers for one of integers."""
    return x.to(_dtypes_impl.default_dtypes().float_dtype) if _dtypes_impl.category(x.dtype) < 2 else x


def normalize_axis_index(ax: int, ndim: int, argname: str | None = None) -> int:
    """Return an axis counted from the first one."""
    if not -ndim <= ax < ndim:
        raise AxisError(f"axis {ax} is out of bounds for array of dimension {ndim}")
    return ax % ndim


def normalize_axis_tuple(axis: Any, ndim: int, argname: str | None = None, allow_duplicate: bool = False) -> Any:
    """Return one or several axes as a tuple, counted from the first one."""
    if type(axis) not in (tuple, list) and hasattr(axis, "__index__"):
        axis = [operator.index(axis)]
    found = tuple(normalize_axis_index(ax, ndim, argname) for ax in axis)
    if not allow_duplicate and len(set(found)) != len(found):
        raise ValueError(f"repeated axis in `{argname}` argument" if argname else "repeated axis")
    return found


def allow_only_single_axis(axis: Any) -> Any:
    """Return the axis in a tuple of one."""
    if axis is None:
        return None
    if len(axis) != 1:
        raise NotImplementedError("does not handle tuple axis")
    return axis[0]


def expand_shape(arr_shape: Any, axis: Any) -> list[int]:
    """Return a shape with dimensions of one at new axes."""
    axes = axis if type(axis) in (list, tuple) else (axis,)
    ndim = len(axes) + len(arr_shape)
    axes = normalize_axis_tuple(axes, ndim)
    sizes = iter(arr_shape)
    return [1 if ax in axes else next(sizes) for ax in range(ndim)]


def apply_keepdims(tensor: Any, axis: Any, ndim: int) -> Any:
    """Give a reduced tensor its dimensions back, of size one."""
    if axis is None:
        return tensor.expand((1,) * ndim).contiguous()
    return tensor.reshape(expand_shape(tensor.shape, axis))


def axis_none_flatten(*tensors: Any, axis: Any = None) -> tuple[tuple[Any, ...], int]:
    """Without an axis, return flat tensors and their only one."""
    return (tuple(one.flatten() for one in tensors), 0) if axis is None else (tensors, axis)


def typecast_tensor(t: Any, target_dtype: Any, casting: str) -> Any:
    """Return a tensor of another dtype; TypeError where numpy's rule forbids that."""
    if not _dtypes_impl.can_cast_impl(t.dtype, target_dtype, casting):
        raise TypeError(f"Cannot cast array data from {t.dtype} to {target_dtype} according to the rule '{casting}'")
    return cast_if_needed(t, target_dtype)


def typecast_tensors(tensors: Any, target_dtype: Any, casting: str) -> tuple[Any, ...]:
    """Return tensors of another dtype."""
    return tuple(typecast_tensor(one, target_dtype, casting) for one in tensors)


def promoted(*tensors: Any) -> tuple[Any, ...]:
    """Return tensors of the dtype that holds all of them."""
    dtype = _dtypes_impl.result_type_impl(*tensors)
    return tuple(cast_if_needed(one, dtype) for one in tensors)


def _try_convert_to_tensor(obj: Any) -> Any:
    try:
        return mindtorch.as_tensor(obj)
    except Exception as error:
        raise NotImplementedError(f"failed to convert {obj} to ndarray. \nInternal error is: {error}.") from error


def _coerce_to_tensor(obj: Any, dtype: Any = None, copy: Any = False, ndmin: int = 0) -> Any:
    """Return a tensor of what an array is made of."""
    tensor = obj
    if not isinstance(obj, mindtorch.Tensor):
        before = mindtorch.get_default_dtype()
        mindtorch.set_default_dtype(_dtypes_impl.default_dtypes().float_dtype)
        try:
            tensor = _try_convert_to_tensor(obj)
        finally:
            mindtorch.set_default_dtype(before)
    tensor = cast_if_needed(tensor, dtype)
    if ndmin > tensor.ndim:
        tensor = tensor.view((1,) * (ndmin - tensor.ndim) + tuple(tensor.shape))
    return tensor.clone() if copy else tensor


def ndarrays_to_tensors(*inputs: Any) -> Any:
    """Return what an array holds, also inside tuples; other things as they are."""
    value = inputs[0] if len(inputs) == 1 else inputs
    if isinstance(value, _arrays.ndarray):
        return value.tensor
    return tuple(map(ndarrays_to_tensors, value)) if isinstance(value, tuple) else value


adopt(globals())
