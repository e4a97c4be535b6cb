"""Imports are seen at the top of modules and go round nowhere; the few that are made by name have a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BY_NAME = {
    "mindtorch/package/_importlib.py": "packages name the modules that their code takes from outside",
    "mindtorch_dispatch/table/families.py": "every file of a folder is a family",
    "mindtorch_distributed/mpi/library.py": "mpi4py starts MPI when it is imported, unless it is told first",
    "mindtorch_npu/acl/loader.py": "the vendor's module, or the simulator, which a host with devices never loads",
    "mindtorch_npu/simulator/__init__.py": "the library is a module of its own, which is replaced whole",
    "mindtorch_npu/simulator/dtypes.py": "ml_dtypes, only where bfloat16 is simulated",
    "mindtorch_npu/simulator/kernels/__init__.py": "every file of a folder is a family",
    "mindtorch_npu/simulator/kernels/_special.py": "scipy, only where its functions are called",
    "mindtorch_proxy/child_site/sitecustomize.py": "the start of another process",
    "mindtorch_proxy/finder.py": "asked for by importlib.metadata alone, and not at every start of Python",
    "mindtorch_proxy/loaders.py": "names are imported for another name",
    "mindtorch_storage/lazy_import.py": "where modules that take long are imported when they are first used",
}
"""Files with calls of `importlib.import_module`."""


def modules() -> dict[str, Path]:
    """Every module of the product by its name."""
    found = {}
    for source in sorted((ROOT / "packages").glob("*/src")):
        for file in source.rglob("*.py"):
            name = ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
            found[name] = file
    return found


MODULES = modules()


def at_import(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that run when a module is imported."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            for field in ("body", "orelse", "finalbody"):
                if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                    yield from at_import(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from at_import(handler.body)


def imported(name: str, file: Path) -> set[str]:
    """The modules that a module imports, but the packages it lies in, which are being imported then."""
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in at_import(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            continue
        lead = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*lead, *([node.module] if node.module else [])])
        found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names}
    return {one for one in found & set(MODULES) if one != name and not name.startswith(f"{one}.")}


def circles(graph: dict[str, set[str]]) -> set[str]:
    """What is left of a graph when all that no circle goes through is taken away."""
    left = dict(graph)
    while True:
        needed = set().union(*left.values()) if left else set()
        ends = {name for name, used in left.items() if not used & left.keys() or name not in needed}
        if not ends:
            return set(left)
        left = {name: used - ends for name, used in left.items() if name not in ends}


def test_circles_are_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"b", "c"}


def test_no_import_goes_in_a_circle():
    graph = {name: imported(name, file) for name, file in MODULES.items()}
    assert len(graph) > 1000
    assert graph["mindtorch_dispatch.call"] >= {"mindtorch_dispatch.arguments.binding", "mindtorch_storage.tensor_base"}
    assert circles(graph) == set()


def test_modules_are_imported_by_name_in_few_places_and_for_a_reason():
    calls = {}
    for name, file in MODULES.items():
        if name.split(".")[0] == "mindtorch_testing":
            continue
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "import_module" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
                place = file.as_posix().partition("/src/")[2]
                calls.setdefault(place, []).append(node.lineno)
    assert calls.keys() == BY_NAME.keys()
    assert sum(map(len, calls.values())) <= 15
