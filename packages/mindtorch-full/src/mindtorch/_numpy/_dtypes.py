"""`dtype` objects and scalar types as numpy has them. Calling a scalar type makes an array without dimensions."""

from __future__ import annotations

import builtins
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.lazy_import import LazyModule

from . import _dtypes_impl

_arrays = LazyModule("mindtorch._numpy._ndarray", "arrays are made of these")


class generic:
    """The root of the scalar types."""

    name = "generic"
    typecode: str
    torch_dtype: Dtype

    def __new__(cls, value: Any) -> Any:
        if isinstance(value, _arrays.ndarray):
            return value.astype(cls)
        return _arrays.asarray(float(value) if value in ("inf", "nan") else value, dtype=cls)


def _scalar_type(base: type[generic], name: str, typecode: str | None = None) -> Any:
    members: dict[str, Any] = {"name": name, "__module__": "torch._numpy._dtypes", "__doc__": f"Scalars of {name}."}
    if typecode is not None:
        members |= {"typecode": typecode, "torch_dtype": getattr(mindtorch, name.removesuffix("_"))}
    return type(name, (base,), members)


number = _scalar_type(generic, "number")
integer = _scalar_type(number, "integer")
inexact = _scalar_type(number, "inexact")
signedinteger = _scalar_type(integer, "signedinteger")
unsignedinteger = _scalar_type(integer, "unsignedinteger")
floating = _scalar_type(inexact, "floating")
complexfloating = _scalar_type(inexact, "complexfloating")

int8 = _scalar_type(signedinteger, "int8", "b")
int16 = _scalar_type(signedinteger, "int16", "h")
int32 = _scalar_type(signedinteger, "int32", "i")
int64 = _scalar_type(signedinteger, "int64", "l")
uint8 = _scalar_type(unsignedinteger, "uint8", "B")
uint16 = _scalar_type(unsignedinteger, "uint16", "H")
# torch has these two below the signed ones.
uint32 = _scalar_type(signedinteger, "uint32", "I")
uint64 = _scalar_type(signedinteger, "uint64", "L")
float16 = _scalar_type(floating, "float16", "e")
float32 = _scalar_type(floating, "float32", "f")
float64 = _scalar_type(floating, "float64", "d")
complex64 = _scalar_type(complexfloating, "complex64", "F")
complex128 = _scalar_type(complexfloating, "complex128", "D")
bool_ = _scalar_type(generic, "bool_", "?")

intp = int_ = longlong = int64
intc, short, byte, ubyte, ulonglong = int32, int16, int8, uint8, uint64
half, single, double, float_ = float16, float32, float64, float64
csingle = singlecomplex = complex64
cdouble = cfloat = complex_ = complex128

_ALIASES = (
    "intp int_ intc byte short longlong ulonglong ubyte half single double float_ csingle singlecomplex cdouble cfloat "
    "complex_"
).split()
_ABSTRACT = "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split()

sctypes: dict[str, list[Any]] = {
    "int": [int8, int16, int32, int64],
    "uint": [uint8, uint16, uint32, uint64],
    "float": [float16, float32, float64],
    "complex": [complex64, complex128],
    "others": [bool_],
}
typecodes = {
    "All": "efdFDBbhil?",
    "AllFloat": "efdFD",
    "AllInteger": "Bbhil",
    "Integer": "bhil",
    "UnsignedInteger": "B",
    "Float": "efd",
    "Complex": "FD",
}
_CONCRETE = [one for kind in sctypes.values() for one in kind]
_BY_TORCH_DTYPE: dict[Dtype, Any] = {one.torch_dtype: one for one in _CONCRETE}
_BY_NAME: dict[Any, Any] = {
    **{name: globals()[name] for name in _ALIASES},
    **{one.typecode: one for one in _CONCRETE},
    **{one.name: one for one in _CONCRETE},
    **{"u1": uint8, "i1": int8, "i2": int16, "i4": int32, "i8": int64, "f2": float16, "f4": float32, "f8": float64},
    **{"c8": complex64, "c16": complex128},
    **{int: int64, float: float64, complex: complex128, builtins.bool: bool_},
    **{"int": int64, "float": float64, "complex": complex128, "bool": bool_},
}


