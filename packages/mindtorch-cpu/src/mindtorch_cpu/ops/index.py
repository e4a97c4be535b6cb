"""Indexing, gathering, scattering."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch import table
from mindtorch_dispatch.decomp.index import warn_of_bytes
from mindtorch_storage.dtype import from_numpy
from mindtorch_storage.strides import broadcast_shapes

from ..many_dimensions import broadcast_arrays, combine_at, take_along_axis
from ..number import number_of
from ..register import kernel


def _numpy_index(self: Any, indices: Any) -> tuple[Any, ...]:
    """Return torch's indices as a numpy index with masks as positions; IndexError for positions out of range."""
    mask = indices[0] if len(indices) == 1 else None
    if mask is not None and mask.dtype == np.bool_ and 0 < mask.ndim and mask.shape == self.shape[: mask.ndim]:
        found: tuple[Any, ...] = mask.nonzero()
        return found
    result: list[Any] = []
    inside = True
    for index in indices:
        if index is None:
            result.append(slice(None))
        elif index.dtype.kind == "b" or index.dtype == np.uint8:
            if index.dtype == np.uint8:
                warn_of_bytes()
            result.extend((index if index.ndim else index.reshape(1)).astype(np.bool_, copy=False).nonzero())
        else:
            extent = self.shape[len(result)]
            inside = inside and (index.size == 0 or (int(index.min()) >= -extent and int(index.max()) < extent))
            result.append(index)
    if len(result) != len(indices) or any(one is not None and one.dtype.kind in "bu" for one in indices):
        _check_together(self, result)
    return tuple(result) if inside else _refused(self, result)


def _check_together(self: Any, places: list[Any]) -> None:
    """Raise torch's errors that need the positions of masks."""
    given = [(self.shape[dim], index) for dim, index in enumerate(places) if type(index) is np.ndarray]
    try:
        common = broadcast_shapes(*[index.shape for _, index in given])
    except RuntimeError:
        shapes = ", ".join(str(list(index.shape)) for _, index in given)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    if 0 not in common and any(extent == 0 for extent, _ in given):
        raise IndexError("index is out of bounds for dimension with size 0")


def _refused(self: Any, places: list[Any]) -> tuple[Any, ...]:
    """Raise for the first position out of range; a result without elements lets it pass, as torch never looks."""
    given = [(self.shape[dim], index) for dim, index in enumerate(places) if type(index) is np.ndarray]
    free = [extent for dim, extent in enumerate(self.shape) if dim >= len(places) or type(places[dim]) is slice]
    wide = broadcast_arrays(*[index for _, index in given])
    if wide[0].size == 0 or 0 in free:
        return tuple(np.zeros_like(place) if type(place) is np.ndarray else place for place in places)
    outside = [(one < -extent) | (one >= extent) for (extent, _), one in zip(given, wide, strict=True)]
    first = min(int(np.argmax(mask)) for mask in outside if mask.any())
    number = next(number for number, mask in enumerate(outside) if mask.reshape(-1)[first])
    raise IndexError(
        f"index {wide[number].reshape(-1)[first]} is out of bounds for dimension {number} with size {given[number][0]}"
    )


@kernel("_index_masked", upcast=False)
def index_masked(self: Any, indices: Any) -> Any:
    """Selected elements."""
    return np.ascontiguousarray(self[_numpy_index(self, indices)])


@kernel("_index_integer", upcast=False)
def index_integer(out: Any, self: Any, indices: Any) -> None:
    """Selected elements."""
    out[...] = self[_numpy_index(self, indices)]


@kernel("index_put", upcast=False)
def index_put(out: Any, self: Any, indices: Any, values: Any, accumulate: bool) -> None:
    """Values written, or added, at positions."""
    if out is not self:
        out[...] = self
    place = _numpy_index(self, indices)
    if values.size != 1 or values.ndim > out.ndim or out.dtype != values.dtype:
        _check_values(out, place, indices, values)
    if accumulate:
        _accumulate(out, place, values)
    else:
        out[place] = values


def _check_values(out: Any, place: Any, indices: Any, values: Any) -> None:
    want = list(out[place].shape)
    fits = len(values.shape) <= len(want) and all(
        have in (1, extent) for have, extent in zip(reversed(values.shape), reversed(want), strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape "
            f"{want}"
        )
    given = [one for one in indices if one is not None]
    if out.dtype != values.dtype and not (values.size == 1 and len(given) == 1):
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{from_numpy(out.dtype).scalar_name} for the destination and {from_numpy(values.dtype).scalar_name} for the "
            "source."
        )


def _accumulate(out: Any, place: Any, values: Any) -> None:
    if out.dtype.kind in "fciu" or out.dtype.kind == "b":
        combine_at(np.logical_or if out.dtype.kind == "b" else np.add, out, place, values)
        return
    if out.dtype.names:  # complex32, which numpy has as two halves
        for part in out.dtype.names:
            _accumulate(out[part], place, values[part])
        return
    wide = out.astype(np.float32)
    combine_at(np.add, wide, place, values.astype(np.float32))
    out[...] = wide


