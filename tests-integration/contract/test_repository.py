"""The tools of the repository, and what every package promises alike."""

import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import affected
import any_count
import budgets
import hatch_run
import members as workspace
import type_errors
import walks
import wheelhouse

ROOT = Path(__file__).resolve().parents[2]
MEMBERS = workspace.load()


def test_budgets_hold():
    assert budgets.check(ROOT) == []


@pytest.mark.parametrize("name", MEMBERS)
def test_public_surface_is_as_recorded(name):
    command = [sys.executable, ROOT / "tools/public_surface.py", "check", name]  # in a process without native code
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _project(name):
    return tomllib.loads((MEMBERS[name].folder / "pyproject.toml").read_text())


@pytest.mark.parametrize("name", MEMBERS)
def test_versions_of_python_are_those_of_the_wheels_and_of_ci(name):
    wheels = _project("mindtorch-cpu")["tool"]["cibuildwheel"]["build"].split()
    versions = [tag.removesuffix("-*").replace("cp3", "3.") for tag in wheels]
    project = _project(name)["project"]
    prefix = "Programming Language :: Python :: 3."
    named = [text.removeprefix(prefix) for text in project["classifiers"] if text.startswith(prefix)]
    assert [f"3.{minor}" for minor in named] == versions
    assert project["requires-python"] == f">={versions[0]}"
    listed = ", ".join(f'"{version}"' for version in versions)
    assert f"python: [{listed}]" in (ROOT / ".github/workflows/ci.yml").read_text()


@pytest.mark.parametrize("name", MEMBERS)
def test_member_is_complete(name):
    member = MEMBERS[name]
    for required in ("README.md", "CHANGELOG.md", "LICENSE", "changes", "tests/unit", "tests/contract"):
        assert (member.folder / required).exists(), required
    assert (member.source / "py.typed").exists()
    assert (member.folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert importlib.import_module(f"{member.import_name}.__about__").__version__ == member.version


@pytest.mark.parametrize("name", MEMBERS)
def test_sibling_requirements_are_ranges_of_one_minor_version(name):
    project = tomllib.loads((MEMBERS[name].folder / "pyproject.toml").read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    for requirement in [*project["dependencies"], *(r for e in extras for r in e)]:
        sibling = workspace.requirement_name(requirement)
        if sibling in MEMBERS:
            major, minor, _ = MEMBERS[sibling].version.split(".")
            assert requirement.endswith(f">={major}.{minor},<{major}.{int(minor) + 1}"), requirement


@pytest.mark.parametrize("name", MEMBERS)
def test_numerical_requirements_end_before_the_next_major_version(name):
    project = tomllib.loads((MEMBERS[name].folder / "pyproject.toml").read_text())["project"]
    extras = project.get("optional-dependencies", {}).values()
    for requirement in [*project["dependencies"], *(r for e in extras for r in e)]:
        library = workspace.requirement_name(requirement)
        if library in ("numpy", "scipy", "ml-dtypes"):
            major = int(importlib.metadata.version(library).split(".")[0])
            assert requirement.endswith(f",<{major + 1}"), requirement


def test_runtime_and_proxy_install_without_dependencies():
    for name in ("mindtorch-npu", "mindtorch-proxy"):
        project = tomllib.loads((MEMBERS[name].folder / "pyproject.toml").read_text())["project"]
        assert project["dependencies"] == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["packages/mindtorch-testing/README.md"], {"mindtorch-testing"}),
        (["packages/mindtorch-proxy/src/x.py"], {"mindtorch-proxy", "mindtorch-full", "mindtorch-testing"}),
        (["packages/mindtorch-storage/src/x.py"], set(MEMBERS) - {"mindtorch-proxy", "mindtorch-distributed"}),
        (["pyproject.toml"], set(MEMBERS)),
        (["packages/unknown/x"], set(MEMBERS)),
        ([], set()),
        (None, set(MEMBERS)),
    ],
)
def test_affected_members(files, expected):
    found = affected.affected(files, MEMBERS)
    assert set(found) == expected
    assert found == sorted(found, key=lambda n: (len(workspace.closure(n, MEMBERS)), n))


