"""Indexing, gathering, scattering."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


def _numpy_index(self: Any, indices: Any, strict: bool = True) -> tuple[Any, ...]:
    """Return torch's indices as a numpy index with masks as positions; IndexError for positions out of range."""
    result: list[Any] = []
    dim = 0
    for index in indices:
        if index is None:
            result.append(slice(None))
            dim += 1
        elif index.dtype.kind == "b" or index.dtype == np.uint8:
            result.extend(index.astype(np.bool_, copy=False).nonzero())
            dim += index.ndim
        else:
            _check_range(index, self.shape[dim], dim)
            result.append(index)
            dim += 1
    return tuple(result)


def _check_range(index: Any, extent: int, dim: int) -> None:
    if index.size == 0:
        return
    low, high = int(index.min()), int(index.max())
    if low < -extent or high >= extent:
        wrong = low if low < -extent else high
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {extent}")


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
    try:
        if accumulate:
            _accumulate(out, place, values)
        else:
            out[place] = values
    except ValueError:
        want = list(out[place].shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to indexing result of shape "
            f"{want}"
        ) from None


def _accumulate(out: Any, place: Any, values: Any) -> None:
    if out.dtype.kind in "fciu" or out.dtype.kind == "b":
        np.add.at(out, place, values) if out.dtype.kind != "b" else np.logical_or.at(out, place, values)
        return
    wide = out.astype(np.float32)
    np.add.at(wide, place, values.astype(np.float32))
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
        out[...] = np.take_along_axis(self, index.astype(np.int64, copy=False), dim)
    else:
        out[...] = self[_positions(index, dim)]


_REDUCTIONS = {
    "add": np.add, "sum": np.add, "multiply": np.multiply, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
    "mean": np.add,
}  # fmt: skip


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
    if reduce is None:
        target[place] = src
        return
    work = target if target.dtype.kind in "fciub" else target.astype(np.float32)
    source = src if not isinstance(src, np.ndarray) or work is target else src.astype(np.float32)
    if not include_self:
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": _lowest(work), "amin": _highest(work)}[reduce]
        work[place] = neutral
    _REDUCTIONS[reduce].at(work, place, source)
    if reduce == "mean":
        count = np.full(work.shape, 1 if include_self else 0, np.int64)
        np.add.at(count, place, 1)
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
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin.")
    _scatter(out, self, dim, index, src, reduce, include_self)


@kernel("index_select", upcast=False)
def index_select(out: Any, self: Any, dim: int, index: Any) -> None:
    """Rows picked along one dimension."""
    extent = self.shape[dim] if self.ndim else 1
    if index.size and (int(index.min()) < 0 or int(index.max()) >= extent):
        raise IndexError("index out of range in self")
    if self.ndim == 0:
        out[...] = self
    else:
        np.take(self, index.reshape(-1), axis=dim, out=out, mode="clip") if out.flags.c_contiguous else np.copyto(
            out, np.take(self, index.reshape(-1), axis=dim)
        )


def _rows(dim: int, index: Any) -> tuple[Any, ...]:
    return (*[slice(None)] * dim, index.reshape(-1))


def _prepared(out: Any, self: Any, dim: int, index: Any, name: str) -> Any:
    if out is not self:
        out[...] = self
    target = out.reshape(1) if out.ndim == 0 else out
    extent = target.shape[dim]
    if index.size and (int(index.min()) < 0 or int(index.max()) >= extent):
        if name == "index_add":
            raise IndexError("index out of range in self")
        wrong = int(index.min()) if int(index.min()) < 0 else int(index.max())
        raise IndexError(f"{name}_(): index {wrong} is out of bounds for dimension {dim} with size {extent}")
    return target


@kernel("index_add", upcast=False)
def index_add(out: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    """Rows added along one dimension."""
    target = _prepared(out, self, dim, index, "index_add")
    source = source.reshape(-1) if target.ndim == 1 else source
    rows = source if alpha == 1 else np.multiply(source, alpha, dtype=source.dtype)
    _accumulate(target, _rows(dim, index), rows)


@kernel("index_copy", upcast=False)
def index_copy(out: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    """Rows written along one dimension."""
    target = _prepared(out, self, dim, index, "index_copy")
    target[_rows(dim, index)] = source.reshape(-1) if target.ndim == 1 else source


@kernel("index_fill.int_Scalar", "index_fill.int_Tensor", upcast=False)
def index_fill(out: Any, self: Any, dim: int, index: Any, value: Any, alpha: Any) -> None:
    """Rows filled along one dimension."""
    if out is not self:
        out[...] = self
    target = out.reshape(1) if out.ndim == 0 else out
    target[_rows(dim, index)] = np.asarray(value).astype(target.dtype)


@kernel("masked_fill.Scalar", "masked_fill.Tensor", upcast=False)
def masked_fill(out: Any, self: Any, mask: Any, value: Any) -> None:
    """A value where the mask holds."""
    if out is not self:
        out[...] = self
    if not isinstance(value, np.ndarray):
        value = np.asarray(value).astype(out.dtype)
    np.copyto(out, value, where=mask, casting="unsafe")


@kernel("masked_select", upcast=False)
def masked_select(self: Any, mask: Any) -> Any:
    """The elements where the mask holds."""
    self, mask = np.broadcast_arrays(self, mask)
    return self[mask]


@kernel("nonzero", upcast=False)
def nonzero(self: Any) -> Any:
    """Positions of the non-zero elements, a row each."""
    if self.ndim == 0:
        return np.zeros((1 if self else 0, 0), np.int64)
    return np.stack(self.nonzero(), axis=1) if self.dtype.kind in "fciub" else np.argwhere(self.astype(np.float32))
