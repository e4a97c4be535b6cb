"""Layouts and memory formats: named singletons."""

from __future__ import annotations

import sys
from typing import Any

from mindtorch_storage._pickling import is_importable_as
from mindtorch_storage.sealed import sealed


@sealed
class layout:
    """How a tensor arranges its elements. MindTorch computes with `strided` ones.

    >>> torch.ones(2).layout
    torch.strided
    >>> isinstance(torch.strided, torch.layout)
    True
    """

    __slots__ = ("_name",)
    __module__ = "torch"

    _name: str

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        found = (
            sys.modules["torch"].serialization._get_layout
            if is_importable_as("torch", self._name, self)
            else get_layout
        )
        return found, (repr(self),)


@sealed
class memory_format:
    """An order of dimensions in memory.

    >>> torch.ones(1, 2, 3, 4).is_contiguous(memory_format=torch.channels_last)
    False
    >>> isinstance(torch.channels_last, torch.memory_format)
    True
    """

    __slots__ = ("_name",)
    __module__ = "torch"

    _name: str

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if is_importable_as("torch", self._name, self):
            return self._name
        return _memory_format_named, (self._name,)


def _make(kind: type, name: str) -> Any:
    new: Any = object.__new__(kind)
    object.__setattr__(new, "_name", name)
    return new


strided: layout = _make(layout, "strided")
sparse_coo: layout = _make(layout, "sparse_coo")
sparse_csr: layout = _make(layout, "sparse_csr")
sparse_csc: layout = _make(layout, "sparse_csc")
sparse_bsr: layout = _make(layout, "sparse_bsr")
sparse_bsc: layout = _make(layout, "sparse_bsc")
jagged: layout = _make(layout, "jagged")
_mkldnn: layout = _make(layout, "_mkldnn")

contiguous_format: memory_format = _make(memory_format, "contiguous_format")
preserve_format: memory_format = _make(memory_format, "preserve_format")
channels_last: memory_format = _make(memory_format, "channels_last")
channels_last_3d: memory_format = _make(memory_format, "channels_last_3d")
legacy_contiguous_format = contiguous_format

LAYOUTS: dict[str, layout] = {
    repr(each): each for each in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, _mkldnn, jagged)
}
MEMORY_FORMATS: dict[str, memory_format] = {
    repr(each): each for each in (contiguous_format, preserve_format, channels_last, channels_last_3d)
}


NAMED: dict[str, layout | memory_format] = {
    **{repr(each).partition(".")[2]: each for each in LAYOUTS.values()},
    **{repr(each).partition(".")[2]: each for each in MEMORY_FORMATS.values()},
    "legacy_contiguous_format": contiguous_format,
}
"""Every layout and memory format by its name in `torch`."""


def get_layout(name: str) -> layout:
    """The layout with this `repr`; what pickles of layouts call."""
    return LAYOUTS[name]


def _memory_format_named(name: str) -> memory_format:
    return MEMORY_FORMATS[f"torch.{name}"]


def layout_name(value: layout | None) -> str:
    """Return the name of a layout in error texts: `SparseCsr`."""
    if value is None:
        return "none"
    if value is strided:
        return "Strided"
    return "Sparse" + str(value).removeprefix("torch.sparse_").capitalize().replace("Coo", "")
