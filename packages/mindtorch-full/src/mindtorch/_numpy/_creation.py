"""New arrays, and arrays put together and taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch_storage.dtype import dtype as Dtype

from . import _dtypes_impl, _util
from ._conversions import takes


def _real(dtype: Dtype | None) -> Any:
    return _dtypes_impl.default_dtypes().float_dtype if dtype is None else dtype


def _filled(name: str) -> Callable[..., Any]:
    @takes(fixed="order like")
    def function(shape: Any, dtype: Dtype | None = None, order: object = "C", *, like: object = None) -> Any:
        return getattr(mindtorch, name)(shape, dtype=_real(dtype))

    return function


def _filled_like(name: str, array: str) -> Callable[..., Any]:
    def make(given: Any, dtype: Dtype | None, shape: Any) -> Any:
        result = getattr(mindtorch, name)(given, dtype=dtype)
        return result if shape is None else result.reshape(shape)

    if array == "prototype":

        @takes("prototype", fixed="order subok")
        def empty_like(
            prototype: Tensor, dtype: Dtype | None = None, order: object = "K", subok: object = False, shape: Any = None
        ) -> Any:
            return make(prototype, dtype, shape)

        return empty_like

    @takes("a", fixed="order subok")
    def function(
        a: Tensor, dtype: Dtype | None = None, order: object = "K", subok: object = False, shape: Any = None
    ) -> Any:
        return make(a, dtype, shape)

    return function


empty, ones, zeros = _filled("empty"), _filled("ones"), _filled("zeros")
empty_like = _filled_like("empty_like", "prototype")
ones_like, zeros_like = _filled_like("ones_like", "a"), _filled_like("zeros_like", "a")


@takes("fill_value", fixed="order like")
def full(shape: Any, fill_value: Any, dtype: Dtype | None = None, order: object = "C", *, like: object = None) -> Any:
    """An array of one value."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return mindtorch.full(sizes, fill_value, dtype=fill_value.dtype if dtype is None else dtype)


@takes("a", fixed="order subok")
def full_like(
    a: Tensor,
    fill_value: Any,
    dtype: Dtype | None = None,
    order: object = "K",
    subok: object = False,
    shape: Any = None,
) -> Any:
    """An array of one value, of another one's shape and type."""
    result = mindtorch.full_like(a, fill_value, dtype=dtype)
    return result if shape is None else result.reshape(shape)


@takes("start~ stop~ step~", fixed="like")
def arange(
    start: Any = None, stop: Any = None, step: Any = 1, dtype: Dtype | None = None, *, like: object = None
) -> Any:
    """Evenly spaced values, the stop excluded."""
    if step == 0:
        raise ZeroDivisionError
    if stop is None and start is None:
        raise TypeError
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    ends = (start, stop, step)
    if dtype is None:
        defaults = _dtypes_impl.default_dtypes()
        real = any(map(_dtypes_impl.is_float_or_fp_tensor, ends))
        dtype = defaults.float_dtype if real else defaults.int_dtype
    if any(map(_dtypes_impl.is_complex_or_complex_tensor, ends)):
        raise NotImplementedError
    if (step > 0 and start > stop) or (step < 0 and start < stop):
        return mindtorch.empty(0, dtype=dtype)
    work = mindtorch.float64 if dtype.is_complex else dtype
    return _util.cast_if_needed(mindtorch.arange(start, stop, step, dtype=work), dtype)


@takes("start stop")
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Dtype | None = None,
    axis: Any = 0,
) -> Any:
    """Evenly spaced values, both ends included."""
    if axis != 0 or retstep or not endpoint:
        raise NotImplementedError
    return mindtorch.linspace(start, stop, num, dtype=_real(dtype))


@takes("start stop")
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Dtype | None = None, axis: Any = 0
) -> Any:
    """Values of which each is the same multiple of the one before."""
    if axis != 0 or not endpoint:
        raise NotImplementedError
    base = mindtorch.pow(stop / start, 1.0 / (num - 1))
    first, last = (mindtorch.log(end) / mindtorch.log(base) for end in (start, stop))
    return mindtorch.logspace(first, last, num, base=float(base))


@takes()
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Dtype | None = None,
    axis: Any = 0,
) -> Any:
    """Powers of a base with evenly spaced exponents."""
    if axis != 0 or not endpoint:
        raise NotImplementedError
    return mindtorch.logspace(start, stop, num, base=base, dtype=dtype)


@takes(fixed="order like")
def eye(
    N: int, M: Any = None, k: int = 0, dtype: Dtype | None = None, order: object = "C", *, like: object = None
) -> Any:
    """Ones on a diagonal, zeros elsewhere."""
    result = mindtorch.zeros(N, N if M is None else M, dtype=_real(dtype))
    result.diagonal(k).fill_(1)
    return result


@takes(fixed="like")
def identity(n: int, dtype: Dtype | None = None, *, like: object = None) -> Any:
    """Ones on the main diagonal of a square."""
    return mindtorch.eye(n, dtype=dtype)


@takes(fixed="like")
def tri(N: int, M: Any = None, k: int = 0, dtype: Dtype | None = None, *, like: object = None) -> Any:
    """Ones at and below a diagonal."""
    return mindtorch.tril(mindtorch.ones((N, N if M is None else M), dtype=dtype), diagonal=k)


@takes("x")
def vander(x: Tensor, N: Any = None, increasing: bool = False) -> Any:
    """Powers of elements as columns."""
    return mindtorch.vander(x, N, increasing)


def _window(name: str) -> Callable[..., Any]:
    @takes()
    def function(M: int) -> Any:
        return getattr(mindtorch, name)(M, periodic=False, dtype=_real(None))

    return function


