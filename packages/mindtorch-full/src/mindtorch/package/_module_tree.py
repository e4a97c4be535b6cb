"""The modules of a package as a tree: folders, source files, and names that are imported from outside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class PackageNode:
    """A folder; `source_file` is its `__init__`, where it has one."""

    def __init__(self) -> None:
        self.source_file: str | None = None
        self.children: dict[str, Node] = {}


class ModuleNode(NamedTuple):
    """A source file."""

    source_file: str


class ExternNode:
    """A module that is imported from outside, and all below it."""


Node = PackageNode | ModuleNode | ExternNode


def _folder(root: PackageNode, parts: list[str]) -> PackageNode | None:
    """Return the folder of that path, which is made; None below a module from outside."""
    place = root
    for depth, part in enumerate(parts):
        node = place.children.setdefault(part, PackageNode())
        if isinstance(node, ExternNode):
            return None
        if isinstance(node, ModuleNode):
            name = ".".join(parts[:depth])
            raise ImportError(f"inconsistent module structure. module {name} is not a package, but has submodules")
        place = node
    return place


def _add_file(root: PackageNode, filename: str) -> None:
    *parts, last = filename.split("/")
    if len(parts) > 1 and parts[0] == ".data":
        return
    folder = _folder(root, parts)
    if folder is None:
        raise ImportError(
            f"inconsistent module structure. package contains a module file {filename} that is a subpackage of a module "
            "marked external."
        )
    if last == "__init__.py":
        folder.source_file = filename
    elif last.endswith(".py"):
        folder.children[last.removesuffix(".py")] = ModuleNode(filename)


def module_tree(files: Iterable[str], external: Iterable[str]) -> PackageNode:
    """Return the tree of the files in an archive and of the modules from outside."""
    root = PackageNode()
    for name in external:
        *parts, last = name.split(".")
        folder = _folder(root, parts)
        if folder is not None:  # else what is above it comes from outside already
            folder.children[last] = ExternNode()
    for filename in files:
        _add_file(root, filename)
    return root


def find_node(root: PackageNode, name: str) -> Node | None:
    """Return what a dotted name stands for, None where there is nothing; what is below an external name is external."""
    node: Node = root
    for part in name.split("."):
        if isinstance(node, ExternNode):
            return node
        if not isinstance(node, PackageNode) or part not in node.children:
            return None
        node = node.children[part]
    return node
