"""What `mindtorch doctor` reports: which names of torch a program uses, which of them are missing, and where.

The sources are read, never run. Seen are names that start at an import of torch: `torch.x`, `nn.x` after `from torch
import nn`, in `getattr(torch, "x")` too. Methods of tensors are not seen: of an expression nobody knows the type.
"""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

from mindtorch_storage.lazy_import import load

THEIRS, OURS = "torch", "mindtorch"


@dataclass
class Use:
    """A name of torch (`torch.nn.Linear`) and the places that use it, as "file:line"."""

    name: str
    places: list[str] = field(default_factory=list)
    missing: bool = False
    reason: str = ""


def examine(paths: Iterable[Path]) -> tuple[list[Use], list[str]]:
    """Return the uses in the given files and folders, and a line for each file that cannot be read.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    uses: dict[str, Use] = {}
    problems = []
    for file in _files(paths):
        try:
            tree = ast.parse(file.read_bytes(), filename=str(file))
        except (SyntaxError, ValueError) as error:
            problems.append(f"{file}: {error}")
            continue
        for name, line in _Reader(tree).found():
            uses.setdefault(name, Use(name)).places.append(f"{file}:{line}")
    reasons = _reasons()
    for use in uses.values():
        use.missing = not exists(use.name)
        use.reason = _reason(use.name, reasons)
    return sorted(uses.values(), key=lambda use: use.name), problems


def report(uses: list[Use], problems: list[str]) -> list[str]:
    """Return the report as lines of text."""
    missing = [use for use in uses if use.missing]
    limited = [use for use in uses if use.reason and not use.missing]
    lines = [f"{len(uses)} names of torch are used, {len(missing)} are missing, {len(limited)} are offered in part"]
    for title, some in (("missing", missing), ("in part", limited)):
        for use in some:
            lines.append(f"{title}: {use.name}" + (f" ({use.reason})" if use.reason else ""))
            lines += [f"    {place}" for place in use.places]
    return lines + [f"not read: {problem}" for problem in problems]


def exists(name: str) -> bool:
    """Return whether MindTorch has what torch calls ``name``; imports the modules on the way."""
    value: Any = load(OURS)
    path = OURS
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if isinstance(value, ModuleType):
            found, value = _member(value, part, path)
        elif isinstance(value, type):
            found, value = hasattr(value, part), getattr(value, part, None)
        else:
            return True  # an attribute of a value: nothing of torch's names
        if not found:
            return False
    return True


def _member(module: ModuleType, part: str, path: str) -> tuple[bool, Any]:
    if hasattr(module, part):
        return True, getattr(module, part)
    if not hasattr(module, "__path__"):
        return False, None
    try:
        return True, load(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return False, None


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        elif path.exists():
            yield path
        else:
            raise FileNotFoundError(f"no such file: {path}")


def _reasons() -> dict[str, str]:
    text = resources.files("mindtorch.data").joinpath("unsupported.toml").read_text()
    return {key: reason for key, reason in tomllib.loads(text)["features"].items() if key.startswith(f"{THEIRS}.")}


def _reason(name: str, reasons: dict[str, str]) -> str:
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        reason = reasons.get(".".join(parts[:length]))
        if reason is not None:
            return reason
    return ""


class _Reader:
    """Finds the names of torch in one file."""

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self._bound: dict[str, str] = {}  # what a name of the file stands for: "nn" for "torch.nn"
        self._uses: list[tuple[str, int]] = []

    def found(self) -> list[tuple[str, int]]:
        """Return names of torch with their lines, imports first."""
        nodes = list(ast.walk(self._tree))
        for node in nodes:
            self._import(node)
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                self._chain(node)
            elif isinstance(node, ast.Call):
                self._getattr(node)
        return self._uses

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_torch(alias.name):
                    self._uses.append((alias.name, node.lineno))
                    self._bound[alias.asname or THEIRS] = alias.name if alias.asname else THEIRS
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _is_torch(node.module):
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                self._uses.append((name, node.lineno))
                if alias.name != "*":
                    self._bound[alias.asname or alias.name] = name

    def _chain(self, node: ast.expr) -> None:
        name = self._name(node)
        if name is not None:
            self._uses.append((name, node.lineno))

    def _getattr(self, node: ast.Call) -> None:
        match node:
            # With a default or in hasattr the program is ready for the name's absence.
            case ast.Call(func=ast.Name("getattr"), args=[target, ast.Constant(str(part))]):
                base = self._name(target)
                if base is not None:
                    self._uses.append((f"{base}.{part}", node.lineno))

    def _name(self, node: ast.expr) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._bound:
            return None
        return ".".join([self._bound[node.id], *reversed(parts)])


def _is_torch(name: str) -> bool:
    return name == THEIRS or name.startswith(THEIRS + ".")