hamming, hanning = _window("hamming_window"), _window("hann_window")
blackman, bartlett = _window("blackman_window"), _window("bartlett_window")


@takes()
def kaiser(M: int, beta: float) -> Any:
    """The Kaiser window."""
    return mindtorch.kaiser_window(M, beta=beta, periodic=False, dtype=_real(None))


# Together and apart


@takes("a", fixed="order subok")
def copy(a: Tensor, order: object = "K", subok: object = False) -> Any:
    """A copy."""
    return a.clone()


@takes("dst! src", fixed="where")
def copyto(dst: Tensor, src: Tensor, casting: str = "same_kind", where: object = None) -> None:
    """Copy elements into an array."""
    dst.copy_(_util.typecast_tensor(src, dst.dtype, casting))


def _at_least(name: str) -> Callable[..., Any]:
    @takes("arys")
    def function(*arys: Tensor) -> Any:
        result = getattr(mindtorch, name)(*arys)
        return list(result) if isinstance(result, tuple) else result

    return function


atleast_1d, atleast_2d, atleast_3d = map(_at_least, ("atleast_1d", "atleast_2d", "atleast_3d"))


def _alike(tensors: tuple[Tensor, ...], out: Any = None, dtype: Dtype | None = None, casting: str = "same_kind") -> Any:
    """Return tensors of the type of their concatenation."""
    if tensors == ():
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if out is not None:
        dtype = out.dtype.torch_dtype
    return _util.typecast_tensors(tensors, dtype or _dtypes_impl.result_type_impl(*tensors), casting)


@takes("ar_tuple+")
def concatenate(
    ar_tuple: Any, axis: Any = 0, out: object = None, dtype: Dtype | None = None, casting: str = "same_kind"
) -> Any:
    """Arrays one after the other along an axis."""
    tensors = _alike(ar_tuple, out, dtype, casting)
    tensors, axis = _util.axis_none_flatten(*tensors, axis=axis)
    return mindtorch.cat(tensors, axis)


def _stacked(name: str) -> Callable[..., Any]:
    @takes("tup+")
    def function(tup: Any, *, dtype: Dtype | None = None, casting: str = "same_kind") -> Any:
        return getattr(mindtorch, name)(_alike(tup, None, dtype, casting))

    return function


vstack = row_stack = _stacked("vstack")
hstack, dstack, column_stack = map(_stacked, ("hstack", "dstack", "column_stack"))


@takes("arrays+")
def stack(
    arrays: Any, axis: Any = 0, out: object = None, *, dtype: Dtype | None = None, casting: str = "same_kind"
) -> Any:
    """Arrays side by side along a new axis."""
    tensors = _alike(arrays, None if dtype is not None else out, dtype, casting)
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    return mindtorch.stack(tensors, _util.normalize_axis_index(axis, tensors[0].ndim + 1))


@takes("arr values")
def append(arr: Tensor, values: Tensor, axis: Any = None) -> Any:
    """Values after those of an array."""
    if axis is None:
        arr, values, axis = arr.flatten(), values.flatten(), 0
    return mindtorch.cat(_alike((arr, values)), axis)


def _sections(size: int, sections: Any, strict: bool) -> list[int]:
    """Return the sizes of the parts of a dimension."""
    if isinstance(sections, int):
        if sections <= 0:
            raise ValueError
        if strict and size % sections:
            raise ValueError("array split does not result in an equal division")
        return [size // sections + (place < size % sections) for place in range(sections)]
    if not isinstance(sections, (list, tuple)):
        raise TypeError(f"split_helper: {type(sections)}")
    ends = [end for end in sections if end <= size]
    starts = [0, *ends]
    lengths = [end - start for start, end in zip(starts, [*ends, size], strict=True)]
    return lengths + [0] * (len(sections) - len(ends))


def _split(ary: Any, sections: Any, axis: int, strict: bool = True) -> Any:
    axis = _util.normalize_axis_index(axis, ary.ndim)
    return mindtorch.split(ary, _sections(ary.shape[axis], sections, strict), axis)


@takes("ary")
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Parts of an array, of about one size or between indices."""
    return _split(ary, indices_or_sections, axis, strict=False)


@takes("ary")
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """Parts of an array, of one size or between indices."""
    return _split(ary, indices_or_sections, axis)


def _split_along(name: str, least: int) -> Callable[..., Any]:
    @takes("ary")
    def function(ary: Any, indices_or_sections: Any) -> Any:
        if ary.ndim < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        axis = {"vsplit": 0, "dsplit": 2}.get(name, 1 if ary.ndim > 1 else 0)
        return _split(ary, indices_or_sections, axis)

    return function


hsplit, vsplit, dsplit = _split_along("hsplit", 1), _split_along("vsplit", 2), _split_along("dsplit", 3)


@takes("xi")
def meshgrid(*xi: Tensor, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = 1, 0
    shapes = [[-1 if place == axis else 1 for place in range(len(xi))] for axis in axes]
    result = [x.reshape(shape) for x, shape in zip(xi, shapes, strict=True)]
    if not sparse:
        result = list(mindtorch.broadcast_tensors(*result))
    return [one.clone() for one in result] if copy else result


@takes()
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The indices of every element of a grid."""
    sizes = tuple(dimensions)
    dtype = mindtorch.int64 if dtype is int else dtype
    count = len(sizes)
    lines = [
        mindtorch.arange(size, dtype=dtype).reshape([size if place == axis else 1 for place in range(count)])
        for axis, size in enumerate(sizes)
    ]
    if sparse:
        return tuple(lines)
    return (
        mindtorch.stack([mindtorch.broadcast_to(one, sizes) for one in lines])
        if lines
        else mindtorch.empty((0,), dtype=dtype)
    )
