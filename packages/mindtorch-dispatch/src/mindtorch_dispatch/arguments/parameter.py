"""One formal parameter of a Python signature: which values it takes and what they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from mindtorch_storage import dtype as dtypes
from mindtorch_storage import layout as layouts
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from ..schema import Argument, EnumName, Type
from ..typing import Tensor, TensorOrScalar
from . import element
from .element import read_number
from .messages import type_name
from .tables import NUMPY_NAMES

PRINTED_KINDS: dict[str, str] = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "complex": "complex",
    "Tensor[]": "tuple of Tensors",
    "Tensor?[]": "tuple of Tensors",
    "int[]": "tuple of ints",
    "SymInt[]": "tuple of ints",
    "float[]": "tuple of floats",
    "Scalar[]": "tuple of Scalars",
    "Generator": "torch.Generator",
    "bool": "bool",
    "Storage": "torch.Storage",
    "ScalarType": "torch.dtype",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "QScheme": "torch.qscheme",
    "Device": "torch.device",
    "Stream": "torch.Stream",
    "str": "str",
}
"""How a message calls a parameter of each kind; other kinds are called `object`."""

INT64 = range(-(2**63), 2**63)
"""The integers that an argument may be; a plain number may be an unsigned one of 64 bits, too."""

_UINT64_BOUND = 2**64
_UNPACKED = "Overflow when unpacking long long"
_PYTHON_DTYPES = {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool, complex: dtypes.complex128}
INT_DTYPES = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


class Converted:
    """A value made of the given one. `from_tensor`: it was read out of a tensor, so a plan must not keep it."""

    __slots__ = ("from_tensor", "value")

    def __init__(self, value: Any, from_tensor: bool = False) -> None:
        self.value = value
        self.from_tensor = from_tensor


class Parameter:
    """A formal parameter. `text` is its default as messages print it; None means it is required."""

    __slots__ = (
        "allow_none",
        "function",
        "keyword_only",
        "kind",
        "name",
        "numbers",
        "optional",
        "size",
        "text",
        "type",
    )

    def __init__(
        self,
        function: str,
        name: str,
        type: Type,
        text: str | None,
        *,
        keyword_only: bool = False,
        numbers: bool = False,
    ) -> None:
        self.function = function
        self.name = name
        self.type = type
        self.text = text
        self.kind = _plain_kind(type.kind, type.is_list, type.elem_optional)
        self.size = type.size or 0
        self.keyword_only = keyword_only
        self.numbers = numbers
        self.optional = text is not None
        self.allow_none = type.optional or text == "None"

    @property
    def printed_kind(self) -> str:
        """The parameter's type in messages."""
        return PRINTED_KINDS.get(self.kind, "object")

    def __str__(self) -> str:
        return f"{self.printed_kind} {self.name}" + (f" = {self.text}" if self.optional else "")

    @property
    def numpy_names(self) -> tuple[str, ...]:
        """Other keywords for this parameter."""
        return NUMPY_NAMES.get(self.name, ())

    @property
    def takes_varargs(self) -> bool:
        """True when a function may be called with this list's elements as its positional arguments."""
        return self.kind in ("int[]", "SymInt[]")

    def accepts(self, value: object, index: int) -> bool:
        """Whether `value` may be given. Raises where torch does not try other signatures: lists of non-tensors."""
        check = _CHECKS.get(self.kind)
        if check is not None:
            return check(value)
        if self.kind == "Tensor":
            return is_tensor_like(value) or (self.numbers and is_number(value))
        if self.kind in ("Tensor[]", "Tensor?[]"):
            return self._accepts_tensors(value, index)
        if self.kind in ("int[]", "SymInt[]"):
            if isinstance(value, (tuple, list)):
                return not value or is_index(value[0])
            return self.size > 0 and (is_index(value) if self.kind == "SymInt[]" else is_int(value))
        return True

    def _accepts_tensors(self, value: object, index: int) -> bool:
        if not isinstance(value, (tuple, list)):
            return False
        for position, item in enumerate(value):
            if not is_tensor_like(item):
                raise TypeError(f"expected Tensor as element {position} in argument {index}, but got {type_name(item)}")
        return True

    def rejection(self, value: object, position: int | None) -> TypeError:
        """The error for a value this parameter does not take; `position` counts from 1, None for a keyword."""
        where = f"{self.function}(): argument '{self.name}'" + (f" (position {position})" if position else "")
        if position and self.takes_varargs and isinstance(value, (tuple, list)) and value:
            found = f"but found element of type {type_name(value[0])} at pos 0"
        else:
            found = f"not {type_name(value)}"
        return TypeError(f"{where} must be {self.printed_kind}, {found}")

    def convert(self, value: object) -> Any:
        """The value to use for an accepted one: itself where nothing changes, else a `Converted`."""
        convert = _CONVERSIONS.get(self.kind)
        return value if convert is None else convert(self, value)


