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
    "mindtorch_npu": set(),
    "mindtorch_proxy": set(),
    "mindtorch": {"mindtorch_autograd", "mindtorch_cpu", "mindtorch_dispatch", "mindtorch_proxy", "mindtorch_storage"},
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
