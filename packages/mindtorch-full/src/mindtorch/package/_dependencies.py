"""What an exporter finds out about modules: their patterns, their source and what they import."""

from __future__ import annotations

import importlib.machinery
import linecache
from collections import OrderedDict
from collections.abc import Callable, Iterable
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

from mindtorch.utils.hooks import RemovableHandle
from mindtorch_autograd.hooks import add_hook

from ._digraph import DiGraph
from ._mangling import demangle, is_mangled
from ._packaging import DISALLOWED_MODULES, PackagingErrorReason, _ModuleProviderAction, _PatternInfo
from ._stdlib import is_stdlib_module
from .find_file_dependencies import find_files_source_depends_on
from .glob_group import GlobGroup, GlobPattern
from .importer import Importer

_SPECIAL = {
    "torch_package_importer": _ModuleProviderAction.SKIP,
    "_mock": _ModuleProviderAction.REPACKAGED_MOCK_MODULE,
}
_ALWAYS_THERE = ("torch", "mindtorch")

_FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError),
    *(SyntaxError, TypeError, ValueError),
)

ActionHook = Callable[[Any, str], object]


class Dependencies:
    """The graph of modules and pickles of a package, and the patterns that say what is done with each."""

    importer: Importer

    def __init__(self) -> None:
        self.dependency_graph = DiGraph()
        self.patterns: dict[GlobGroup, _PatternInfo] = {}
        self._extern_hooks: OrderedDict[int, ActionHook] = OrderedDict()
        self._mock_hooks: OrderedDict[int, ActionHook] = OrderedDict()
        self._intern_hooks: OrderedDict[int, ActionHook] = OrderedDict()

    # Patterns

    def _add_pattern(
        self, action: _ModuleProviderAction, include: GlobPattern, exclude: GlobPattern, allow_empty: bool
    ) -> None:
        self.patterns[GlobGroup(include, exclude=exclude)] = _PatternInfo(action, allow_empty)

    def intern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Put modules of these names, and what they import, into the package.

        Args:
            include, exclude: as for :class:`GlobGroup`.
            allow_empty: False to have `close` raise where no module matched.
        """
        self._add_pattern(_ModuleProviderAction.INTERN, include, exclude, allow_empty)

    def extern(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Have modules of these names imported where the package is loaded, from outside it."""
        self._add_pattern(_ModuleProviderAction.EXTERN, include, exclude, allow_empty)

    def mock(self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True) -> None:
        """Put modules in the place of those of these names that have any attribute, and raise when one is used."""
        self._add_pattern(_ModuleProviderAction.MOCK, include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Raise PackagingError where a module of these names is needed."""
        self._add_pattern(_ModuleProviderAction.DENY, include, exclude, True)

    def _pattern_of(self, module_name: str) -> _PatternInfo | None:
        return next((info for pattern, info in self.patterns.items() if pattern.matches(module_name)), None)

    def register_extern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Have `hook(exporter, module_name)` called for each module that is imported from outside the package."""
        return add_hook(self._extern_hooks, hook)

    def register_mock_hook(self, hook: ActionHook) -> RemovableHandle:
        """Have `hook(exporter, module_name)` called for each module that is mocked."""
        return add_hook(self._mock_hooks, hook)

    def register_intern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Have `hook(exporter, module_name)` called for each module that is put into the package."""
        return add_hook(self._intern_hooks, hook)

    # Modules

    def _import_module(self, module_name: str) -> ModuleType:
        try:
            return self.importer.import_module(module_name)
        except ModuleNotFoundError:
            if not is_mangled(module_name):
                raise
        raise ModuleNotFoundError(
            f"Module not found: '{module_name}'. Make sure the PackageImporter that created this module is present in "
            "`self.importer`"
        )

    def _module_exists(self, module_name: str) -> bool:
        try:
            self._import_module(module_name)
        except _FAILURES:  # a module that raises while it is imported cannot be had either
            return False
        return True

    def _get_source_of_module(self, module: ModuleType) -> str | None:
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        filename = getattr(module, "__file__", None)
        if isinstance(loader, SourceFileLoader) and module.__name__ == loader.name:
            filename = loader.get_filename(module.__name__)
        if isinstance(filename, str) and filename.endswith(".py"):
            return "".join(linecache.getlines(filename, module.__dict__))
        return None

    def _get_dependencies(self, src: str, module_name: str, is_package: bool) -> list[str]:
        """Return the modules that a source imports, each once."""
        package = module_name if is_package else module_name.rpartition(".")[0] or module_name
        try:
            named = find_files_source_depends_on(src, package)
        except (SyntaxError, ImportError, ValueError) as error:
            self.dependency_graph.add_node(
                module_name, error=PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED, error_context=str(error)
            )
            return []
        found: dict[str, None] = {}
        for module, name in named:
            # Of `from package import submodule` the submodule is needed, and the package is not.
            submodule = f"{module}.{name}"
            if name is not None and self._module_exists(submodule):
                found[submodule] = None
            elif self._module_exists(module):
                found[module] = None
        return list(found)

    def _add_dependencies_of(self, module_name: str, src: str, is_package: bool) -> None:
        for needed in self._get_dependencies(src, module_name, is_package):
            self.dependency_graph.add_edge(module_name, needed)
            self.add_dependency(needed)

    def _can_implicitly_extern(self, module_name: str) -> bool:
        top = module_name.partition(".")[0]
        return top in _ALWAYS_THERE or (top not in DISALLOWED_MODULES and is_stdlib_module(top))

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Add a module to the graph, with what its pattern says is done with it."""
        graph = self.dependency_graph
        if module_name in graph and graph.nodes[module_name].get("provided") is True:
            return
        action = _SPECIAL.get(module_name)
        if action is None and self._can_implicitly_extern(module_name):
            action = _ModuleProviderAction.EXTERN
        if action is not None:
            graph.add_node(module_name, action=action, provided=True)
            return
        pattern = self._pattern_of(module_name)
        if pattern is None:
            graph.add_node(module_name, error=PackagingErrorReason.NO_ACTION)
            return
        pattern.was_matched = True
        graph.add_node(module_name, action=pattern.action, provided=True)
        if pattern.action is _ModuleProviderAction.DENY:
            graph.add_node(module_name, error=PackagingErrorReason.DENIED)
        elif pattern.action is _ModuleProviderAction.INTERN:
            self._intern_module(module_name, dependencies)

    def _intern_module(self, module_name: str, dependencies: bool) -> None:
        """Add a module to the graph with its source."""
        module = self._import_module(module_name)
        module_name = demangle(module_name)  # packages name modules as their programs do
        is_package = hasattr(module, "__path__")
        source = self._get_source_of_module(module)
        node = {"action": _ModuleProviderAction.INTERN, "is_package": is_package, "provided": True}
        if source is None:
            self.dependency_graph.add_node(module_name, **node, **_why_no_source(getattr(module, "__file__", None)))
            return
        self.dependency_graph.add_node(module_name, source=source, **node)
        if dependencies:
            self._add_dependencies_of(module_name, source, is_package)

    # Questions

    def _nodes_with_action_type(self, action: _ModuleProviderAction) -> list[str]:
        nodes: Iterable[tuple[str, dict[str, Any]]] = self.dependency_graph.nodes.items()
        return sorted(name for name, found in nodes if found.get("action") is action and "is_pickle" not in found)

    def externed_modules(self) -> list[str]:
        """Return the modules that are imported from outside the package."""
        return self._nodes_with_action_type(_ModuleProviderAction.EXTERN)

    def interned_modules(self) -> list[str]:
        """Return the modules that are put into the package."""
        return self._nodes_with_action_type(_ModuleProviderAction.INTERN)

    def mocked_modules(self) -> list[str]:
        """Return the modules that are mocked."""
        return self._nodes_with_action_type(_ModuleProviderAction.MOCK)

    def denied_modules(self) -> list[str]:
        """Return the modules that are needed and must not be."""
        return self._nodes_with_action_type(_ModuleProviderAction.DENY)

    def get_rdeps(self, module_name: str) -> list[str]:
        """Return the modules that need this one."""
        graph = self.dependency_graph
        return list(graph.predecessors(module_name)) if module_name in graph else []

    def all_paths(self, src: str, dst: str) -> str:
        """Return the paths from one module to another as a graph in the dot language."""
        return self.dependency_graph.all_paths(src, dst)

    def dependency_graph_string(self) -> str:
        """Return the graph in the dot language."""
        return self.dependency_graph.to_dot()


def _why_no_source(filename: str | None) -> dict[str, Any]:
    if filename is None:
        return {"error": PackagingErrorReason.NO_DUNDER_FILE, "error_context": None}
    if filename.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return {"error": PackagingErrorReason.IS_EXTENSION_MODULE, "error_context": None}
    return {"error": PackagingErrorReason.SOURCE_FILE_NOT_FOUND, "error_context": f"filename: {filename}"}