@cache
def _plain_kind(kind: str, is_list: bool, elem_optional: bool) -> str:
    """Return a type as text without its size, and without saying that it may be None."""
    return str(Type(kind, is_list, None, False, elem_optional))


def is_tensor_like(value: Any) -> bool:
    """A tensor, or an object that overrides torch functions."""
    return isinstance(value, TensorBase) or hasattr(type(value), "__torch_function__")


def is_number(value: Any) -> bool:
    """A Python or numpy number, bools included."""
    return isinstance(value, (float, int, complex, np.number, np.bool_))


def is_int(value: object) -> bool:
    """An integer that is no bool, or an integral tensor of no dimensions that needs no gradient."""
    if isinstance(value, TensorBase):
        return not value._sig.spec.ndim and value.dtype in INT_DTYPES
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, np.integer)


def is_index(value: Any) -> bool:
    """An object that stands for an integer, as in a list of sizes; bools do not."""
    if type(value) is int:
        return True
    if isinstance(value, TensorBase):
        integral = value.dtype in INT_DTYPES or value.dtype is dtypes.bool
        return integral and value._sig.spec.numel == 1
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, np.integer)):
        return True
    if not hasattr(type(value), "__index__"):
        return False
    try:
        value.__index__()
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):  # torch drops them all
        return False
    return True


def is_real(value: object) -> bool:
    """What a float parameter takes: real Python numbers, numpy numbers, 0-d tensors that need no gradient."""
    if isinstance(value, TensorBase):
        return not value._sig.spec.ndim and not value._sig.requires_grad
    return isinstance(value, (float, int, np.number, np.bool_))


def is_scalar(value: object) -> bool:
    """What a Scalar parameter takes."""
    return is_number(value) or is_real(value)


def _is_named(value: object, name: str) -> bool:
    """An instance of torch's class `name`, wherever in the layers above it is defined."""
    return any(
        cls.__name__ == name and str(getattr(cls, "__module__", "")).startswith(("torch", "mindtorch"))
        for cls in type(value).__mro__
    )


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "Scalar": is_scalar,
    "complex": is_scalar,
    "float": is_real,
    "int": is_int,
    "SymInt": is_index,
    "bool": lambda value: isinstance(value, bool),
    "float[]": lambda value: isinstance(value, (tuple, list)) and (not value or is_number(value[0])),
    "Scalar[]": lambda value: isinstance(value, (tuple, list)) and all(is_number(item) for item in value),
    "Generator": lambda value: _is_named(value, "Generator"),
    "ScalarType": lambda value: isinstance(value, Dtype) or (isinstance(value, type) and value in _PYTHON_DTYPES),
    "Layout": lambda value: isinstance(value, layouts.layout),
    "MemoryFormat": lambda value: isinstance(value, layouts.memory_format),
    "QScheme": lambda value: _is_named(value, "qscheme"),
    "Device": lambda value: (
        isinstance(value, (str, Device, np.integer)) or (isinstance(value, int) and not isinstance(value, bool))
    ),
    "str": lambda value: isinstance(value, str),
    "Storage": lambda value: _is_named(value, "UntypedStorage") or _is_named(value, "TypedStorage"),
    "Stream": lambda value: _is_named(value, "Stream"),
}


def _number(parameter: Parameter, value: TensorOrScalar) -> Any:
    """Python numbers stay as given (a float parameter may see an int), everything else becomes one."""
    if isinstance(value, TensorBase):
        # A Tensor parameter that also takes numbers gets the tensor itself.
        return value if parameter.kind == "Tensor" else Converted(read_number(value), True)
    kind = type(value)
    if type(value) is int and value not in INT64:
        if parameter.kind == "float":
            return Converted(float(value))
        check_scalar(value)
    return value if kind in _NUMBERS else Converted(plain_number(value))


_NUMBERS = frozenset((int, float, bool, complex))


def plain_number(value: Any) -> Any:
    """Return a number of numpy, or of a class derived from one of Python's, as Python's own; any other value as it is."""
    if isinstance(value, (np.number, np.bool_)):
        return value.item()
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, int):
        return int.__index__(value)
    return complex.__complex__(value) if isinstance(value, complex) else value


def check_scalar(value: int) -> None:
    """Refuse an integer of which torch can make no Scalar."""
    if value not in INT64 and not 0 <= value < _UINT64_BOUND:
        raise OverflowError("can't convert negative int to unsigned" if value < 0 else "int too big to convert")


