"""The source of functions: their syntax, what their names mean, and the errors that name a place in it."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


class NotCompiled(NotImplementedError):
    """A part of TorchScript that this compiler lacks."""


class UnsupportedNodeError(NotImplementedError):
    """Syntax that TorchScript does not have."""

    certain = True


class NotSupportedError(RuntimeError):
    """A form of a function that TorchScript does not have."""

    certain = True


UnsupportedNodeError.__module__ = NotSupportedError.__module__ = "torch.jit.frontend"


class Source:
    """The definition of a function: its syntax, its file, and the names that it sees."""

    def __init__(self, function: Callable[..., Any]) -> None:
        function = inspect.unwrap(function)
        self.function = getattr(function, "__func__", function)
        try:
            lines, first = inspect.getsourcelines(self.function)
            self.file = inspect.getsourcefile(self.function) or "<string>"
        except (OSError, TypeError) as error:
            name = getattr(self.function, "__qualname__", type(function).__name__)
            raise OSError(f"Can't get source for {name}. TorchScript requires source access in order to carry out "
                          "compilation, make sure original .py files are available.") from error  # fmt: skip
        text = "".join(lines)
        self._indent = len(text) - len(text.lstrip())
        self.first = max(first, 1)
        try:
            tree = ast.parse(textwrap.dedent(text))
        except SyntaxError:  # a lambda in the middle of a statement
            raise RuntimeError("Expected a single top-level function") from None
        if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
            raise RuntimeError(f"Expected a single top-level function: {self.file}:{self.first}")
        self.syntax: ast.FunctionDef = tree.body[0]
        self._lines = textwrap.dedent(text).splitlines()

    def place(self, node: ast.AST) -> str:
        """Return `file:line:column`."""
        return f"{self.file}:{self.first + node.lineno - 1}:{node.col_offset + self._indent}"  # type: ignore[attr-defined]

    def shown(self, node: ast.AST) -> str:
        """Return the lines around a part of the source, with the part underlined."""
        line, start = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else None
        here = self._lines[line - 1]
        before = max(0, line - 4)
        lines = [f'  File "{self.file}", line {self.first + line - 1}']
        pad = " " * self._indent
        lines += [pad + one for one in self._lines[before:line]]
        lines.append(pad + " " * start + "~" * max(1, (end or len(here)) - start) + " <--- HERE")
        lines += [pad + one for one in self._lines[line : line + 3]]
        return "\n".join(lines) + "\n"

    def error(self, node: ast.AST, message: str, certain: bool = False) -> RuntimeError:
        """Return the error of a compiler for a part of the source. `certain`: torch, too, would not compile it."""
        made = RuntimeError(f"\n{message}:\n{self.shown(node)}")
        made.certain = certain  # type: ignore[attr-defined]
        return made

    def unsupported(self, node: ast.AST, message: str) -> UnsupportedNodeError:
        """Return the error for syntax that TorchScript does not have."""
        return UnsupportedNodeError(f"{message}:\n{self.shown(node)}")

    def find(self, name: str) -> Any:
        """Return what a free name of the function means. Raises KeyError when it means nothing."""
        code, closure = self.function.__code__, self.function.__closure__ or ()
        if name in code.co_freevars:
            return closure[code.co_freevars.index(name)].cell_contents
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return vars(builtins)[name]
