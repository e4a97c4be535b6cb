"""Which overload of an ATen operator a call of TorchScript means: the first whose schema takes the values.

Compiled code names no overload, and passes numbers for what Python has objects for: element types, layouts and memory
formats.
"""

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import ALL_DTYPES, dtype
from mindtorch_storage.layout import layout, memory_format
from mindtorch_storage.tensor_base import TensorBase

_DTYPES = {one.index: one for one in ALL_DTYPES}
_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")


def to_dtype(number: Any) -> Any:
    """Return the element type of a number; others as they are. Raises RuntimeError for a number that is none's."""
    if type(number) is not int:
        return number
    if number not in _DTYPES:
        raise RuntimeError(f"{number} is the number of no element type that MindTorch has")
    return _DTYPES[number]


def _to_layout(number: Any) -> Any:
    return getattr(mindtorch, _LAYOUTS[number]) if type(number) is int else number


def to_memory_format(number: Any) -> Any:
    """Return the memory format of a number; others as they are."""
    return getattr(mindtorch, _MEMORY_FORMATS[number]) if type(number) is int else number


def number_of(value: Any) -> Any:
    """Return the number that code has for an element type, a layout or a memory format; others as they are."""
    if isinstance(value, (dtype, layout)):
        return value.index  # type: ignore[union-attr]
    if isinstance(value, memory_format):
        return _MEMORY_FORMATS.index(str(value).rpartition(".")[2])
    return value


_ENUMERATIONS: dict[str, tuple[type, Callable[[Any], Any]]] = {
    "ScalarType": (dtype, to_dtype),
    "Layout": (layout, _to_layout),
    "MemoryFormat": (memory_format, to_memory_format),
}
_NUMBERS = frozenset(("int", "SymInt", "float", "bool", "complex", "number", "Scalar"))
_TAKEN: dict[str, tuple[type, ...]] = {
    "Tensor": (TensorBase,),
    "int": (int,),
    "SymInt": (int,),
    "float": (float, int),
    "bool": (bool,),
    "complex": (complex, float, int),
    "number": (int, float, complex),
    "Scalar": (int, float, complex),
    "str": (str,),
    "Device": (Device, str),
    "Generator": (mindtorch.Generator,),
}


_EXACT, _LISTED, _IMPLICIT, _NUMBERED = range(4)
"""How far values may be from a schema's types: as declared; one number for a list of them; a tensor of one for a number; a
number for a tensor, which operators take that have no overload for numbers."""


def _takes(text: str, value: Any, level: int) -> bool:
    if text.startswith("Optional["):
        return value is None or _takes(text[9:-1], value, level)
    if text.startswith("List["):
        of = text[5:-1]
        if isinstance(value, (list, tuple)):
            return all(_takes(of, one, level) for one in value)
        return level >= _LISTED and of in ("int", "float", "SymInt") and _takes(of, value, level)
    if level >= _IMPLICIT and text in _NUMBERS and isinstance(value, TensorBase):
        return value.dim() == 0
    if level == _NUMBERED and text == "Tensor" and isinstance(value, (int, float, complex)):
        return True
    if text in _ENUMERATIONS:
        return type(value) is int or isinstance(value, _ENUMERATIONS[text][0])
    kinds = _TAKEN.get(text)
    if kinds is None:
        return True
    if type(value) is bool and text in ("int", "float", "SymInt", "complex"):
        return False
    return isinstance(value, kinds)


class _Overload:
    """An overload, and how its arguments become those that Python gives."""

    def __init__(self, overload: Any) -> None:
        self.call = overload
        self._arguments = [(one.name, str(one.real_type), one.kwarg_only) for one in overload._schema.arguments]
        self._types = {name: text for name, text, _ in self._arguments}
        self._positions = [text for _, text, kwarg_only in self._arguments if not kwarg_only]
        returned = overload._schema.returns
        self.returns_list = len(returned) == 1 and str(returned[0].type).startswith("List[")
        self._required = [one.name for one in overload._schema.arguments if not one.has_default_value()]

    def takes(self, args: tuple[Any, ...], kwargs: dict[str, Any], level: int) -> bool:
        """Whether the schema takes these values; see `_takes`."""
        if len(args) > len(self._positions):
            return False
        given = {name for (name, _, _), _ in zip(self._arguments, args, strict=False)} | set(kwargs)
        return (
            given.issuperset(self._required)
            and all(name in self._types and _takes(self._types[name], value, level) for name, value in kwargs.items())
            and all(_takes(text, value, level) for text, value in zip(self._positions, args, strict=False))
        )

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it with what numbers mean."""
        values = [_as_declared(text, value) for text, value in zip(self._positions, args, strict=False)]
        return self.call(*values, **{name: _as_declared(self._types[name], value) for name, value in kwargs.items()})


def _as_declared(text: str, value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value if "Tensor" in text else value.item()
    if isinstance(value, list) and "Tensor" not in text:
        return [_as_declared(text, one) for one in value]
    return _from_number(text, value)


def _from_number(text: str, value: Any) -> Any:
    for name, (_, convert) in _ENUMERATIONS.items():
        if name in text:
            return convert(value)
    return value


class Operator:
    """An ATen operator as compiled code calls it."""

    def __init__(self, name: str, packet: Any) -> None:
        self._name = name
        self._overloads = [_Overload(getattr(packet, overload)) for overload in packet.overloads()]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the overload that takes the values; RuntimeError when none does. Tuples come back as lists where the
        schema says so, as compiled code appends to them."""
        for level in (_EXACT, _LISTED, _IMPLICIT, _NUMBERED):
            for overload in self._overloads:
                if overload.takes(args, kwargs, level):
                    result = overload(args, kwargs)
                    return list(result) if overload.returns_list else result
        given = ", ".join(type(value).__name__ for value in (*args, *kwargs.values()))
        shown = "\n".join(f"aten::{one.call._schema}" for one in self._overloads)
        raise RuntimeError(
            f"Arguments for call are not valid: aten::{self._name}({given}).\nThe following variants are available:\n{shown}"
        )
