"""The texts of argument errors, as torch words them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .tables import FULL_TYPE_NAMES

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995


def type_name(value: object) -> str:
    """The name of `value`'s type in a message: short for Python classes, qualified for extension types."""
    cls = type(value)
    module = getattr(cls, "__module__", None)  # a class made by code without a module's name has none
    if type(module) is not str:
        return cls.__name__
    full = FULL_TYPE_NAMES.get((module, cls.__name__))
    if full is not None:
        return full
    qualified = module == "torch.return_types" or not cls.__flags__ & _HEAP_TYPE
    return f"{module}.{cls.__name__}" if qualified and module != "builtins" else cls.__name__


def quantity_error(name: str, least: int, most: int, given: int) -> TypeError:
    """Too many positional arguments."""
    if least != most:
        return TypeError(f"{name}() takes from {least} to {most} positional arguments but {given} were given")
    verb = "was" if given == 1 else "were"
    return TypeError(f"{name}() takes {most} positional argument{'' if most == 1 else 's'} but {given} {verb} given")


def missing_error(name: str, missing: Sequence[str]) -> TypeError:
    """Required arguments that were not given. (torch's plural is the wrong way round.)"""
    listed = ", ".join(f'"{item}"' for item in missing)
    plural = "s" if len(missing) == 1 else ""
    return TypeError(f"{name}() missing {len(missing)} required positional argument{plural}: {listed}")


def hash_order(names: Mapping[str, Any]) -> list[str]:
    """The order in which torch lists keywords in a message: that of a C++ `unordered_map` filled in call order.

    New keys go to the front, or to the front of their bucket where it is occupied; 13 buckets hold 13 keys.
    """
    buckets = next(prime for prime in (13, 29, 59, 127, 257, 541) if len(names) <= prime)
    order: list[str] = []
    slots: list[int] = []
    for name in names:
        slot = _cpp_hash(name.encode()) % buckets
        place = slots.index(slot) if slot in slots else 0
        order.insert(place, name)
        slots.insert(place, slot)
    return order


def _cpp_hash(data: bytes) -> int:
    """libstdc++'s `std::hash<std::string>` (64-bit Murmur)."""
    value = 0xC70F6907 ^ (len(data) * _MULTIPLIER & _MASK)
    whole = len(data) & ~7
    for start in range(0, whole, 8):
        chunk = int.from_bytes(data[start : start + 8], "little") * _MULTIPLIER & _MASK
        value = (value ^ (chunk ^ chunk >> 47) * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK
    if whole != len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 47) * _MULTIPLIER & _MASK
    return value ^ value >> 47


def invalid_combination_error(
    name: str, args: Sequence[Any], kwargs: Mapping[str, Any], signatures: Sequence[str]
) -> TypeError:
    """No signature accepts the call. `signatures` are printed ones, `(Tensor input, *, Tensor out = None)`."""
    text = f"{name}() received an invalid combination of arguments - "
    order = hash_order(kwargs)
    if len(signatures) == 1:
        expected = _Expected(signatures[0])
        unknown = expected.unknown(order)
        if unknown:
            listed = "".join(f"{item}, " for item in unknown)
            return TypeError(f"{text}got unrecognized keyword arguments: {listed[:-2]}")
        got = expected.compared(args, kwargs) if expected.counts(args, kwargs) else _listed(args, kwargs, order)
        return TypeError(f"{text}got {got}, but expected {signatures[0]}")
    lines = [f"{text}got {_listed(args, kwargs, order)}, but expected one of:"]
    for signature in signatures:
        lines.append(f" * {signature}")
        expected = _Expected(signature)
        if not expected.counts(args, kwargs):
            continue
        unknown = expected.unknown(order)
        if unknown:
            lines.append(f"      didn't match because some of the keywords were incorrect: {', '.join(unknown)}")
        else:
            compared = expected.compared(args, kwargs)
            lines.append(f"      didn't match because some of the arguments have invalid types: {compared}")
    return TypeError("\n".join(lines) + "\n")


def _listed(args: Sequence[Any], kwargs: Mapping[str, Any], order: Sequence[str]) -> str:
    """`(Tensor, dim=str)`; torch leaves a comma behind when there are keywords only."""
    items = [type_name(arg) for arg in args] + [f"{key}={type_name(kwargs[key])}" for key in order]
    tail = ", " if items and not args else ""
    return f"({', '.join(items)}{tail})"


class _Expected:
    """A printed signature read back the way torch reads it, to say which arguments are wrong.

    That reading is literal: parameters are what stands between commas, the marker `*` among them, and of
    `Number alpha = 1` the name is `1`. Which hints appear depends on it.
    """

    __slots__ = ("names", "types")

    def __init__(self, signature: str) -> None:
        split = [item.rpartition(" ") for item in signature[1:-1].split(", ")]
        self.names = [name for _, _, name in split]
        self.types = [kind or name for kind, _, name in split]

    def counts(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        return len(args) + len(kwargs) == len(self.names)

    def unknown(self, keywords: Sequence[str]) -> list[str]:
        last = self.names[max(len(self.names) - len(keywords), 0) :]
        return [keyword for keyword in keywords if keyword not in last]

    def compared(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """The given types, wrong ones between exclamation marks."""
        parts = []
        for index in range(len(args) + len(kwargs)):
            named = index >= len(args)
            value = kwargs[self.names[index]] if named else args[index]
            prefix = f"{self.names[index]}=" if named else ""
            mark = "" if type_name(value) in _accepted(self.types[index]) else "!"
            parts.append(f"{mark}{prefix}{_described(value)}{mark}")
        return f"({', '.join(parts)})" if args or not parts else f"({', '.join(parts)}, )"


def _accepted(printed_type: str) -> tuple[str, ...]:
    if printed_type == "float":
        return ("float", "int", "long")
    return ("int", "long") if printed_type == "int" else (printed_type,)


def _described(value: object) -> str:
    """The type, with the types of its elements for lists and tuples."""
    if not isinstance(value, (tuple, list)):
        return type_name(value)
    inner = ", ".join(type_name(item) for item in value)
    if isinstance(value, tuple):
        return f"{type_name(value)} of ({inner}{',' if len(value) == 1 else ''})"
    return f"{type_name(value)} of [{inner}]"
