"""The layers as they are at run time and in names; import-linter only sees static imports (docs/decisions/0001)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOWER = {
    "mindtorch_storage": set(),
    "mindtorch_dispatch": {"mindtorch_storage"},
    "mindtorch_autograd": {"mindtorch_dispatch", "mindtorch_storage"},
    "mindtorch_cpu": {"mindtorch_dispatch", "mindtorch_storage"},
    "mindtorch_distributed": set(),
    "mindtorch_npu": set(),
    "mindtorch_runtime": {"mindtorch_dispatch", "mindtorch_storage"},
    "mindtorch_proxy": set(),
    "mindtorch": {
        "mindtorch_autograd",
        "mindtorch_cpu",
        "mindtorch_dispatch",
        "mindtorch_distributed",
        "mindtorch_proxy",
        "mindtorch_runtime",
        "mindtorch_storage",
    },
}
ALL = {*LOWER, "mindtorch_testing"}


def loaded_by(module: str) -> set[str]:
    """Top-level names that a new process has loaded after importing `module`, beyond those of a bare one."""
    code = f"import sys; bare = set(sys.modules); import {module}; print(*(set(sys.modules) - bare))"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd="/")
    return {name.split(".")[0] for name in shown.stdout.split()}


@pytest.mark.parametrize("package", LOWER)
def test_import_loads_lower_layers_only(package):
    loaded = loaded_by(package)
    assert loaded & ALL <= {package} | LOWER[package]
    assert not loaded & {"torch", "transformers", "pytest"}


@pytest.mark.parametrize("package", ["mindtorch_npu", "mindtorch_proxy"])
def test_import_needs_the_standard_library_only(package):
    assert loaded_by(package) <= {package} | set(sys.stdlib_module_names)


def imports_of(file: Path):
    """(line, dotted name) of every absolute import in `file`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


@pytest.mark.parametrize("package", sorted(ALL))
def test_private_names_stay_inside_their_distribution(package):
    (folder,) = ROOT.glob(f"packages/*/src/{package}")
    crossing = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in sorted(folder.rglob("*.py"))
        for line, name in imports_of(file)
        if name.split(".")[0] in ALL - {package} and is_private(name)
    ]
    # mindtorch_testing looks into the table on purpose; product code does not.
    assert package == "mindtorch_testing" or not crossing, "\n".join(crossing)


LATE_IMPORTS = {
    "mindtorch/package/_importlib.py": "packages name the modules that their code takes from outside",
    "mindtorch_dispatch/table/families.py": "being in the folder is all it takes to be a family of operators",
    "mindtorch_distributed/mpi/library.py": "mpi4py, an extra, which starts MPI unless it is told not to first",
    "mindtorch_npu/acl/loader.py": "the vendor's module, and the simulator in its place",
    "mindtorch_npu/simulator/__init__.py": "the simulated libraries need numpy, the core does not",
    "mindtorch_npu/simulator/dtypes.py": "ml_dtypes, only where such tensors are",
    "mindtorch_npu/simulator/kernels/__init__.py": "being in the folder is all it takes to be a family of kernels",
    "mindtorch_npu/simulator/kernels/_special.py": "scipy, which few programs of the simulator need",
    "mindtorch_proxy/child_site/sitecustomize.py": "it runs in every child process, most of which need no more",
    "mindtorch_proxy/finder.py": "only programs that ask for versions need it",
    "mindtorch_proxy/loaders.py": "the module that a program asked for by torch's name",
    "mindtorch_storage/lazy_import.py": "the mechanism that everything else uses",
}
"""Product files that import by name, and why; what is not here uses `mindtorch_storage.lazy_import`."""


def imports_by_name(file: Path) -> int:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(name in ("importlib.import_module", "import_module", "__import__") for name in calls)


def test_product_code_imports_by_name_in_few_places():
    found = {}
    for package in sorted(LOWER):
        (folder,) = ROOT.glob(f"packages/*/src/{package}")
        for file in sorted(folder.rglob("*.py")):
            count = imports_by_name(file)
            if count:
                found[str(file.relative_to(folder.parent))] = count
    assert found.keys() == LATE_IMPORTS.keys()
    assert sum(found.values()) <= 15


def cycles(graph) -> list[list[str]]:
    """Return the groups of modules that import each other (Tarjan's strongly connected components)."""
    order, low, stack, found = {}, {}, [], []

    def visit(module: str) -> None:
        order[module] = low[module] = len(order)
        stack.append(module)
        for other in graph.find_modules_directly_imported_by(module):
            if other not in order:
                visit(other)
            if other in stack:
                low[module] = min(low[module], low[other])
        if low[module] == order[module]:
            group = [stack.pop()]
            while group[-1] != module:
                group.append(stack.pop())
            if len(group) > 1:
                found.append(sorted(group))

    for module in sorted(graph.modules):
        if module not in order:
            visit(module)
    return found


@pytest.mark.parametrize("package", sorted(LOWER))
def test_no_modules_import_each_other(package, monkeypatch):
    grimp = pytest.importorskip("grimp", reason="comes with import-linter")
    for folder in ROOT.glob("packages/*/src"):
        monkeypatch.syspath_prepend(str(folder))
    found = cycles(grimp.build_graph(package, cache_dir=None))
    assert not found