def make_tree(root: Path, text: str, exceptions: str = "") -> Path:
    (root / "packages/a/src/a").mkdir(parents=True)
    (root / "packages/a/src/a/x.py").write_text(text)
    (root / "size_budget.toml").write_text(exceptions)
    return root


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n" * 401, "401 lines"),
        ("def f():\n" + "    x = 1\n" * 60, "f() has 61 lines"),
        ("class C:\n    def f(self):\n" + "        x = 1\n" * 60, "C.f() has 61 lines"),
        ("def f():\n    import os\n", "import(s) inside functions"),
        ("import os  # noqa\n", "without the rule"),
        ("x = 1  # type: ignore\n", "without the rule"),
        ("try:\n    f()\nexcept Exception:\n    x = 1\n", "x.py:3: catches everything"),
        ("try:\n    f()\nexcept:\n    x = 1\n", "catches everything"),
        ("try:\n    f()\nexcept KeyError:\n    pass\n", "without a comment"),
        ("with contextlib.suppress(Exception):\n    f()\n", "suppresses everything"),
    ],
)
def test_budgets_find(tmp_path, text, problem):
    (found,) = budgets.check(make_tree(tmp_path, text))
    assert problem in found


@pytest.mark.parametrize(
    "text",
    [
        "import os  # noqa: F401\n",
        'def f():\n    """' + "\n" * 80 + '"""\n',
        "try:\n    f()\nexcept KeyError:\n    pass  # the key is optional\n",
        "try:\n    f()\nexcept Exception as error:\n    raise RuntimeError from error\n",
        "try:\n    f()\nexcept Exception as error:\n    report(error)\n",
    ],
)
def test_budgets_accept(tmp_path, text):
    assert budgets.check(make_tree(tmp_path, text)) == []


def test_budget_exceptions_only_shrink(tmp_path):
    tree = make_tree(tmp_path, "x = 1\n" * 450, '[files]\n"packages/a/src/a/x.py" = 460\n')
    (found,) = budgets.check(tree)
    assert "more than needed" in found
    assert budgets.check(tree, update=True) == []
    assert '"packages/a/src/a/x.py" = 450' in (tree / "size_budget.toml").read_text()
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    assert budgets.since(tree, "HEAD") == []
    (tree / "size_budget.toml").write_text('[files]\n"packages/a/src/a/x.py" = 451\n')
    (grown,) = budgets.since(tree, "HEAD")
    assert "grew from 450" in grown


def test_type_errors_only_become_fewer():
    found = {"a.py": ["a.py:1: error: x", "a.py:2: error: y"], "b.py": ["b.py:1: error: z"]}
    assert type_errors.compare(found, {"a.py": 2, "b.py": 1}) == []
    assert "more than needed" in type_errors.compare(found, {"a.py": 3, "b.py": 1})[0]
    assert type_errors.compare(found, {"a.py": 2}) == ["b.py:1: error: z", "b.py: 1 type errors, 0 allowed"]


def test_parameters_that_are_any_only_become_fewer():
    text = "def f(self, a: Any, b: int | Any, *c: Any, d, e: list[Any], g: Callable[..., Any]) -> Any: ..."
    assert any_count.count(text) == (6, 4)
    found = {"a": {"parameters": 100, "any": 31}}
    assert any_count.compare(found, {"a": {"thousandths": 310}}) == []
    assert any_count.compare(found, {"a": {"thousandths": 309}}) == [
        "a: 31.0 % of the parameters are Any, 30.9 % at most"
    ]
    assert any_count.compare(any_count.figures(), json.loads(any_count.BOARD.read_text())) == []


def run_tool(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT / "tools", capture_output=True, text=True)


def test_op_coverage_finds_no_contradiction():
    done = run_tool("op_coverage")
    assert done.returncode == 0, done.stdout + done.stderr


def test_new_op_prints_the_four_places_of_an_op():
    pytest.importorskip("torch", reason="oracle")
    shown = run_tool("new_op", "_weight_int4pack_mm", "--family", "matmul").stdout
    assert 'op("_weight_int4pack_mm(Tensor self, Tensor mat2, int qGroupSize, ' in shown
    assert '@kernel("_weight_int4pack_mm")' in shown
    assert 'derivative("_weight_int4pack_mm", self=lambda grad: ...' in shown
    assert shown.count("/matmul.py") == 5


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("no_such_op", "torch has no aten op 'no_such_op'"),
        ("mul.Tenser", "there are: mul.Tensor, mul.Scalar"),
        ("mul_.Tensor", "follows from the row of its functional form, 'mul'"),
    ],
)
def test_new_op_refuses(name, text):
    pytest.importorskip("torch", reason="oracle")
    done = run_tool("new_op", name)
    assert done.returncode == 1
    assert text in done.stderr