def _integer(parameter: Parameter, value: int) -> Any:
    if type(value) is int:
        if value not in INT64:
            raise ValueError(_UNPACKED)
        return value
    return Converted(_as_int(value, parameter.kind == "SymInt"), isinstance(value, TensorBase))


def _as_int(value: Any, symbolic: bool) -> int:
    if isinstance(value, TensorBase):
        if symbolic and value.dtype is dtypes.bool:
            raise RuntimeError(
                "Expected scalar.isIntegral( false) to be true, but got false.  (Could this error message be improved?"
                "  If so, please report an enhancement request to PyTorch.)"
            )
        number = read_number(value)
        return number if isinstance(number, int) and not isinstance(number, bool) else int(number)
    found: int = value.__index__()
    if found not in INT64:
        raise ValueError(_UNPACKED)
    if element.reader is not None and isinstance(value, int):
        return value  # a number that was read remembers where it is from
    return found


def _integers(parameter: Parameter, value: Sequence[int] | int) -> Any:
    """A tuple of ints; a single int fills a sized list."""
    symbolic = parameter.kind == "SymInt[]"
    if not isinstance(value, (tuple, list)):
        return Converted((_as_int(value, symbolic),) * parameter.size, isinstance(value, TensorBase))
    if all(type(item) is int and item in INT64 for item in value):
        return value if isinstance(value, tuple) else Converted(tuple(value))
    for position, item in enumerate(value, 1):
        problem = ""
        if not is_index(item) and not (position > 1 and isinstance(item, bool)):  # torch looks at the first for a bool
            problem = f"type must be {parameter.printed_kind},but got {type_name(item)}"
        elif not isinstance(item, TensorBase) and item.__index__() not in INT64:
            problem = _UNPACKED
        if problem:
            raise TypeError(
                f"{parameter.function}(): argument '{parameter.name}' failed to unpack the object at pos {position} "
                f'with error "{problem}"'
            )
    return Converted(
        tuple(_as_int(item, symbolic) for item in value), any(isinstance(item, TensorBase) for item in value)
    )


def _floats(parameter: Parameter, value: Sequence[float]) -> Any:
    for position, item in enumerate(value, 1):
        if not isinstance(item, (float, int, np.number)):
            raise TypeError(
                f"{parameter.function}(): argument '{parameter.name}' must be {parameter.printed_kind}, "
                f"but found element of type {type_name(item)} at pos {position}"
            )
    return Converted(tuple(float(item) for item in value))


def _numbers(parameter: Parameter, value: Sequence[float]) -> Any:
    for item in value:
        if type(item) is int:
            check_scalar(item)
    return Converted(tuple(item if type(item) in _NUMBERS else plain_number(item) for item in value))


def _tensors(parameter: Parameter, value: Sequence[Tensor]) -> Any:
    if parameter.size and len(value) != parameter.size:
        raise TypeError(f"expected tuple of {parameter.size} elements but got {len(value)}")
    return value


def _device(parameter: Parameter, value: Device | str) -> Any:
    return value if isinstance(value, Device) else Converted(Device(value))


_CONVERSIONS: dict[str, Callable[[Parameter, Any], Any]] = {
    "Tensor": _number,
    "Scalar": _number,
    "complex": _number,
    "float": _number,
    "int": _integer,
    "SymInt": _integer,
    "int[]": _integers,
    "SymInt[]": _integers,
    "float[]": _floats,
    "Scalar[]": _numbers,
    "Tensor[]": _tensors,
    "ScalarType": lambda parameter, value: value if isinstance(value, Dtype) else Converted(_PYTHON_DTYPES[value]),
    "Device": _device,
}


def enum_value(kind: str, name: EnumName) -> Any:
    """The object that an enumeration default of a schema names."""
    if kind == "ScalarType":
        return dtypes.complex64 if name == "complex" else dtypes.by_name(name)
    return getattr(layouts, name)


def printed_default(argument: Argument) -> str:
    """A schema default as messages print it."""
    value, type = argument.default, argument.type
    if argument.name == "reduction" and value == 1:
        return "at::Reduction::Mean"
    if value is None or value == ():
        return "None"
    if isinstance(value, EnumName):
        return {"long": "at::kLong", "contiguous_format": "c10::MemoryFormat::Contiguous"}.get(value, str(value))
    if isinstance(value, tuple):
        if type.size is not None and len(value) == type.size and len(set(value)) == 1:
            return str(value[0])
        return "{" + ",".join(str(item) for item in value) + "}"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
