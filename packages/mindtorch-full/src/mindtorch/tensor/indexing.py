"""`tensor[...]`: basic indices become views, tensor indices become `index` and `index_put_`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.call import method as method_of
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64, uint8
from mindtorch_storage.tensor_base import TensorBase

_select = method_of("select")
_slice = method_of("slice")
_FULL = slice(None)


def _as_index_tensor(value: Any, like: TensorBase) -> Any:
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "bui":
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    made = aten.empty(list(array.shape), dtype=bool_dtype if array.dtype.kind == "b" else int64)
    made._array[...] = array
    return made


def _slice_bound(value: Any) -> int | None:
    if value is None:
        return None
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _is_index(value: Any) -> bool:
    return type(value) is not bool and not isinstance(value, (bool, np.bool_)) and hasattr(value, "__index__")


def _expand_ellipsis(index: tuple[Any, ...], ndim: int, self: TensorBase) -> list[Any]:
    used = 0
    ellipses = 0
    for item in index:
        if item is None or isinstance(item, (bool, np.bool_)):
            continue
        if item is Ellipsis:
            ellipses += 1
        elif isinstance(item, TensorBase) and item.dtype in (bool_dtype, uint8) and item._sig.spec.ndim:
            used += item._sig.spec.ndim
        elif isinstance(item, TensorBase) and item.dtype is bool_dtype:
            continue
        else:
            used += 1
    if used > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    result: list[Any] = []
    for item in index:
        if item is Ellipsis:
            result.extend([_FULL] * (ndim - used))
        else:
            result.append(item)
    return result


def apply_basic(self: Any, index: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Apply ints, slices, None and bools; return the view and the tensor indices by dimension (None where free)."""
    result, dim = self, 0
    tensors: list[Any] = []
    for item in index:
        if type(item) is slice:
            step = _slice_bound(item.step)
            step = 1 if step is None else step
            if step <= 0:
                raise ValueError("step must be greater than zero")
            if item.start is not None or item.stop is not None or step != 1:
                result = _slice(result, dim, _slice_bound(item.start), _slice_bound(item.stop), step)
            dim += 1
        elif type(item) is int:
            result = _select_at(self, result, dim, item)
        elif item is None:
            result = aten.unsqueeze(result, dim)
            dim += 1
        elif isinstance(item, (bool, np.bool_)):
            result = aten.unsqueeze(result, dim)
            _put(tensors, dim, _as_index_tensor([bool(item)], self))
            dim += 1
        elif isinstance(item, TensorBase):
            result, dim = _tensor_item(self, result, dim, item, tensors)
        elif isinstance(item, (list, tuple, np.ndarray, range)):
            made = _from_sequence(item, self)
            result, dim = _tensor_item(self, result, dim, made, tensors)
        elif _is_index(item):
            result = _select_at(self, result, dim, item.__index__())
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
                f"{type(item).__name__})"
            )
    return result, tensors


def _from_sequence(item: Any, self: TensorBase) -> Any:
    if isinstance(item, (list, tuple)) and any(isinstance(one, TensorBase) for one in item):
        return aten.stack([one if isinstance(one, TensorBase) else _as_index_tensor(one, self) for one in item])
    return _as_index_tensor(item, self)


def _select_at(self: Any, result: Any, dim: int, position: int) -> Any:
    extent = result._sig.spec.shape[dim]
    if not -extent <= position < extent:
        raise IndexError(f"index {position} is out of bounds for dimension {dim} with size {extent}")
    return _select(result, dim, position)


def _put(tensors: list[Any], dim: int, value: Any) -> None:
    tensors.extend([None] * (dim + 1 - len(tensors)))
    tensors[dim] = value


def _tensor_item(self: Any, result: Any, dim: int, item: Any, tensors: list[Any]) -> tuple[Any, int]:
    spec = item._sig.spec
    if spec.ndim == 0 and spec.dtype.is_signed and not spec.dtype.is_floating_point and not spec.dtype.is_complex:
        return _select_at(self, result, dim, int(item.item())), dim
    if spec.ndim == 0 and spec.dtype in (bool_dtype, uint8):
        result = aten.unsqueeze(result, dim)
        _put(tensors, dim, aten.view(item if spec.dtype is bool_dtype else item != 0, [1]))
        return result, dim + 1
    _put(tensors, dim, item)
    return result, dim + (spec.ndim if spec.dtype in (bool_dtype, uint8) else 1)


def getitem(self: Any, index: Any) -> Any:
    """Return `self[index]`."""
    kind = type(index)
    if kind is int:
        spec = self._sig.spec
        if spec.ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number"
            )
        extent = spec.shape[0]
        if not -extent <= index < extent:
            raise IndexError(f"index {index} is out of bounds for dimension 0 with size {extent}")
        return _select(self, 0, index)
    items = index if kind is tuple else (index,)
    if kind is list and not _treat_as_tensor(index):
        items = tuple(index)
    spec = self._sig.spec
    expanded = _expand_ellipsis(items, spec.ndim, self)
    if spec.ndim == 0 and any(type(item) is int for item in expanded):
        raise IndexError("too many indices for tensor of dimension 0")
    result, tensors = apply_basic(self, expanded)
    if tensors:
        return aten.index.Tensor(result, tensors)
    if result is not self:
        return result
    return _slice(self, 0, None, None, 1) if kind is slice else aten.alias(self)


def _treat_as_tensor(items: list[Any]) -> bool:
    return not any(isinstance(one, slice) or one is Ellipsis or one is None for one in items)


def setitem(self: Any, index: Any, value: Any) -> None:
    """Assign `self[index] = value`."""
    items = index if type(index) is tuple else (index,)
    if type(index) is list and not _treat_as_tensor(index):
        items = tuple(index)
    expanded = _expand_ellipsis(items, self._sig.spec.ndim, self)
    target, tensors = apply_basic(self, expanded)
    if not isinstance(value, TensorBase):
        if isinstance(value, (list, tuple, np.ndarray)):
            raise TypeError(f"can't assign a {type(value).__name__} to a {self.dtype.type_name}")
        if not tensors:
            target.fill_(value if not isinstance(value, np.generic) else value.item())
            return
        value = aten.scalar_tensor(value, dtype=self.dtype, device=self.device)
    if tensors:
        if value.device != target.device and value._sig.spec.ndim == 0:
            value = value.to(target.device)
        aten.index_put_.default(target, tensors, value if value.dtype is target.dtype else value.to(target.dtype))
        return
    shape, want = list(value.shape), list(target.shape)
    while len(shape) > len(want) and shape and shape[0] == 1:
        shape = shape[1:]
    target.copy_(value if len(shape) == len(value.shape) else aten.reshape(value, shape))
