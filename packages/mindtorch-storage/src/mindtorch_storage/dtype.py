"""Element types: one immutable object per torch dtype, with the facts every layer asks for."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

import ml_dtypes
import numpy
import numpy as np

from mindtorch_storage._pickling import is_importable_as
from mindtorch_storage.annotations import bind_annotations
from mindtorch_storage.sealed import sealed


@sealed
class dtype:
    """An element type. Instances are singletons made by this module; compare them with `is`.

    >>> torch.float32.is_floating_point, torch.float32.itemsize
    (True, 4)
    >>> torch.zeros(2).dtype == torch.float
    True
    """

    __slots__ = (
        "_complex",
        "_real",
        "_signed",
        "abbr",
        "index",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "np",
        "scalar_name",
        "type_name",
    )
    __module__ = "torch"

    name: str
    abbr: str
    index: builtins.int
    itemsize: builtins.int
    is_floating_point: builtins.bool
    is_complex: builtins.bool
    np: numpy.dtype[Any]
    scalar_name: str
    type_name: str
    _complex: dtype | None
    _real: dtype | None
    _signed: builtins.bool | builtins.str

    @property
    def is_signed(self) -> builtins.bool:
        """Whether values may be negative; quantized and raw bit types have no answer."""
        if isinstance(self._signed, str):
            raise RuntimeError(self._signed)
        return self._signed

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type."""
        if self._complex is None:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return self._complex

    def to_real(self) -> dtype:
        """The type of the parts of a complex type; any other type is its own answer."""
        return self if self._real is None else self._real

    def __setattr__(self, name: str, value: object) -> NoReturn:
        if name in ("itemsize", "is_floating_point", "is_complex", "is_signed", "abbr"):
            raise AttributeError(f"attribute '{name}' of 'torch.dtype' objects is not writable")
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if is_importable_as("torch", self.name, self):
            return self.name
        return _named, (self.name,)


dtype.__qualname__ = "dtype"
_BY_NAME: dict[str, dtype] = {}
_BY_NUMPY: dict[np.dtype[Any], dtype] = {}
_QUANTIZED = "isSignedType not supported for quantized types"
_BITS = "Bits types are undefined"
# numpy has no half precision complex number: a pair keeps size, alignment and copying right, kernels widen it.
COMPLEX32_NP = np.dtype([("real", np.float16), ("imag", np.float16)])


bind_annotations(dtype, __name__)


def _named(name: str) -> dtype:
    return _BY_NAME[name]


def _declare(
    index: builtins.int,
    name: str,
    abbr: str,
    scalar_name: str,
    np_type: Any,
    kind: str,
    signed: builtins.bool | str,
) -> dtype:
    kind_of: Any = dtype  # its own `__new__` refuses
    new: dtype = object.__new__(kind_of)
    np_dtype = np.dtype(np_type)
    namespace = "torch.quantized." if signed is _QUANTIZED else "torch."
    values = {
        "name": name,
        "abbr": abbr,
        "index": index,
        "itemsize": np_dtype.itemsize,
        "is_floating_point": kind == "f",
        "is_complex": kind == "c",
        "np": np_dtype,
        "scalar_name": scalar_name,
        "type_name": f"{namespace}{scalar_name}Tensor",
        "_signed": signed,
        "_complex": None,
        "_real": None,
    }
    for slot, value in values.items():
        object.__setattr__(new, slot, value)
    _BY_NAME[name] = new
    # Quantized, raw and narrow types borrow the numpy type of a plain one, which must stay the answer for it.
    if kind in "fc" or (kind in "ib" and index < 30):
        _BY_NUMPY.setdefault(np_dtype, new)
    return new


def _pair(real: dtype, complex_: dtype) -> None:
    object.__setattr__(real, "_complex", complex_)
    object.__setattr__(complex_, "_complex", complex_)
    object.__setattr__(complex_, "_real", real)