@pytest.mark.parametrize(
    ("newer", "found"),
    [
        (None, []),
        ("packages/mindtorch-cpu/native/module.cpp", ["mindtorch-cpu"]),
        ("packages/mindtorch-runtime/src/mindtorch_runtime/layout.py", ["mindtorch-runtime"]),
        (
            "packages/mindtorch-runtime/src/mindtorch_runtime/include/mindtorch/kernel.h",
            ["mindtorch-cpu", "mindtorch-runtime"],
        ),
        ("packages/mindtorch-cpu/src/mindtorch_cpu/native.py", []),  # editable: it is read where it is
    ],
)
@pytest.mark.parametrize("compiles", [True, False])  # what did not compile is as old as its installation
def test_native_modules_that_are_older_than_their_sources_are_found(tmp_path, monkeypatch, newer, found, compiles):
    for name in ("native/module.cpp", "src/mindtorch_cpu/_native.pyi", "src/mindtorch_cpu/native.py", "CMakeLists.txt"):
        _write(tmp_path / "packages/mindtorch-cpu" / name)
    inside = "src/mindtorch_runtime"
    for name in (
        "native/module.cpp",
        f"{inside}/_native.pyi",
        f"{inside}/layout.py",
        f"{inside}/include/mindtorch/kernel.h",
    ):
        _write(tmp_path / "packages/mindtorch-runtime" / name)
    _write(tmp_path / "packages/mindtorch-runtime/CMakeLists.txt")
    monkeypatch.setattr(hatch_run, "ROOT", tmp_path)
    environment = tmp_path / ".hatch/data/env/virtual/test.oracle"
    packages = environment / "lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    if newer:
        _write(tmp_path / newer, 3_000)
    assert hatch_run.outdated(tmp_path / "without packages") == []
    assert hatch_run.outdated(environment) == []  # the members are not installed there
    for name in ("mindtorch_cpu", "mindtorch_runtime"):
        (packages / f"{name}-0.1.0.dist-info").mkdir()
        os.utime(packages / f"{name}-0.1.0.dist-info", (2_000, 2_000))
        if compiles:
            _write(packages / f"{name}/_native.cpython-311-x86_64-linux-gnu.so", 2_000)
    assert [member.name for member in hatch_run.outdated(environment)] == found


def test_native_code_that_does_not_compile_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hatch_run, "CACHE", tmp_path)
    builds = hatch_run.NativeBuilds()
    builds.started = 0
    _write(tmp_path / "mindtorch_runtime.progress").write_text("1\ncompiled\n")
    _write(tmp_path / "mindtorch_cpu.progress").write_text("3\ncompiled\ncompiled\n")
    builds.look()
    assert builds.sentence() == (
        "mindtorch_cpu NOT compiled, 2 of 3 files: numpy computes instead, and "
        "`pip install --verbose --editable packages/mindtorch-cpu` says why, mindtorch_runtime compiled"
    )
    assert "compiling mindtorch_cpu: 2 of 3 files" in capsys.readouterr().err


def _write(path, time=1_000):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time, time))
    return path


def test_an_interpreter_that_does_not_run_is_named(tmp_path):
    python = tmp_path / "python3.13"
    python.write_text("#!/bin/sh\necho 'version not chosen' >&2\nexit 127\n")
    python.chmod(0o755)
    with pytest.raises(SystemExit, match=r"python3\.13: does not run: version not chosen"):
        wheelhouse.version_of(python)
    assert wheelhouse.version_of(Path(sys.executable)).startswith("3.")


def test_a_command_with_bars_stays_in_its_cell_of_the_page_of_walks():
    wish = next(iter(walks.WALKS))
    shown = walks.text([walks.Step(wish, "check || exit 1", 0.5)])
    assert "| `check \\|\\| exit 1` | 0.5 |" in shown