def _is_subclass(one: Any, base: type) -> bool:
    return isinstance(one, type) and issubclass(one, base)


def _scalar_type_of(arg: Any) -> Any:
    if isinstance(arg, Dtype):
        return _BY_TORCH_DTYPE[arg]
    if isinstance(arg, mindtorch.Tensor):
        return _BY_TORCH_DTYPE[arg.dtype]
    if _is_subclass(arg, generic):
        return arg
    if isinstance(arg, DType):
        return arg._scalar_type
    if hasattr(arg, "dtype"):
        return arg.dtype._scalar_type
    if isinstance(arg, (str, type)) and arg in _BY_NAME:
        return _BY_NAME[arg]
    raise TypeError(f"data type {arg!r} not understood")


class DType:
    """The element type of an array."""

    def __init__(self, arg: Any) -> None:
        self._scalar_type = _scalar_type_of(arg)

    @property
    def name(self) -> str:
        """Its name."""
        return self._scalar_type.name

    @property
    def type(self) -> Any:
        """The type of its scalars."""
        return self._scalar_type

    @property
    def kind(self) -> str:
        """The first letter of its name."""
        return self.name[0]

    @property
    def typecode(self) -> str:
        """The letter that stands for it."""
        return self._scalar_type.typecode

    @property
    def torch_dtype(self) -> Dtype:
        """The dtype of its tensors."""
        return self._scalar_type.torch_dtype

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.torch_dtype.itemsize

    def __eq__(self, other: object) -> bool:
        try:
            return self._scalar_type is _scalar_type_of(other)
        except TypeError:
            return False  # no type of elements

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f'dtype("{self.name}")'

    __str__ = __repr__

    def __getstate__(self) -> Any:
        return self._scalar_type

    def __setstate__(self, value: Any) -> None:
        self._scalar_type = value


def dtype(arg: Any) -> DType:
    """Return the element type that a name, a type, an array or a tensor means; None means the default."""
    return DType(_dtypes_impl.default_dtypes().float_dtype if arg is None else arg)


def set_default_dtype(fp_dtype: Any = "numpy", int_dtype: Any = "numpy") -> Any:
    """Set what arrays of numbers without a type become, and return what was set.

    Args:
        fp_dtype, int_dtype: a type, or "numpy" or "pytorch" for what that library has.
    """
    known = {"numpy": mindtorch.float64, "pytorch": mindtorch.float32}
    float_dtype = known[fp_dtype] if fp_dtype in ("numpy", "pytorch") else dtype(fp_dtype).torch_dtype
    whole = mindtorch.int64 if int_dtype in ("numpy", "pytorch") else dtype(int_dtype).torch_dtype
    complex_dtype = mindtorch.complex128 if float_dtype == mindtorch.float64 else mindtorch.complex64
    before = _dtypes_impl.default_dtypes
    _dtypes_impl.set_default_dtypes(_dtypes_impl.DefaultDTypes(float_dtype, complex_dtype, whole))
    return before


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a type is another one or below it."""
    first, second = (_with_abstract(one) for one in (arg1, arg2))
    return issubclass(first, second)


def _with_abstract(arg: Any) -> Any:
    if isinstance(arg, str) and arg in _ABSTRACT:
        return globals()[arg]
    return arg if _is_subclass(arg, generic) else dtype(arg).type


__all__ = ["DType", "dtype", "issubdtype", "sctypes", "set_default_dtype", "typecodes"]
__all__ += [one.name for one in _CONCRETE] + _ALIASES + _ABSTRACT

adopt(globals())
