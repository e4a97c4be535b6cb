"""Which files an import of a program runs, and what of a file runs then: `mindtorch doctor` asks without running it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from importlib.metadata import distributions
from pathlib import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ABSENCE = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}


def at_import(tree: ast.AST) -> dict[int, bool]:
    """Return the nodes, by identity, that run when the file is imported; of each whether it is guarded.

    Guarded is what stands in a `try` that handles a name's absence. Bodies of functions run later, and what stands under
    `if TYPE_CHECKING` never does.
    """
    found: dict[int, bool] = {}
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, guarded = waiting.pop()
        found[id(node)] = guarded
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += [(one, guarded) for one in node.orelse]
        elif isinstance(node, _FUNCTIONS):
            waiting += [(one, guarded) for one in _head(node)]
        elif isinstance(node, ast.Try):
            inside = guarded or any(_handles_absence(handler) for handler in node.handlers)
            waiting += [(one, inside) for one in node.body]
            waiting += [(one, guarded) for one in (*node.handlers, *node.orelse, *node.finalbody)]
        else:
            waiting += [(one, guarded) for one in ast.iter_child_nodes(node)]
    return found


def _head(node: ast.AST) -> list[ast.AST]:
    """What of a function is evaluated where it is defined."""
    arguments: ast.arguments = node.args  # type: ignore[attr-defined]
    defaults = [one for one in (*arguments.defaults, *arguments.kw_defaults) if one is not None]
    return [*getattr(node, "decorator_list", ()), *defaults]


def _handles_absence(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & _ABSENCE)


class Reach:
    """Follows imports from file to file, in the given folders and in installed packages that require torch."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._folders = [str(root.parent) for root in roots]
        self._wanted: set[str] | None = None

    def files(self, starts: Iterable[Path]) -> set[Path]:
        """Return the files that an import of ``starts`` runs, these included."""
        reached: set[Path] = set()
        waiting = [file.resolve() for file in starts]
        while waiting:
            file = waiting.pop()
            if file in reached or file.suffix != ".py":
                continue
            reached.add(file)
            waiting += self._imported(file)
        return reached

    def _imported(self, file: Path) -> Iterator[Path]:
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            return  # the report names it
        run = at_import(tree)
        for node in ast.walk(tree):
            if id(node) not in run:
                continue
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._modules(alias.name)
            elif isinstance(node, ast.ImportFrom):
                yield from self._from(file, node)

    def _from(self, file: Path, node: ast.ImportFrom) -> Iterator[Path]:
        names = [alias.name for alias in node.names]
        if not node.level:
            module = node.module or ""
            for name in ("", *names):
                yield from self._modules(f"{module}.{name}" if name else module)
            return
        folder = file.parent
        for _ in range(node.level - 1):
            folder = folder.parent
        parts = (node.module or "").split(".") if node.module else []
        for name in ("", *names):
            yield from _below(folder, [*parts, name] if name else parts)

    def _modules(self, name: str) -> Iterator[Path]:
        """The files of a module and of the packages around it."""
        top, *parts = name.split(".")
        if top in sys.stdlib_module_names or top in ("torch", "mindtorch"):
            return
        spec = PathFinder.find_spec(top, self._folders)
        if spec is None and top in self._installed():
            spec = PathFinder.find_spec(top)
        if spec is None or spec.origin is None:
            return
        yield Path(spec.origin).resolve()
        if spec.submodule_search_locations:
            yield from _below(Path(spec.origin).resolve().parent, parts)

    def _installed(self) -> set[str]:
        """The packages of the distributions that require torch."""
        if self._wanted is None:
            self._wanted = {
                file.parts[0]
                for one in distributions()
                if any(requirement.startswith("torch") for requirement in one.requires or ())
                for file in one.files or ()
                if file.name == "__init__.py"
            }
        return self._wanted


def _below(folder: Path, parts: list[str]) -> Iterator[Path]:
    """The files that an import of `folder.part.part` runs below the folder."""
    if not parts and (folder / "__init__.py").exists():
        yield (folder / "__init__.py").resolve()
    for part in parts:
        folder = folder / part
        for file in (folder.with_suffix(".py"), folder / "__init__.py"):
            if file.exists():
                yield file.resolve()