def _positions(index: Any, dim: int) -> tuple[Any, ...]:
    grid = list(np.ogrid[tuple(slice(extent) for extent in index.shape)])
    grid[dim] = index
    return tuple(grid)


def _check_index(index: Any, extent: int, dim: int) -> None:
    if index.size and (int(index.min()) < 0 or int(index.max()) >= extent):
        wrong = int(index.min()) if int(index.min()) < 0 else int(index.max())
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {dim} with size {extent}")


@kernel("gather", upcast=False)
def gather(out: Any, self: Any, dim: int, index: Any) -> None:
    """Elements picked along one dimension."""
    if index.size == 0:
        return
    if self.ndim == 0 or index.ndim == 0:
        out[...] = self.reshape(-1)[index.reshape(-1)].reshape(out.shape)
        return
    _check_index(index, self.shape[dim], dim)
    if all(a == b for axis, (a, b) in enumerate(zip(index.shape, self.shape, strict=True)) if axis != dim):
        out[...] = take_along_axis(self, index.astype(np.int64, copy=False), dim)
    else:
        out[...] = self[_positions(index, dim)]


_REDUCTIONS = {
    "add": np.add, "sum": np.add, "multiply": np.multiply, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
    "mean": np.add,
}  # fmt: skip


_EXTREMES = ("amax", "amin")


def _scatter(out: Any, self: Any, dim: int, index: Any, src: Any, reduce: str | None, include_self: bool) -> None:
    if out is not self:
        out[...] = self
    if index.size == 0:
        return
    target = out.reshape(1) if out.ndim == 0 else out
    index = index.reshape(1) if index.ndim == 0 else index
    _check_index(index, target.shape[dim], dim)
    place = _positions(index, dim)
    if isinstance(src, np.ndarray):
        src = src.reshape(1) if src.ndim == 0 else src
        src = src[tuple(slice(extent) for extent in index.shape)]
    else:
        src = number_of(src, target.dtype)
    if reduce is None:
        target[place] = src
    else:
        reduce_at(target, place, src, reduce, include_self)


def reduce_at(target: Any, place: Any, src: Any, reduce: str, include_self: bool) -> None:
    """Combine `src` into `target` at positions, which may repeat."""
    exact = target.dtype.kind in "fciub"
    work = target if exact and target.dtype != np.float16 else target.astype(np.float32)
    source = src if work is target else src.astype(np.float32)
    if not include_self:
        work[place] = {"amax": _lowest, "amin": _highest}[reduce](work) if reduce in _EXTREMES else reduce == "prod"
    combine_at(_REDUCTIONS[reduce], work, place, source)
    if reduce == "mean":
        count = np.full(work.shape, 1 if include_self else 0, np.int64)
        combine_at(np.add, count, place, 1)
        count = np.maximum(count, 1)
        work[...] = work // count if work.dtype.kind in "iu" else work / count
    if work is not target:
        target[...] = work


def _lowest(array: Any) -> Any:
    return -np.inf if array.dtype.kind in "f" else False if array.dtype.kind == "b" else np.iinfo(array.dtype).min


def _highest(array: Any) -> Any:
    return np.inf if array.dtype.kind in "f" else True if array.dtype.kind == "b" else np.iinfo(array.dtype).max


@kernel("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", upcast=False)
def scatter(out: Any, self: Any, dim: int, index: Any, src: Any, reduce: str | None, include_self: bool) -> None:
    """Elements written along one dimension."""
    _scatter(out, self, dim, index, src, reduce, include_self)


@kernel("scatter_add", upcast=False)
def scatter_add(out: Any, self: Any, dim: int, index: Any, src: Any, reduce: Any, include_self: bool) -> None:
    """Elements added along one dimension."""
    _scatter(out, self, dim, index, src, "add", True)


@kernel("scatter_reduce.two", upcast=False)
def scatter_reduce(out: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool) -> None:
    """Elements reduced into place along one dimension."""
    _scatter(out, self, dim, index, src, reduce, include_self)


def _of_nothing(index: Any, extent: int) -> str:
    """Torch's text about a place that is outside of a tensor without elements."""
    if not extent:
        return "index_select(): self indexing axis dim should be positive"
    return f"INDICES element is out of DATA bounds, id={_out_of_range(index, extent)} axis_dim={extent}"


@kernel("index_select", upcast=False)
def index_select(out: Any, self: Any, dim: int, index: Any) -> None:
    """Rows picked along one dimension."""
    extent = self.shape[dim] if self.ndim else 1
    if index.size and (int(index.min()) < 0 or int(index.max()) >= extent):
        if not self.size:
            raise RuntimeError(_of_nothing(index, extent))
        raise IndexError("index out of range in self")
    if self.ndim == 0:
        out[...] = self
    else:
        np.take(self, index.reshape(-1), axis=dim, out=out, mode="clip") if out.flags.c_contiguous else np.copyto(
            out, np.take(self, index.reshape(-1), axis=dim)
        )


