"""`tensor[...]`: basic indices become views, tensor indices become `index` and `index_put_`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.call import function as function_of
from mindtorch_dispatch.call import method as method_of
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.overrides import ask, overloaded_arguments
from mindtorch_dispatch.plan import plain_types
from mindtorch_storage import dtype as dtypes
from mindtorch_storage.quantized import QuantizedSpec
from mindtorch_storage.sparse import CompressedSpec, SparseSpec
from mindtorch_storage.tensor_base import TensorBase

from . import construction
from .index_items import as_items, bound, is_int, is_sequence, position, type_name

select = method_of("select")
_slice = method_of("slice")
_unsqueeze = method_of("unsqueeze")
_copy = method_of("copy_")
_fill = method_of("fill_")
_scalar_tensor = function_of("scalar_tensor")
_put_values = aten.index_put_.default
_MASKS = (dtypes.bool, dtypes.uint8)
_POSITIONS = (dtypes.int64, *_MASKS)
_SPARSE = (SparseSpec, CompressedSpec)
_TAKEN = object()
"""Marks a dimension that a mask of several dimensions before it covers."""

_INTS = {int}
_BASIC_TYPES = frozenset((int, slice, type(None), type(Ellipsis)))
_BOUNDS = (int, type(None))

_END = 2**63 - 1
"""Where a slice ends that names no end."""


def index_tensor(data: Any) -> Any:
    """Return a sequence or array as a tensor of positions, or as a mask when its values are bools or bytes."""
    if not isinstance(data, (list, tuple, str, np.ndarray)):
        data = list(data)
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    made = construction.from_data(data)
    return made if made.dtype in _POSITIONS else construction.from_data(data, dtypes.int64)


def _specified(items: tuple[Any, ...]) -> int:
    """Count the dimensions that an index names."""
    count = 0
    for item in items:
        if isinstance(item, TensorBase):
            spec = item._sig.spec
            count += spec.ndim if spec.dtype in _MASKS else 1
        elif isinstance(item, np.ndarray) and item.dtype in (np.bool_, np.uint8):
            count += item.ndim
        elif item is not None and item is not Ellipsis and item is not True and item is not False:
            count += 1
    return count


class _WholeSlices(threading.local):
    """Whether slices of this thread that take everything are calls, too: at another size they may take less."""

    kept = False


_whole_slices = _WholeSlices()


@contextlib.contextmanager
def whole_slices_kept() -> Iterator[None]:
    """In the block, every slice of this thread is a call."""
    before, _whole_slices.kept = _whole_slices.kept, True
    try:
        yield
    finally:
        _whole_slices.kept = before


def _slice_at(result: Any, dim: int, item: slice, among: bool = False) -> Any:
    """Apply a slice; `among` other indices one that takes everything does nothing."""
    start, stop, step = item.start, item.stop, item.step
    if start is None and stop is None and step is None:
        if result._sig.spec.ndim == 0:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        return _slice(result, dim, 0, _END, 1) if _whole_slices.kept else result
    start, stop, step = bound(start), bound(stop), bound(step)
    if step is None:
        step = 1
    elif step <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    if result._sig.spec.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    limit = 2**63 - 1
    if (start is not None and abs(start) > limit) or (stop is not None and abs(stop) > limit):
        start, stop, _ = slice(start, stop).indices(result._sig.spec.shape[dim])
    if among and _takes_all(start, stop, step, result._sig.spec.shape[dim]) and not _whole_slices.kept:
        return result
    return _slice(result, dim, 0 if start is None else start, _END if stop is None else stop, step)


def _select_at(result: Any, dim: int, position: int, place: int) -> Any:
    """Select one position; `place` is where in the index it stands, which the message calls the dimension."""
    spec = result._sig.spec
    lone = dim == 0 and spec.ndim == 0
    if place == 0 and lone and position == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
            "0-dim tensor to a number"
        )
    if not -(2**63) <= position < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if dim >= spec.ndim and not (lone and place == 0):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-spec.ndim}, {spec.ndim - 1}], but got {dim})"
        )
    extent = 0 if lone else spec.shape[dim]
    if not -extent <= position < extent:
        raise IndexError(f"index {position} is out of bounds for dimension {place} with size {extent}")
    return select(result, dim, position)


class _Walk:
    """One application of an index: the view so far, the next dimension, the tensor indices by dimension."""

    __slots__ = ("dim", "free", "result", "tensors")

    def __init__(self, result: Any, free: int) -> None:
        self.result = result
        self.free = free
        self.dim = 0
        self.tensors: list[Any] = []

    def take(self, item: Any, place: int) -> None:
        """Apply one index."""
        if type(item) is slice:
            self.result = _slice_at(self.result, self.dim, item, True)
            self.dim += 1
        elif is_int(item):
            self.result = _select_at(self.result, self.dim, int(item), place)
        elif item is Ellipsis:
            self.dim += self.free
        elif item is None:
            self.result = aten.unsqueeze(self.result, self.dim)
            self.dim += 1
        elif item is True or item is False:
            self.result = aten.unsqueeze(self.result, self.dim)
            self._put(_flag(bool(item)), 1)
        elif isinstance(item, TensorBase):
            self._tensor(item, place)
        elif is_sequence(item):
            self._tensor(index_tensor(item), place)
        else:
            self.result = _select_at(self.result, self.dim, position(item), place)

    def _tensor(self, item: Any, place: int) -> None:
        spec = item._sig.spec
        whole = not (spec.dtype.is_floating_point or spec.dtype.is_complex)
        if spec.ndim or not whole or (item._wraps and spec.dtype not in _MASKS):
            self._put(item, spec.ndim if spec.dtype in _MASKS else 1)
        elif spec.dtype in _MASKS:
            self.result = aten.unsqueeze(self.result, self.dim)
            self._put(_flag(bool(item.item())), 1)
        else:
            self.result = _select_at(self.result, self.dim, int(item.item()), place)

    def _put(self, value: Any, width: int) -> None:
        self.tensors.extend([None] * (self.dim - len(self.tensors)))
        self.tensors.append(value)
        self.tensors.extend([_TAKEN] * (width - 1))
        self.dim += width


def _flag(value: bool) -> Any:
    """Return the index of a new dimension of extent 1: its one position, or none."""
    return aten.zeros([1 if value else 0], dtype=dtypes.int64)


def apply_basic(self: Any, items: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """Apply ints, slices, None and bools; return the view and the tensor indices by dimension (None where free)."""
    ndim = self._sig.spec.ndim
    named = _specified(items)
    if named > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    walk = _Walk(self, ndim - named)
    for place, item in enumerate(items):
        walk.take(item, place)
    return walk.result, [one for one in walk.tensors if one is not _TAKEN]


def _view_of(self: Any, items: tuple[Any, ...]) -> Any:
    """Return the view that ints, slices, None and `...` select; None where an index is none of these, is wrong, or has
    bounds that are no ints. Nothing has been done then."""
    if not _BASIC_TYPES.issuperset(map(type, items)):
        return None
    shape = self._sig.spec.shape
    free = len(shape) - len(items)
    for item in items:
        if item is None or item is Ellipsis:
            free += 1
    if free < 0 or items.count(Ellipsis) > 1:
        return None
    steps: list[Any] = []
    dim = place = 0  # of the view that is made, and of this tensor
    for item in items:
        kind = type(item)
        if kind is int:
            if not -(extent := shape[place]) <= item < extent:
                return None
            steps.append((select, (dim, item)))
            place += 1
        elif kind is slice:
            start, stop, step = item.start, item.stop, item.step
            if step is None:
                step = 1
            if type(start) not in _BOUNDS or type(stop) not in _BOUNDS or type(step) is not int or step <= 0:
                return None
            if not _takes_all(start, stop, step, shape[place]):
                if abs(start or 0) > _END or abs(stop or 0) > _END:
                    return None
                steps.append((_slice, (dim, 0 if start is None else start, _END if stop is None else stop, step)))
            dim += 1
            place += 1
        elif item is None:
            steps.append((_unsqueeze, (dim,)))
            dim += 1
        else:
            dim += free
            place += free
    for function, arguments in steps:
        self = function(self, *arguments)
    return self


if native_path.subscript_by is not None and native_path.view_of is not None:
    native_path.subscript_by(select, _slice, _unsqueeze, _END)
    _view_of = native_path.view_of  # type: ignore[assignment]


def _takes_all(start: int | None, stop: int | None, step: int, extent: int) -> bool:
    """True for what torch knows at sight as a slice of all positions: positions from the end are not looked into."""
    return step == 1 and not start and (stop is None or stop >= extent)


def _basic(self: Any, index: Any) -> Any:
    """Return the view that a lone basic index selects, None for every other index."""
    kind = type(index)
    if kind is int:
        view = _view_of(self, (index,))
        return _select_at(self, 0, index, 0) if view is None else view
    if kind is slice:
        return _slice_at(self, 0, index)
    if index is None:
        return _unsqueeze(self, 0)
    return self if index is Ellipsis else None


def _alone(self: Any, index: Any) -> Any:
    """Return a lone index that is a tensor, or a list of ints, as the tensor of a first dimension; None for every other
    index, and for one that is wrong here."""
    kind = type(index)
    if kind is list:
        if set(map(type, index)) != _INTS or not self._sig.spec.ndim:
            return None
        return index_tensor(index)
    if kind not in plain_types:
        return None
    spec = index._sig.spec
    width = spec.ndim if spec.dtype in _MASKS else 1
    return index if 0 < spec.ndim and width <= self._sig.spec.ndim else None


def _asked(name: str, args: tuple[object, ...], items: tuple[object, ...]) -> tuple[bool, Any]:
    """Ask those of the indices, or the value, that override: (True, result) when one answers."""
    if all(type(item) in _BASIC_TYPES or type(item) in plain_types for item in items):
        return False, None
    found = overloaded_arguments(items)
    return ask(getattr(wired.override_owner, name), found, args, {}) if found else (False, None)


def getitem(self: Any, index: Any) -> Any:
    """Return `self[index]`."""
    if type(index) is tuple:
        result = _view_of(self, index)
    else:
        alone = _alone(self, index)
        if alone is not None:
            return aten.index.Tensor(self, [alone])
        result = _basic(self, index)
    if result is None:
        items = as_items(index)
        handled, answer = _asked("__getitem__", (self, index), items)
        if handled:
            return answer
        result, tensors = apply_basic(self, items)
        if tensors:
            return aten.index.Tensor(result, tensors)
    if result is not self:
        return result
    return _slice(self, 0, None, None, 1) if type(index) is slice else aten.alias(self)


def _value_tensor(self: Any, value: Any) -> Any:
    """Return the assigned value as a tensor of this dtype; torch's TypeError for what is no number."""
    if type(value) is np.bool_ or not isinstance(value, (bool, int, float, complex, np.integer)):
        raise TypeError(f"can't assign a {type_name(value)} to a {self.dtype.type_name}")
    if isinstance(value, (int, np.integer)) and not -(2**63) <= value < 2**64:
        raise ValueError("Overflow when unpacking long long")
    number = int(value) if isinstance(value, np.integer) else value
    spec = self._sig.spec
    dtype = dtypes.float32 if type(spec) is QuantizedSpec else spec.dtype
    return _scalar_tensor(number, dtype=dtype, device=spec.device)


