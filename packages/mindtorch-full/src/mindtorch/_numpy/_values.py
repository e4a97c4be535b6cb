"""Comparisons of arrays, complex parts, rounding and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor

from . import _dtypes, _dtypes_impl, _util
from ._conversions import as_tensor, takes

# Comparisons


@takes("a b")
def isclose(a: Tensor, b: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether elements are equal but for a tolerance."""
    return mindtorch.isclose(*_util.promoted(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


@takes("a b")
def allclose(a: Tensor, b: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are equal but for a tolerance."""
    return mindtorch.allclose(*_util.promoted(a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def _equal(a: Tensor, b: Tensor, equal_nan: bool = False) -> bool:
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan:
        same = same | (mindtorch.isnan(a) & mindtorch.isnan(b))
    return bool(same.all())


@takes("a1 a2")
def array_equal(a1: Tensor, a2: Tensor, equal_nan: bool = False) -> Any:
    """Whether shapes and elements are equal."""
    return _equal(a1, a2, equal_nan)


@takes("a1 a2")
def array_equiv(a1: Tensor, a2: Tensor) -> Any:
    """Whether elements are equal, repeated to one shape."""
    try:
        a1, a2 = mindtorch.broadcast_tensors(a1, a2)
    except RuntimeError:
        return False  # there is no such shape
    return _equal(a1, a2)


# Numbers


@takes("x", fixed="copy")
def nan_to_num(x: Tensor, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of infinities and what is none."""
    if not x.is_complex():
        return mindtorch.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    parts = (mindtorch.nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf) for part in (x.real, x.imag))
    real, imaginary = parts
    return real + 1j * imaginary


@takes("a min max")
def clip(a: Tensor, min: Any = None, max: Any = None, out: object = None) -> Any:
    """Elements within limits."""
    return mindtorch.clamp(a, min, max)


@takes("a")
def round(a: Tensor, decimals: int = 0, out: object = None) -> Any:
    """Elements to so many decimals."""
    if a.is_floating_point():
        return mindtorch.round(a, decimals=decimals)
    if a.is_complex():
        return mindtorch.complex(*(mindtorch.round(part, decimals=decimals) for part in (a.real, a.imag)))
    return a


around = round_ = round


@takes("z")
def angle(z: Tensor, deg: bool = False) -> Any:
    """The angles of complex numbers."""
    result = mindtorch.angle(z)
    return result * (180 / mindtorch.pi) if deg else result


def _simple(name: str, function: Callable[[Any], Any], out: bool = False) -> Callable[..., Any]:
    if out:

        @takes("x")
        def with_out(x: Tensor, out: object = None) -> Any:
            return function(x)

        return with_out

    @takes("x")
    def plain(x: Tensor) -> Any:
        return function(x)

    plain.__name__ = plain.__qualname__ = name
    return plain


sinc = _simple("sinc", mindtorch.sinc)
i0 = _simple("i0", mindtorch.special.i0)
isneginf, isposinf = (_simple(name, getattr(mindtorch, name), out=True) for name in ("isneginf", "isposinf"))
iscomplexobj = _simple("iscomplexobj", mindtorch.is_complex)
isrealobj = _simple("isrealobj", lambda x: not x.is_complex())
iscomplex = _simple(
    "iscomplex", lambda x: x.imag != 0 if x.is_complex() else mindtorch.zeros_like(x, dtype=mindtorch.bool)
)
isreal = _simple("isreal", lambda x: x.imag == 0 if x.is_complex() else mindtorch.ones_like(x, dtype=mindtorch.bool))


@takes("a")
def real(a: Tensor) -> Any:
    """The real parts."""
    return mindtorch.real(a)


@takes("a")
def imag(a: Tensor) -> Any:
    """The imaginary parts."""
    return a.imag if a.is_complex() else mindtorch.zeros_like(a)


@takes("a")
def real_if_close(a: Tensor, tol: float = 100) -> Any:
    """The real parts, where all imaginary ones are as good as zero."""
    if not a.is_complex():
        return a
    tol = tol * mindtorch.finfo(a.dtype).eps if tol > 1 else tol
    return a.real if (a.imag.abs() < tol).all() else a


def isscalar(a: Tensor) -> bool:
    """Whether something is one number."""
    try:
        return as_tensor(a).numel() == 1
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        return False  # no array is made of it


# Types


def common_type(*tensors: Tensor) -> Any:
    """The type of real or complex numbers that holds these arrays."""
    given = [as_tensor(one).dtype for one in tensors]
    # Of integers it is double precision.
    sizes = [8 if _dtypes_impl.category(one) < 2 else one.itemsize // (1 + one.is_complex) for one in given]
    size = max(sizes, default=2)
    if any(one.is_complex for one in given):
        return mindtorch.complex128 if size == 8 else mindtorch.complex64
    return {2: mindtorch.float16, 4: mindtorch.float32, 8: mindtorch.float64}[size]


@takes("a")
def min_scalar_type(a: Tensor, /) -> Any:
    """The smallest type that holds a number."""
    if a.numel() > 1 or a.dtype == mindtorch.bool:
        return _dtypes.DType(a.dtype)
    if a.is_complex():
        single = mindtorch.finfo(mindtorch.float32)
        small = all(single.min <= part <= single.max for part in (a.real, a.imag))
        return _dtypes.DType(mindtorch.complex64 if small or a.dtype == mindtorch.complex64 else mindtorch.complex128)
    if a.dtype.is_floating_point:
        limits = [(one, mindtorch.finfo(one)) for one in (mindtorch.float16, mindtorch.float32, mindtorch.float64)]
        return _dtypes.DType(next(one for one, ends in limits if ends.min <= a <= ends.max))
    wholes = (mindtorch.uint8, mindtorch.int8, mindtorch.int16, mindtorch.int32, mindtorch.int64)
    return _dtypes.DType(next(one for one in wholes if mindtorch.iinfo(one).min <= a <= mindtorch.iinfo(one).max))


# Differences


@takes("a prepend append")
def diff(a: Tensor, n: int = 1, axis: Any = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Any:
    """Differences of neighbours."""
    axis = _util.normalize_axis_index(axis, a.ndim)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a

    def spread(given: Any) -> Any:
        if given is None:
            return None
        sizes = list(a.shape)
        sizes[axis] = given.shape[axis] if given.ndim else 1
        return mindtorch.broadcast_to(given, sizes)

    return mindtorch.diff(a, n, axis, prepend=spread(prepend), append=spread(append))


def _spacings(f: Tensor, given: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and (_dtypes_impl.is_scalar(given[0]) or given[0].ndim == 0):
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    return [_spacing(mindtorch.as_tensor(one), f.shape[axis]) for one, axis in zip(given, axes, strict=True)]


def _spacing(places: Any, size: int) -> Any:
    if places.ndim == 0:
        return places
    if places.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(places) != size:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = mindtorch.diff(places if _dtypes_impl.category(places.dtype) > 1 else places.double())
    return steps[0] if (steps == steps[0]).all() else steps


@takes("f")
def gradient(f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes by differences of second order, at the edges of the first or second one."""
    axes = tuple(range(f.ndim)) if axis is None else _util.normalize_axis_tuple(axis, f.ndim)
    steps = _spacings(f, tuple(map(_util.ndarrays_to_tensors, varargs)), axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    f = f if _dtypes_impl.category(f.dtype) > 1 else f.double()
    for one in axes:
        if f.shape[one] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
    slopes = [
        _slopes(f.movedim(one, -1), step, edge_order).movedim(-1, one) for one, step in zip(axes, steps, strict=True)
    ]
    return slopes[0] if len(slopes) == 1 else slopes


def _slopes(f: Tensor, step: Any, edge_order: int) -> Any:
    """Return the slopes along the last axis."""
    even = _dtypes_impl.is_scalar(step) or step.ndim == 0
    if even:
        inside = (f[..., 2:] - f[..., :-2]) / (2.0 * step)
        first = last = (step, step)
    else:
        before, after = step[:-1], step[1:]
        inside = (
            -after / (before * (before + after)) * f[..., :-2]
            + (after - before) / (before * after) * f[..., 1:-1]
            + before / (after * (before + after)) * f[..., 2:]
        )
        first, last = (step[0], step[min(1, len(step) - 1)]), (step[-1], step[-2 if len(step) > 1 else -1])
    start = _slope_at_edge(f[..., :3].unbind(-1), first, edge_order)
    end = -_slope_at_edge(f[..., -3:].flip(-1).unbind(-1), last, edge_order)
    return mindtorch.cat([start.unsqueeze(-1), inside, end.unsqueeze(-1)], -1).to(f.dtype)


def _slope_at_edge(values: tuple[Tensor, ...], steps: tuple[Any, Any], order: int) -> Any:
    near, far = steps
    if order == 1:
        return (values[1] - values[0]) / near
    return (
        -(2.0 * near + far) / (near * (near + far)) * values[0]
        + (near + far) / (near * far) * values[1]
        - near / (far * (near + far)) * values[2]
    )
