"""Shapes, order and selection of elements."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch import Tensor

from . import _dtypes_impl, _util
from ._conversions import takes

# Shapes


@takes("a")
def ndim(a: Tensor) -> Any:
    """The number of dimensions."""
    return a.ndim


@takes("a")
def shape(a: Tensor) -> Any:
    """The sizes of the dimensions."""
    return tuple(a.shape)


@takes("a")
def size(a: Tensor, axis: Any = None) -> Any:
    """The number of elements, or those along an axis."""
    return a.numel() if axis is None else a.shape[axis]


@takes("a")
def expand_dims(a: Tensor, axis: Any) -> Any:
    """New axes of size one."""
    return a.view(_util.expand_shape(a.shape, axis))


@takes("a", fixed="order")
def reshape(a: Tensor, newshape: Any, order: object = "C") -> Any:
    """Another shape with the same elements."""
    one = isinstance(newshape, (tuple, list)) and len(newshape) == 1
    return a.reshape(newshape[0] if one else newshape)


@takes("a", fixed="order")
def ravel(a: Tensor, order: object = "C") -> Any:
    """One dimension."""
    return mindtorch.flatten(a)


@takes("a")
def squeeze(a: Tensor, axis: Any = None) -> Any:
    """Without axes of size one."""
    if axis == ():
        return a
    return a.squeeze() if axis is None else a.squeeze(axis)


@takes("a")
def transpose(a: Tensor, axes: Any = None) -> Any:
    """Axes in another order, by default the reverse one."""
    if axes in ((), None, (None,)):
        axes = tuple(reversed(range(a.ndim)))
    elif len(axes) == 1:
        axes = axes[0]
    return a.permute(axes)


@takes("a")
def moveaxis(a: Tensor, source: Any, destination: Any) -> Any:
    """Axes at other places."""
    places = (
        _util.normalize_axis_tuple(axes, a.ndim, name)
        for axes, name in ((source, "source"), (destination, "destination"))
    )
    return mindtorch.moveaxis(a, *places)


@takes("a")
def swapaxes(a: Tensor, axis1: int, axis2: int) -> Any:
    """Two axes in each other's place."""
    return mindtorch.swapaxes(a, *(_util.normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2)))


@takes("a")
def rollaxis(a: Tensor, axis: Any, start: Any = 0) -> Any:
    """An axis moved before another one."""
    count = a.ndim
    axis = _util.normalize_axis_index(axis, count)
    start = start + count if start < 0 else start
    if not 0 <= start < count + 1:
        raise _util.AxisError(f"'start' arg requires {-count} <= start < {count + 1}, but {start} was passed in")
    start -= axis < start
    axes = [place for place in range(count) if place != axis]
    axes.insert(start, axis)
    return a if axis == start else a.permute(axes)


@takes("array", fixed="subok")
def broadcast_to(array: Any, shape: Any, subok: object = False) -> Any:
    """An array repeated to a shape."""
    return mindtorch.broadcast_to(array, size=shape)


@takes()
def broadcast_shapes(*args: Any) -> Any:
    """The shape of a computation with arrays of these."""
    return mindtorch.broadcast_shapes(*args)


@takes("args", fixed="subok")
def broadcast_arrays(*args: Any, subok: object = False) -> Any:
    """Arrays repeated to one shape."""
    return mindtorch.broadcast_tensors(*args)


# Order


@takes("m")
def flip(m: Tensor, axis: Any = None) -> Any:
    """Elements in the reverse order."""
    return mindtorch.flip(m, tuple(range(m.ndim)) if axis is None else _util.normalize_axis_tuple(axis, m.ndim))


@takes("m")
def flipud(m: Tensor) -> Any:
    """Rows in the reverse order."""
    return mindtorch.flipud(m)


@takes("m")
def fliplr(m: Tensor) -> Any:
    """Columns in the reverse order."""
    return mindtorch.fliplr(m)


@takes("m")
def rot90(m: Tensor, k: int = 1, axes: object = (0, 1)) -> Any:
    """A quarter turn."""
    return mindtorch.rot90(m, k, _util.normalize_axis_tuple(axes, m.ndim))


@takes("a")
def roll(a: Tensor, shift: Any, axis: Any = None) -> Any:
    """Elements moved along, those at the end to the start."""
    if axis is not None:
        axis = _util.normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
        shift = shift if isinstance(shift, tuple) else (shift,) * len(axis)
    return mindtorch.roll(a, shift, axis)


def _sortable(a: Tensor, axis: Any) -> tuple[Any, int]:
    if a.dtype.is_complex:
        raise NotImplementedError(f"sorting {a.dtype} is not supported")
    (a,), axis = _util.axis_none_flatten(a, axis=axis)
    return a, _util.normalize_axis_index(axis, a.ndim)


@takes("a", fixed="order")
def sort(a: Tensor, axis: Any = -1, kind: Any = None, order: object = None) -> Any:
    """Elements by size."""
    a, axis = _sortable(a, axis)
    return mindtorch.sort(a, dim=axis, stable=kind == "stable").values


@takes("a", fixed="order")
def argsort(a: Tensor, axis: Any = -1, kind: Any = None, order: object = None) -> Any:
    """The places of elements by size."""
    a, axis = _sortable(a, axis)
    return mindtorch.argsort(a, dim=axis, stable=kind == "stable")


