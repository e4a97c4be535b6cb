"""`torch._tensor_str`: the parts of a tensor's text, for classes that print themselves in the same style."""

from __future__ import annotations

from typing import Any

from ._naming import adopt
from .tensor.printing import PRINT_OPTS, contents_text, set_printoptions, tensor_text, with_suffixes

__all__ = ["PRINT_OPTS", "set_printoptions"]


def _tensor_str(self: Any, indent: int) -> str:
    """Return the numbers of a tensor, lines after the first indented."""
    return "[]" if self.numel() == 0 else contents_text(self, indent)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """Return the text with what follows the numbers, and the closing bracket."""
    return with_suffixes(tensor_str, suffixes, indent, force_newline)


def _str_intern(inp: Any, *, tensor_contents: str | None = None) -> str:
    """Return the whole text of a tensor."""
    return tensor_text(inp, tensor_contents)


def _str(self: Any, *, tensor_contents: str | None = None) -> str:
    """Return the whole text of a tensor."""
    return tensor_text(self, tensor_contents)


adopt(globals())
