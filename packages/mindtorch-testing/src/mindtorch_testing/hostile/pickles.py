"""Writes pickles that no pickler would: values, names, calls and states in any combination."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Name:
    """A name that the file mentions: `Name("torch", "Size")`."""

    module: str
    name: str


@dataclass
class Raw:
    """Bytes that go into the pickle as they are."""

    code: bytes


@dataclass
class Call:
    """A function applied to arguments (REDUCE), or with `new` an object of a class (NEWOBJ)."""

    function: Any
    args: Any
    new: bool = False


@dataclass
class Build:
    """An object that is given a state (BUILD)."""

    target: Any
    state: Any


@dataclass
class Stored:
    """The persistent id of a storage."""

    saved_id: Any


@dataclass
class Pairs:
    """A dictionary of these items, which need not be hashable here."""

    items: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass
class Remembered:
    """A value that is kept under a number, and, without a value, the one that was."""

    number: int
    value: Any = None


def torch_name(full_name: str) -> Name:
    """A name of torch by its dotted path."""
    return Name(*full_name.rsplit(".", 1))


def stored(key: Any, kind: str, count: Any, location: Any = "cpu") -> Stored:
    """A storage of the archive: its record, class and number of elements."""
    return Stored(("storage", Name("torch", kind), key, location, count))


def _integer(value: int) -> bytes:
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes((min(len(data), 255),)) + data[:255]


def _plain(value: Any) -> bytes | None:
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"\x88" if value else b"\x89"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"X" + struct.pack("<I", len(text)) + text
    if isinstance(value, bytes):
        return b"U" + bytes((min(len(value), 255),)) + value[:255]
    return value.code if isinstance(value, Raw) else None


def _remembered(value: Remembered) -> bytes:
    if value.value is None:
        return b"j" + struct.pack("<I", value.number)
    return encode(value.value) + b"r" + struct.pack("<I", value.number)


def encode(value: Any) -> bytes:
    """The operations that make a value."""
    plain = _plain(value)
    if plain is not None:
        return plain
    if isinstance(value, Name):
        return f"c{value.module}\n{value.name}\n".encode("utf-8", "surrogatepass")
    if isinstance(value, Call):
        return encode(value.function) + encode(value.args) + (b"\x81" if value.new else b"R")
    if isinstance(value, Build):
        return encode(value.target) + encode(value.state) + b"b"
    if isinstance(value, Stored):
        return encode(value.saved_id) + b"Q"
    if isinstance(value, Remembered):
        return _remembered(value)
    if isinstance(value, tuple):
        return b"(" + b"".join(map(encode, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(encode, value)) + b"e"
    if isinstance(value, dict):
        value = Pairs(list(value.items()))
    if isinstance(value, Pairs):
        return b"}(" + b"".join(encode(key) + encode(item) for key, item in value.items) + b"u"
    raise TypeError(f"no way to write a {type(value).__name__}")


def pickled(value: Any) -> bytes:
    """A whole pickle of protocol 2."""
    return b"\x80\x02" + encode(value) + b"."
