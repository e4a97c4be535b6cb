"""Named tuples and structure sequences, told from other tuples."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any, TypeVar

_T_co = TypeVar("_T_co", covariant=True)
_HEAP_TYPE_BASE = 1 << 10  # Py_TPFLAGS_BASETYPE: structure sequences cannot be subclassed


def is_namedtuple_class(cls: type) -> bool:
    """Whether a type was made by ``namedtuple`` or ``NamedTuple``."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and all(type(field) is str for field in cls._fields)  # type: ignore[attr-defined]
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether a value is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object | type) -> bool:
    """Whether a value or a type is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


class structseq(tuple[_T_co, ...]):
    """Stands for all structure sequence types in annotations; not to be used otherwise."""

    __slots__ = ()
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'structseq' is not an acceptable base type")

    def __new__(cls, sequence: Iterable[_T_co], dict: dict[str, Any] = ...) -> Any:  # type: ignore[assignment]
        raise NotImplementedError


def is_structseq_class(cls: type) -> bool:
    """Whether a type is a structure sequence such as ``time.struct_time``."""
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and isinstance(getattr(cls, "n_fields", None), int)
        and isinstance(getattr(cls, "n_sequence_fields", None), int)
        and isinstance(getattr(cls, "n_unnamed_fields", None), int)
        and not bool(cls.__flags__ & _HEAP_TYPE_BASE)
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether a value is a structure sequence."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object | type) -> bool:
    """Whether a value or a type is a structure sequence."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def node_type(tree: Any) -> Any:
    """The key of a value in the tables: its type, or ``namedtuple`` for all named tuples."""
    cls = type(tree)
    return namedtuple if cls is not tuple and issubclass(cls, tuple) and is_namedtuple_class(cls) else cls
