"""`ndarray`: a tensor with numpy's methods."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import mindtorch
from mindtorch._naming import adopt

from . import _dtypes, _dtypes_impl, _flags, _funcs, _indices, _ufuncs, _util
from ._conversions import as_tensor

newaxis = None
_UNSPECIFIED: Any = object()
_METHODS = """
clip nonzero repeat round squeeze swapaxes ravel diagonal dot trace argsort searchsorted argmax argmin any all max min ptp sum
prod mean var std cumsum cumprod take choose put"""
_OPERATORS = "abs:absolute invert pos:positive neg:negative gt:greater lt:less ge:greater_equal le:less_equal divmod"
_ARITHMETIC = """
add sub:subtract mul:multiply truediv:divide floordiv:floor_divide pow:power mod:remainder and:bitwise_and or:bitwise_or
xor:bitwise_xor lshift:left_shift rshift:right_shift matmul"""


def _pairs(words: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for word in words.split():
        name, _, function = word.partition(":")
        yield name, getattr(_ufuncs, function or name)


class ndarray:
    """An array over a tensor, which is its `tensor`."""

    def __init__(self, t: Any = None) -> None:
        if t is not None and not isinstance(t, mindtorch.Tensor):
            raise ValueError("ndarray constructor is not recommended; prefereither array(...) or zeros/empty(...)")
        self.tensor = mindtorch.Tensor() if t is None else t

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return tuple(self.tensor.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.tensor.numel()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.tensor.ndim

    @property
    def dtype(self) -> _dtypes.DType:
        """The type of the elements."""
        return _dtypes.dtype(self.tensor.dtype)

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes between neighbours along each dimension."""
        return tuple(stride * self.itemsize for stride in self.tensor.stride())

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.tensor.element_size()

    @property
    def nbytes(self) -> int:
        """The bytes of the memory that the array is in."""
        return self.tensor.untyped_storage().nbytes()

    @property
    def data(self) -> int:
        """The address of the first element."""
        return self.tensor.data_ptr()

    @property
    def flags(self) -> _flags.Flags:
        """How the array lies in memory."""
        return _flags.flags_of(self.tensor)

    @property
    def T(self) -> ndarray:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def real(self) -> ndarray:
        """The real parts, which can be assigned."""
        return _funcs.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        self.tensor.real = as_tensor(value)

    @property
    def imag(self) -> ndarray:
        """The imaginary parts, which can be assigned."""
        return _funcs.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.tensor.imag = as_tensor(value)

    @property
    def flat(self) -> ndarray:
        """The array with one dimension."""
        return self.ravel()  # type: ignore[attr-defined]

    # Copies and views

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> ndarray:
        """Return the elements as another type."""
        asked = {"order": (order, "K"), "casting": (casting, "unsafe"), "subok": (subok, True), "copy": (copy, True)}
        for name, (value, default) in asked.items():
            if value != default:
                raise NotImplementedError(f"astype(..., {name}={value} is not implemented.")
        return ndarray(self.tensor.to(_dtypes.dtype(dtype).torch_dtype))

    def copy(self, order: str = "C") -> ndarray:
        """Return a copy."""
        _check_order(order)
        return ndarray(self.tensor.clone())

    def flatten(self, order: str = "C") -> ndarray:
        """Return the array with one dimension."""
        _check_order(order)
        return ndarray(mindtorch.flatten(self.tensor))

    def view(self, dtype: Any = _UNSPECIFIED, type: Any = _UNSPECIFIED) -> ndarray:
        """Return the same bytes as elements of another type."""
        if type is not _UNSPECIFIED:
            raise NotImplementedError(f"view(..., type={type} is not implemented.")
        wanted = self.dtype if dtype is _UNSPECIFIED else _dtypes.dtype(dtype)
        return ndarray(self.tensor.view(wanted.torch_dtype))

    def transpose(self, *axes: Any) -> ndarray:
        """Return the array with its axes in another order, by default the reverse one."""
        return _funcs.transpose(self, axes)

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """Return the array with another shape."""
        return _funcs.reshape(self, shape, order=order)

    # Changes

    def resize(self, *new_shape: Any, refcheck: bool = False) -> None:
        """Give the array another shape; new elements are zero."""
        if refcheck:
            raise NotImplementedError(f"resize(..., refcheck={refcheck} is not implemented.")
        if new_shape in ((), (None,)):
            return
        sizes = new_shape[0] if len(new_shape) == 1 else new_shape
        sizes = (sizes,) if isinstance(sizes, int) else sizes
        if any(size < 0 for size in sizes):
            raise ValueError("all elements of `new_shape` must be non-negative")
        before, after = self.tensor.numel(), math.prod(sizes)
        self.tensor.resize_(sizes)
        if after >= before:
            self.tensor.flatten()[before:].zero_()

    def fill(self, value: Any) -> None:
        """Write one value to all elements."""
        self.tensor.fill_(as_tensor(value))

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Put the elements in order."""
        _funcs.copyto(self, _funcs.sort(self, axis, kind, order))

    # Elements

    def item(self, *args: Any) -> Any:
        """Return the only element as a number, or the one at a place as an array."""
        if not args:
            return self.tensor.item()
        return self.ravel()[args[0]] if len(args) == 1 else self[args]  # type: ignore[attr-defined]

    def tolist(self) -> Any:
        """Return the elements as numbers in lists."""
        return self.tensor.tolist()

    def __getitem__(self, index: Any) -> ndarray:
        tensor, index = _indices.forwards(self.tensor, index)
        items, change, _ = _indices.prepared(index, tensor.ndim)
        return ndarray(change(tensor[items]))

    def __setitem__(self, index: Any, value: Any) -> None:
        items, _, change = _indices.prepared(index, self.tensor.ndim)
        if not _dtypes_impl.is_scalar(value):
            value = _util.cast_if_needed(as_tensor(value), self.tensor.dtype)
        self.tensor[items] = change(value)

    def __iter__(self) -> Iterator[ndarray]:
        return map(ndarray, self.tensor)

    def __len__(self) -> int:
        return self.tensor.shape[0]

    def __contains__(self, x: Any) -> bool:
        return x in self.tensor

    # As a number, and as text

    def is_integer(self) -> bool:
        """Return whether the only element is a whole number."""
        try:
            value = self.tensor.item()
            return int(value) == value
        except (OverflowError, RuntimeError, TypeError, ValueError):
            return False  # several elements, complex ones, or none that is finite

    def __index__(self) -> int:
        try:
            return operator.index(self.tensor.item())  # type: ignore[arg-type]  # TypeError for others
        except (RuntimeError, TypeError) as error:
            raise TypeError("only integer scalar arrays can be converted to a scalar index") from error

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __complex__(self) -> complex:
        return complex(self.tensor)

    def __str__(self) -> str:
        return str(self.tensor).replace("tensor", "torch.ndarray").replace("dtype=torch.", "dtype=")

    __repr__ = __str__

    # Comparisons

    def __eq__(self, other: object) -> Any:
        try:
            return _ufuncs.equal(self, other)  # type: ignore[attr-defined]
        except (RuntimeError, TypeError):
            # It is no array, and so equal to none.
            return asarray(mindtorch.full(self.shape, False, dtype=mindtorch.bool))

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def _method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    method.__name__, method.__qualname__ = name, f"ndarray.{name}"
    return method


def _install() -> None:
    for name in _METHODS.split():
        setattr(ndarray, name, _method(getattr(_funcs, name), name))
    for name in ("conj", "conjugate"):
        setattr(ndarray, name, _method(_ufuncs.conjugate, name))  # type: ignore[attr-defined]
    for name, function in _pairs(_OPERATORS):
        setattr(ndarray, f"__{name}__", _method(function, f"__{name}__"))
    for name, function in (*_pairs(_ARITHMETIC), ("divmod", _ufuncs.divmod)):
        reverse = _method(lambda self, other, of=function: of(other, self), f"__r{name}__")
        setattr(ndarray, f"__r{name}__", reverse)
    for name, function in _pairs(_ARITHMETIC):
        setattr(ndarray, f"__{name}__", _method(function, f"__{name}__"))
        inplace = _method(lambda self, other, of=function: of(self, other, out=self), f"__i{name}__")
        setattr(ndarray, f"__i{name}__", inplace)


_install()


def _check_order(order: str) -> None:
    if order != "C":
        raise NotImplementedError("'order' parameter is not supported.")


def _as_lists(obj: Any) -> list[Any]:
    """Arrays in lists as lists of numbers."""
    found = []
    for one in obj:
        one = _as_lists(one) if isinstance(one, (list, tuple)) else one
        found.append(one.tensor.tolist() if isinstance(one, ndarray) else one)
    return found


def array(
    obj: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
    like: Any = None,
) -> ndarray:  # fmt: skip
    """Make an array of numbers, lists, arrays or a tensor."""
    if subok is not False:
        raise NotImplementedError("'subok' parameter is not supported.")
    if like is not None:
        raise NotImplementedError("'like' parameter is not supported.")
    if order != "K":
        raise NotImplementedError
    if isinstance(obj, ndarray) and copy is False and dtype is None and ndmin <= obj.ndim:
        return obj
    if isinstance(obj, (list, tuple)):
        tensors = bool(obj) and all(isinstance(one, mindtorch.Tensor) for one in obj)
        obj = mindtorch.stack(obj) if tensors else _as_lists(obj)
    if isinstance(obj, ndarray):
        obj = obj.tensor
    wanted = None if dtype is None else _dtypes.dtype(dtype).torch_dtype
    return ndarray(_util._coerce_to_tensor(obj, wanted, copy, ndmin))


def asarray(a: Any, dtype: Any = None, order: str = "K", *, like: Any = None) -> ndarray:
    """Return an array itself, or one of what is given."""
    return array(a, dtype=dtype, order=order, like=like, copy=False, ndmin=0)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Return an array whose elements lie one after the other."""
    result = asarray(a, dtype=dtype, like=like)
    result.tensor = result.tensor.contiguous()
    return result


def from_dlpack(x: Any, /) -> ndarray:
    """Return an array over another library's memory."""
    return ndarray(mindtorch.from_dlpack(x))


def _dtype_of(entry: Any) -> _dtypes.DType:
    try:
        return _dtypes.dtype(entry)
    except (AttributeError, TypeError):
        return asarray(entry).dtype


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether numpy's rule of that name lets one type become another."""
    return _dtypes_impl.can_cast_impl(_dtype_of(from_).torch_dtype, _dtype_of(to).torch_dtype, casting)


def result_type(*arrays_and_dtypes: Any) -> _dtypes.DType:
    """Return the type that holds all of these."""
    tensors = []
    for entry in arrays_and_dtypes:
        try:
            tensors.append(as_tensor(entry))
        except (RuntimeError, ValueError, TypeError):
            tensors.append(mindtorch.empty(1, dtype=_dtypes.dtype(entry).torch_dtype))
    return _dtypes.dtype(_dtypes_impl.result_type_impl(*tensors))


adopt(globals())