def _rows(dim: int, index: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * dim, index.reshape(-1))


def _by(name: str) -> Any:
    """Return the kernel in use for a row."""
    return table.kernels["cpu"][name].fn


def _put_rows(target: Any, dim: int, index: Any, rows: Any) -> None:
    _by("index_put")(target, target, [*[None] * dim, index.reshape(-1)], rows, False)


def _prepared(out: Any, self: Any) -> Any:
    if out is not self:
        _by("copy_")(out, out, self, False)
    return out.reshape(1) if out.ndim == 0 else out


def _out_of_range(index: Any, extent: int, low: int = 0) -> int | None:
    if index.size == 0:
        return None
    least, most = int(index.min()), int(index.max())
    return least if least < low else most if most >= extent else None


def _check_added(out: Any, dim: int, index: Any) -> None:
    extent = out.shape[dim] if out.ndim else 1
    wrong = _out_of_range(index, extent)
    if wrong is not None and out.ndim > 1:
        raise RuntimeError(f"index {wrong} is out of bounds for dimension 0 with size {extent}")
    if wrong is not None:
        raise IndexError("index out of range in self")


@kernel("index_add", upcast=False)
def index_add(out: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    """Rows added along one dimension."""
    _check_added(out, dim, index)
    target = _prepared(out, self)
    source = source.reshape(-1) if target.ndim == 1 else source
    rows = source if alpha == 1 else np.multiply(source, number_of(alpha, source.dtype), dtype=source.dtype)
    _accumulate(target, _rows(dim, index), rows)


def _reduce_rows(target: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> None:
    """Combine rows one after the other: torch rounds halves after each of them."""
    rows = np.moveaxis(target, dim, 0)
    if not include_self:
        rows[index] = {"amax": -np.inf, "amin": np.inf, "prod": 1, "mean": 0}[reduce]
    combine = _REDUCTIONS[reduce]
    for place, row in zip(index, np.moveaxis(source, dim, 0), strict=True):
        rows[place] = combine(rows[place], row)
    if reduce == "mean":
        count = np.maximum(np.bincount(index, minlength=len(rows)) + include_self, 1).astype(rows.dtype)
        rows[...] = rows / count.reshape(-1, *[1] * (rows.ndim - 1))


@kernel("index_reduce", upcast=False)
def index_reduce(out: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> None:
    """Rows combined along one dimension."""
    if _out_of_range(index, self.shape[dim] if self.ndim else 1) is not None:
        raise IndexError("index out of range in self")
    target = _prepared(out, self)
    source = source.reshape(-1) if target.ndim == 1 else source
    if target.dtype.itemsize == 2 and target.dtype.kind not in "iu":
        _reduce_rows(target, dim, index.reshape(-1), source, reduce, include_self)
        return
    places = index.reshape((-1, *[1] * (target.ndim - dim - 1))).astype(np.int64, copy=False)
    places = np.broadcast_to(places, source.shape)
    _by("scatter_reduce.two")(target, target, dim, places, source, reduce, include_self)


@kernel("index_copy", upcast=False)
def index_copy(out: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    """Rows written along one dimension."""
    extent = out.shape[dim] if out.ndim else 1
    wrong = _out_of_range(index, extent)
    if wrong is not None:
        raise IndexError(f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {extent}")
    target = _prepared(out, self)
    _put_rows(target, dim, index, source.reshape(-1) if target.ndim == 1 else source)


@kernel("index_fill.int_Scalar", "index_fill.int_Tensor", upcast=False)
def index_fill(out: Any, self: Any, dim: int, index: Any, value: Any, alpha: Any) -> None:
    """Rows filled along one dimension."""
    extent = out.shape[dim] if out.ndim else 1
    wrong = _out_of_range(index, extent, -extent)
    if wrong is not None:
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {extent}")
    target = _prepared(out, self)
    number = number_of(value.item() if isinstance(value, np.ndarray) else value, target.dtype)
    _put_rows(target, dim, index, np.array(number, target.dtype))


def _flat_positions(index: Any, count: int) -> Any:
    wrong = _out_of_range(index, count, -count)
    if wrong is not None:
        raise IndexError(f"out of range: tried to access index {wrong} on a tensor of {count} elements.")
    return index


@kernel("take", upcast=False)
def take(out: Any, self: Any, index: Any) -> None:
    """Elements of the flattened tensor."""
    if index.size:
        out[...] = self.reshape(-1)[_flat_positions(index, self.size)]


@kernel("put", upcast=False)
def put(out: Any, self: Any, index: Any, source: Any, accumulate: bool) -> None:
    """Elements written at positions of the flattened tensor."""
    if out is not self:
        out[...] = self
    if not index.size:
        return
    flat = self.reshape(-1).copy()
    place = (_flat_positions(index, flat.size).reshape(-1),)
    if accumulate:
        _accumulate(flat, place, source.reshape(-1))
    else:
        flat[place] = source.reshape(-1)
    out[...] = flat.reshape(out.shape)
