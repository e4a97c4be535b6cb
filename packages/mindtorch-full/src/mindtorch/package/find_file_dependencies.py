"""`torch.package.find_file_dependencies`: what the import statements of a source file name."""

from __future__ import annotations

import ast

from mindtorch._naming import adopt

from ._importlib import _resolve_name

__all__ = ["find_files_source_depends_on"]


class _References(ast.NodeVisitor):
    """Collects (module, name in it or None) of all imports, in their order."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.found: dict[tuple[str, str | None], None] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.found[(alias.name, None)] = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level:
            module = _resolve_name(module, self.package, node.level)
        for alias in node.names:
            # The name may be that of a submodule: who asks finds out.
            self.found[(module, None if alias.name == "*" else alias.name)] = None

    def visit_Call(self, node: ast.Call) -> None:
        # `__import__("a", ...)` is a dependency where its arguments are written out.
        if isinstance(node.func, ast.Name) and node.func.id == "__import__":
            given = dict(zip(("name", "globals", "locals", "fromlist", "level"), node.args, strict=False))
            self._called({**{word.arg or "": word.value for word in node.keywords}, **given})

    def _called(self, given: dict[str, ast.expr]) -> None:
        values = {name: _written(given.get(name)) for name in ("name", "fromlist", "level")}
        name, names, level = values["name"], values["fromlist"] or (), values["level"] or 0
        if not isinstance(name, str) or not isinstance(names, (list, tuple)) or not isinstance(level, int):
            return
        if names:
            module = _resolve_name(name, self.package, level) if level else name
            self.found |= {(module, None if one == "*" else one): None for one in names}
            return
        # Without names it gives the package that is first in the name.
        self.found[(name, None)] = None
        package = name.rpartition(".")[0]
        if package:
            self.found[(_resolve_name(package, self.package, level) if level else package, None)] = None


def _written(node: ast.expr | None) -> object:
    """The value of an expression of constants, None for others."""
    try:
        return None if node is None else ast.literal_eval(node)
    except ValueError:
        return None


def find_files_source_depends_on(src: str, package: str) -> list[tuple[str, str | None]]:
    r"""Return the modules that a source imports, each with the name it takes from there.

    Args:
        package: what relative imports start from.

    >>> torch.package.find_file_dependencies.find_files_source_depends_on(
    ...     "import math\nfrom os import path\n", "model"
    ... )
    [('math', None), ('os', 'path')]
    """
    visitor = _References(package)
    visitor.visit(ast.parse(src))
    return list(visitor.found)


adopt(globals())