# The numbers are those of torch's C++ enumeration; files and kernels of other projects use them.
uint8 = _declare(0, "uint8", "u8", "Byte", np.uint8, "i", False)
int8 = _declare(1, "int8", "i8", "Char", np.int8, "i", True)
int16 = _declare(2, "int16", "i16", "Short", np.int16, "i", True)
int32 = _declare(3, "int32", "i32", "Int", np.int32, "i", True)
int64 = _declare(4, "int64", "i64", "Long", np.int64, "i", True)
float16 = _declare(5, "float16", "f16", "Half", np.float16, "f", True)
float32 = _declare(6, "float32", "f32", "Float", np.float32, "f", True)
float64 = _declare(7, "float64", "f64", "Double", np.float64, "f", True)
complex32 = _declare(8, "complex32", "c32", "ComplexHalf", COMPLEX32_NP, "c", True)
complex64 = _declare(9, "complex64", "c64", "ComplexFloat", np.complex64, "c", True)
complex128 = _declare(10, "complex128", "c128", "ComplexDouble", np.complex128, "c", True)
bool = _declare(11, "bool", "b8", "Bool", np.bool_, "b", False)
qint8 = _declare(12, "qint8", "qint8", "QInt8", np.int8, "q", _QUANTIZED)
quint8 = _declare(13, "quint8", "quint8", "QUInt8", np.uint8, "q", _QUANTIZED)
qint32 = _declare(14, "qint32", "qint32", "QInt32", np.int32, "q", _QUANTIZED)
bfloat16 = _declare(15, "bfloat16", "bf16", "BFloat16", ml_dtypes.bfloat16, "f", True)
quint4x2 = _declare(16, "quint4x2", "quint4x2", "QUInt4x2", np.uint8, "q", _QUANTIZED)
quint2x4 = _declare(17, "quint2x4", "quint2x4", "QUInt2x4", np.uint8, "q", _QUANTIZED)
bits1x8 = _declare(18, "bits1x8", "b1x8", "Bits1x8", np.uint8, "r", _BITS)
bits2x4 = _declare(19, "bits2x4", "b2x4", "Bits2x4", np.uint8, "r", _BITS)
bits4x2 = _declare(20, "bits4x2", "b4x2", "Bits4x2", np.uint8, "r", _BITS)
bits8 = _declare(21, "bits8", "b8x1", "Bits8", np.uint8, "r", _BITS)
bits16 = _declare(22, "bits16", "b16x1", "Bits16", np.uint16, "r", _BITS)
float8_e5m2 = _declare(23, "float8_e5m2", "f8e5m2", "Float8_e5m2", ml_dtypes.float8_e5m2, "f", True)
float8_e4m3fn = _declare(24, "float8_e4m3fn", "f8e4m3fn", "Float8_e4m3fn", ml_dtypes.float8_e4m3fn, "f", True)
float8_e5m2fnuz = _declare(25, "float8_e5m2fnuz", "f8e5m2fnuz", "Float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, "f", True)
float8_e4m3fnuz = _declare(26, "float8_e4m3fnuz", "f8e4m3fnuz", "Float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, "f", True)
uint16 = _declare(27, "uint16", "u16", "UInt16", np.uint16, "i", False)
uint32 = _declare(28, "uint32", "u32", "UInt32", np.uint32, "i", False)
uint64 = _declare(29, "uint64", "u64", "UInt64", np.uint64, "i", False)
uint1 = _declare(30, "uint1", "uint1", "UInt1", np.uint8, "i", False)
uint2 = _declare(31, "uint2", "uint2", "UInt2", np.uint8, "i", False)
uint3 = _declare(32, "uint3", "uint3", "UInt3", np.uint8, "i", False)
uint4 = _declare(33, "uint4", "uint4", "UInt4", np.uint8, "i", False)
uint5 = _declare(34, "uint5", "uint5", "UInt5", np.uint8, "i", False)
uint6 = _declare(35, "uint6", "uint6", "UInt6", np.uint8, "i", False)
uint7 = _declare(36, "uint7", "uint7", "UInt7", np.uint8, "i", False)
int1 = _declare(37, "int1", "int1", "Int1", np.int8, "i", True)
int2 = _declare(38, "int2", "int2", "Int2", np.int8, "i", True)
int3 = _declare(39, "int3", "int3", "Int3", np.int8, "i", True)
int4 = _declare(40, "int4", "int4", "Int4", np.int8, "i", True)
int5 = _declare(41, "int5", "int5", "Int5", np.int8, "i", True)
int6 = _declare(42, "int6", "int6", "Int6", np.int8, "i", True)
int7 = _declare(43, "int7", "int7", "Int7", np.int8, "i", True)
float8_e8m0fnu = _declare(44, "float8_e8m0fnu", "f8e8m0fnu", "Float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, "f", False)
float4_e2m1fn_x2 = _declare(45, "float4_e2m1fn_x2", "f4e2m1fnx2", "Float4_e2m1fn_x2", np.uint8, "f", True)

_pair(float32, complex64)
_pair(float64, complex128)
_pair(float16, complex32)
object.__setattr__(bfloat16, "_complex", complex64)

bit = uint1
half = float16
float = float32
double = float64
chalf = complex32
cfloat = complex64
cdouble = complex128
short = int16
int = int32
long = int64

ALL_DTYPES: tuple[dtype, ...] = tuple(_BY_NAME.values())
ALIASES: dict[str, dtype] = {
    "bit": uint1,
    "half": float16,
    "float": float32,
    "double": float64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
    "short": int16,
    "int": int32,
    "long": int64,
}


def by_name(name: str) -> dtype:
    """The dtype with this name, aliases such as `half` included. KeyError when there is none."""
    found = _BY_NAME.get(name)
    return ALIASES[name] if found is None else found


def from_numpy(np_dtype: Any) -> dtype:
    """The dtype that stores what this numpy dtype stores; TypeError with torch's text when there is none."""
    found = _BY_NUMPY.get(np_dtype)
    if found is None:
        native = np.dtype(np_dtype).newbyteorder("=")
        found = _BY_NUMPY.get(native)
    if found is None:
        kind = np.void if issubclass(np.dtype(np_dtype).type, np.void) else np.dtype(np_dtype).type
        raise TypeError(
            f"can't convert np.ndarray of type {kind.__module__}.{kind.__name__}. The only supported types are: "
            "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )
    return found
