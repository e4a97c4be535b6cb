"""What happens to each module that a package meets, and what is said when it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ._digraph import DiGraph

DISALLOWED_MODULES = ("sys", "io")
"""Modules of the standard library that reach too much of the system to be taken without being asked for."""


class _ModuleProviderAction(Enum):
    """What an exporter does with a module."""

    INTERN = 1
    EXTERN = 2
    MOCK = 3
    DENY = 4
    REPACKAGED_MOCK_MODULE = 5
    """The module of mocked objects that a package had: this one has its own."""
    SKIP = 6
    """`torch_package_importer`, which every importer provides itself."""


class PackagingErrorReason(Enum):
    """Why a module cannot be packaged.

    >>> str(torch.package.package_exporter.PackagingErrorReason.DENIED)
    'PackagingErrorReason.DENIED'
    """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}>"

    IS_EXTENSION_MODULE = "Module is a C extension module. torch.package supports Python modules only."
    NO_DUNDER_FILE = "Module had no __file__ defined."
    SOURCE_FILE_NOT_FOUND = "Module had a __file__, but we could not find it in your filesystem."
    DEPENDENCY_RESOLUTION_FAILED = "Dependency resolution failed."
    NO_ACTION = "Module did not match against any action pattern. Extern, mock, or intern it."
    DENIED = "Module was denied by a pattern."
    MOCKED_BUT_STILL_USED = (
        "Module was mocked out, but is still being used in the package. Please intern or extern the mocked modules if "
        "objects are supposed to be in the package."
    )


@dataclass
class _PatternInfo:
    """What is done with the modules that match a pattern."""

    action: _ModuleProviderAction
    allow_empty: bool
    was_matched: bool = False


class EmptyMatchError(Exception):
    """A pattern that must match a module, `allow_empty=False`, matched none."""


class PackagingError(Exception):
    """Modules that cannot be packaged, all of them at once; `dependency_graph` has what needs them."""

    def __init__(self, dependency_graph: DiGraph, debug: bool = False) -> None:
        broken: dict[PackagingErrorReason, list[str]] = {}
        for name, found in dependency_graph.nodes.items():
            if found.get("error") is not None:
                broken.setdefault(found["error"], []).append(name)
        lines = [""]
        for reason, names in broken.items():
            lines.append(f"* {reason.value}")
            for name in names:
                lines += _report(dependency_graph, name, debug)
        if not debug:
            lines += [
                "",
                "Set debug=True when invoking PackageExporter for a visualization of where broken modules are coming "
                "from!",
            ]
        self.dependency_graph = dependency_graph
        super().__init__("\n".join(lines) + "\n")


def _report(graph: DiGraph, name: str, debug: bool) -> list[str]:
    lines = [f"    {name}"]
    context = graph.nodes[name].get("error_context")
    if context is not None:
        lines.append(f"      Context: {context}")
    if name in DISALLOWED_MODULES:
        lines.append(
            "      Note: While we usually use modules in the python standard library from the local environment, "
            f"`{name}` has a lot of system level access and therefore can pose a security risk. We heavily recommend "
            f"removing `{name}` from your packaged code. However, if that is not possible, add it to the extern list "
            f'by calling PackageExporter.extern("`{name}`")'
        )
    if debug:
        lines.append(f"      A path to {name}: {' -> '.join(graph.first_path(name))}")
    return lines