def _without_leading_ones(value: Any) -> Any:
    shape = value._sig.spec.shape
    lead = next((place for place, extent in enumerate(shape) if extent != 1), len(shape))
    return aten.view(value, list(shape[lead:])) if lead else value


def _copy_to(target: Any, value: Any) -> None:
    have = value._sig.spec
    if have.shape != target._sig.spec.shape:
        if have.ndim == 0 and have.device.type == "cpu":
            _fill(target, value)  # what torch records
            return
        value = aten.expand(_without_leading_ones(value), list(target._sig.spec.shape))
    _copy(target, value)


def _put(target: Any, tensors: list[Any], value: Any) -> None:
    if value.device != target.device and value._sig.spec.ndim == 0:
        value = value.to(target.device)
    _put_values(target, tensors, _without_leading_ones(value))


def setitem(self: Any, index: Any, value: Any) -> None:
    """Assign `self[index] = value`."""
    if isinstance(self._sig.spec, _SPARSE):
        raise TypeError("Cannot assign to a sparse tensor")
    if not isinstance(value, TensorBase):
        handled, _ = _asked("__setitem__", (self, index, value), (value,))
        if handled:
            return
        value = _value_tensor(self, value)
    if index is False:
        return
    if type(index) is tuple:
        target = _view_of(self, index)
    else:
        alone = _alone(self, index)
        if alone is not None:
            _put(self, [alone], value)
            return
        target = _unsqueeze(self, 0) if index is True else _basic(self, index)
    if target is None:
        items = as_items(index)
        handled, _ = _asked("__setitem__", (self, index, value), items)
        if handled:
            return
        target, tensors = apply_basic(self, items)
        if tensors:
            _put(target, tensors, value)
            return
    _copy_to(target, value)
