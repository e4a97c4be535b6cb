"""The types of TorchScript, which annotations and checks of other libraries name. Nothing is compiled with them."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt


class Type:
    """A type: its kind, and its spelling in an annotation.

    >>> isinstance(torch.IntType.get(), torch.Type)
    True
    """

    _spelling = ""

    def kind(self) -> str:
        """Return the name of the class of types this is one of."""
        return type(self).__name__

    @property
    def annotation_str(self) -> str:
        """The type as an annotation spells it."""
        return str(self)

    def __str__(self) -> str:
        return self._spelling

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and type(self) is type(other) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((type(self), str(self)))


class _Single(Type):
    """A type without parts: there is one object of it, which `get` returns."""

    @classmethod
    def get(cls) -> Any:
        """Return the type."""
        found = cls.__dict__.get("_one")
        if found is None:
            cls._one = found = object.__new__(cls)  # type: ignore[attr-defined]
        return found

    def __new__(cls) -> Any:
        raise TypeError(f"torch._C.{cls.__name__}: No constructor defined!")


class _Container(Type):
    """A type with one element type."""

    def __init__(self, a: Type) -> None:
        self._element = a

    def getElementType(self) -> Type:
        """Return the type of the elements."""
        return self._element

    def __str__(self) -> str:
        return f"{self._spelling}[{self._element}]"

    __repr__ = __str__


class _Several(Type):
    """A type made of several."""

    def __init__(self, a: list[Type]) -> None:
        self._parts = list(a)

    def __str__(self) -> str:
        return f"{self._spelling}[{', '.join(map(str, self._parts)) or '()'}]"

    __repr__ = __str__


class TupleType(_Several):
    """A tuple of given types.

    >>> str(torch.TupleType([torch.IntType.get(), torch.FloatType.get()]))
    'Tuple[int, float]'
    """

    _spelling = "Tuple"

    def elements(self) -> list[Type]:
        """Return the types of the elements."""
        return list(self._parts)


class UnionType(_Several):
    """One of several types.

    >>> str(torch.UnionType([torch.IntType.get(), torch.StringType.get()]))
    'Union[int, str]'
    """

    _spelling = "Union"


class DictType(Type):
    """A dictionary.

    >>> str(torch.DictType(torch.StringType.get(), torch.IntType.get()))
    'Dict[str, int]'
    """

    def __init__(self, key: Type, value: Type) -> None:
        self._key, self._value = key, value

    def getKeyType(self) -> Type:
        """Return the type of the keys."""
        return self._key

    def getValueType(self) -> Type:
        """Return the type of the values."""
        return self._value

    def __str__(self) -> str:
        return f"Dict[{self._key}, {self._value}]"

    __repr__ = __str__


_SINGLE = {
    "AnyType": "Any",
    "BoolType": "bool",
    "ComplexType": "complex",
    "DeviceObjType": "Device",
    "FloatType": "float",
    "_GeneratorType": "Generator",
    "IntType": "int",
    "NoneType": "NoneType",
    "NumberType": "number",
    "PyObjectType": "PyObject",
    "StreamObjType": "Stream",
    "StringType": "str",
    "SymBoolType": "bool",
    "SymIntType": "int",
    "TensorType": "Tensor",
}
_CONTAINERS = {
    "AwaitType": "Await",
    "FutureType": "Future",
    "ListType": "List",
    "OptionalType": "Optional",
    "RRefType": "RRef",
}


def _made(name: str, spelling: str, base: type) -> type:
    whole = base is _Single
    made = f"torch.{name}.get()" if whole else f"torch.{name}(torch.IntType.get())"
    shown = "Any" if name == "AnyType" else spelling if whole else f"{spelling}[int]"
    text = f"The type `{spelling}`.\n\n>>> str({made})\n{shown!r}"
    return type(name, (base,), {"_spelling": spelling, "__module__": __name__, "__doc__": text})


globals().update({name: _made(name, spelling, _Single) for name, spelling in _SINGLE.items()})
globals().update({name: _made(name, spelling, _Container) for name, spelling in _CONTAINERS.items()})

__all__ = [
    "DictType",
    "TupleType",
    "Type",
    "UnionType",
    *_CONTAINERS,
    *(name for name in _SINGLE if name != "_GeneratorType"),
]
adopt(globals())
