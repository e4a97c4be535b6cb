"""Where the modules that cannot be packaged were met first."""

from mindtorch._naming import adopt
from mindtorch.package.package_exporter import PackagingError

__all__ = ["find_first_use_of_broken_modules"]


def find_first_use_of_broken_modules(exc: PackagingError) -> dict[str, list[str]]:
    """Return, for each module that an error reports, the path of modules that led to it."""
    if not isinstance(exc, PackagingError):
        raise AssertionError(f"exception must be a PackagingError, got {type(exc).__name__}")
    graph = exc.dependency_graph
    return {name: graph.first_path(name) for name, found in graph.nodes.items() if found.get("error")}


adopt(globals())