@takes("a v sorter")
def searchsorted(a: Tensor, v: Tensor, side: str = "left", sorter: Tensor | None = None) -> Any:
    """Where values go into a sorted array."""
    if a.dtype.is_complex:
        raise NotImplementedError(f"searchsorted with dtype={a.dtype}")
    return mindtorch.searchsorted(a, v, side=side, sorter=sorter)


@takes("ar", fixed="return_index equal_nan")
def unique(
    ar: Tensor, return_index: object = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True,
) -> Any:  # fmt: skip
    """Every value once."""
    (ar,), axis = _util.axis_none_flatten(ar, axis=axis)
    axis = _util.normalize_axis_index(axis, ar.ndim)
    return mindtorch.unique(ar, return_inverse=return_inverse, return_counts=return_counts, dim=axis)


# Selection


@takes("condition x~ y~")
def where(condition: Tensor, x: Tensor | None = None, y: Tensor | None = None, /) -> Any:
    """Elements of one of two arrays, or the places of those that are true."""
    if (x is None) != (y is None):
        raise ValueError("either both or neither of x and y should be given")
    condition = _util.cast_if_needed(condition, mindtorch.bool)
    return mindtorch.where(condition) if x is None else mindtorch.where(condition, x, y)


@takes("a")
def nonzero(a: Tensor) -> Any:
    """The places of elements that are not zero, by axis."""
    return mindtorch.nonzero(a, as_tuple=True)


@takes("a")
def argwhere(a: Tensor) -> Any:
    """The places of elements that are not zero, by element."""
    return mindtorch.argwhere(a)


@takes("a")
def flatnonzero(a: Tensor) -> Any:
    """The places of elements that are not zero, in one dimension."""
    return mindtorch.flatten(a).nonzero(as_tuple=True)[0]


@takes("a indices", fixed="mode")
def take(a: Tensor, indices: Tensor, axis: Any = None, out: object = None, mode: object = "raise") -> Any:
    """Elements at indices along an axis."""
    (a,), axis = _util.axis_none_flatten(a, axis=axis)
    return a[(slice(None),) * _util.normalize_axis_index(axis, a.ndim) + (indices, ...)]


@takes("arr indices")
def take_along_axis(arr: Tensor, indices: Tensor, axis: Any) -> Any:
    """Elements at indices of their own."""
    (arr,), axis = _util.axis_none_flatten(arr, axis=axis)
    return mindtorch.take_along_dim(arr, indices, _util.normalize_axis_index(axis, arr.ndim))


@takes("a! indices values", fixed="mode")
def put(a: Tensor, indices: Tensor, values: Tensor, mode: object = "raise") -> None:
    """Write values at indices of the flat array, again from the first one when there are too few."""
    values = values.type(a.dtype).flatten()
    count = indices.numel()
    if count > values.numel():
        values = values.repeat(-(-count // values.numel()))
    a.put_(indices, values[:count].reshape(indices.shape))


@takes("arr indices values")
def put_along_axis(arr: Tensor, indices: Tensor, values: Tensor, axis: Any) -> None:
    """Write values at indices along an axis."""
    given = arr
    (arr,), axis = _util.axis_none_flatten(arr, axis=axis)
    axis = _util.normalize_axis_index(axis, arr.ndim)
    indices, values = mindtorch.broadcast_tensors(indices, values)
    result = mindtorch.scatter(arr, axis, indices, _util.cast_if_needed(values, arr.dtype))
    given.copy_(result.reshape(given.shape))


@takes("a choices+", fixed="mode")
def choose(a: Tensor, choices: Tensor, out: object = None, mode: object = "raise") -> Any:
    """Of each place, the element of that array that the index says."""
    stacked = mindtorch.stack(mindtorch.broadcast_tensors(*choices))
    places = [
        mindtorch.arange(count).view([-1 if place == axis else 1 for place in range(stacked.ndim)])
        for axis, count in enumerate(stacked.shape)
    ]
    return stacked[(a, *places[1:])].squeeze(0)


@takes("a repeats~")
def repeat(a: Tensor, repeats: Any, axis: Any = None) -> Any:
    """Every element several times."""
    return mindtorch.repeat_interleave(a, repeats, axis)


@takes("A")
def tile(A: Tensor, reps: Any) -> Any:
    """The whole array several times."""
    return mindtorch.tile(A, (reps,) if isinstance(reps, int) else reps)


@takes("a")
def resize(a: Tensor, new_shape: Any = None) -> Any:
    """As many elements as a shape has, again from the first one when there are too few."""
    if new_shape is None:
        return a
    sizes = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    if any(size < 0 for size in sizes):
        raise ValueError("all elements of `new_shape` must be non-negative")
    count = 1
    for one in sizes:
        count *= one
    if a.numel() == 0 or count == 0:
        return mindtorch.zeros(sizes, dtype=a.dtype)
    return a.flatten().repeat(-(-count // a.numel()))[:count].reshape(sizes)


@takes("array pad_width")
def pad(array: Any, pad_width: Any, mode: object = "constant", **kwargs: Any) -> Any:
    """Constant values around an array."""
    if mode != "constant":
        raise NotImplementedError
    value = _dtypes_impl.python_type_for_torch(array.dtype)(kwargs.get("constant_values", 0))
    widths = mindtorch.flip(mindtorch.broadcast_to(pad_width, (array.ndim, 2)), (0,)).flatten()
    return mindtorch.nn.functional.pad(array, widths.tolist(), value=value)
