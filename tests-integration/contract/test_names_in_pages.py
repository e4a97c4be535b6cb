"""Pages name what is there: paths, commands, modules and names of torch; and the indexes list every page."""

import ast
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "status" or path.stem == "README"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "packages").glob("*/README.md")),
]
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"^[\w.-]+(/[\w.*-]+)+/?$")
COMMAND = re.compile(r"(?:\./hatchw|hatch) run (?:\+surface=\w+ )?([\w-]+):([\w-]+)")
MODULE = re.compile(r"python -m ([\w.]+)")
DOTTED = re.compile(r"^(torch|mindtorch\w*)((?:\.\w+)+)(?:\(.*\))?$")


STANDS_FOR = {"packages/X/pyproject.toml", "packages/X", "mindtorch.x", "torch.x"}
"""Names of no one thing, in which X is the reader's."""


def by_name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def scripts():
    """The scripts of the environments."""
    found = set()
    for name, environment in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["envs"].items():
        found |= {f"{name}:{script}" for script in environment.get("scripts", ())}
        for override in environment.get("overrides", {}).values():
            found |= {f"{name}:{script['key']}" for axis in override.values() for script in axis.get("scripts", ())}
    return found


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_commands_of_a_page_are_there(page, scripts):
    text = page.read_text(encoding="utf-8")
    assert [one for one in COMMAND.findall(text) if ":".join(one) not in scripts] == []
    ours = [name for name in MODULE.findall(text) if name.split(".")[0].startswith("mindtorch")]
    assert [name for name in ours if importlib.util.find_spec(name) is None] == []


def places(page):
    """Where a path of a page may start."""
    yield from (ROOT, page.parent, ROOT / "docs")
    for folder in (ROOT / "packages").glob("mindtorch-*"):
        yield from (folder, folder / "native", folder / "tests", *(folder / "src").glob("mindtorch*"), folder / "src")


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_paths_of_a_page_are_there(page):
    missing = []
    for span in CODE.findall(page.read_text(encoding="utf-8")):
        for word in span.split():
            if (
                word not in STANDS_FOR
                and PATH.match(word)
                and not any(next(start.glob(word), None) for start in places(page))
            ):
                missing.append(word)
    assert missing == []


def resolved(name):
    """Whether a dotted name leads to something, modules imported on the way."""
    first, *rest = name.split(".")
    if first == "mindtorch_testing":  # parts of it cannot be imported without torch
        return importlib.util.find_spec(first) is not None
    value = importlib.import_module({"torch": "mindtorch"}.get(first, first))
    for part in rest:
        if not hasattr(value, part):
            try:
                importlib.import_module(".".join([value.__name__, part]))
            except (ImportError, AttributeError):
                return False
        value = getattr(value, part, None)
    return True


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_names_of_a_page_are_there(page):
    names = {
        match[1] + match[2] for span in CODE.findall(page.read_text(encoding="utf-8")) if (match := DOTTED.match(span))
    }
    missing = sorted(name for name in names - STANDS_FOR if not resolved(name))
    assert missing == []


OBJECTS = {
    "bound": "mindtorch_dispatch.arguments.bound.Bound",
    "call": "mindtorch_dispatch.plan.call.Call",
    "packet": "mindtorch_dispatch.table.Packet",
    "plan": "mindtorch_dispatch.plan.Plan",
    "state": "mindtorch_dispatch.state._State",
}
"""What the pages of the architecture call an object of a class."""

NAME = re.compile(r"^([A-Za-z_]\w*(?:\.\w+)*)(?:\(.*\))?$")
PROGRAM = {"a", "b", "a.grad", "cpu", "c.sum", "np.empty", "AddBackward0"}
"""What belongs to the program that a page follows, or to numpy."""


def named_in(folder):
    """The modules of a folder, and the functions, classes, parameters and attributes that they define."""
    found = set()
    for path in folder.rglob("*.py"):
        found |= {path.stem, path.parent.name}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


@pytest.fixture(scope="module")
def defined():
    """What the members below the surface define, and the operators."""
    members = ("autograd", "dispatch", "runtime", "storage")
    found = {"_sig", *(packet for packet in importlib.import_module("mindtorch_dispatch.table").packets)}
    for member in members:
        found |= named_in(ROOT / f"packages/mindtorch-{member}/src")
    return found


def has_slot(path, name):
    """Whether objects of a class have an attribute, by the class or what it says of its objects."""
    module, _, cls = path.rpartition(".")
    kind = getattr(importlib.import_module(module), cls)
    return hasattr(kind, name) or any(name in vars(one).get("__annotations__", ()) for one in kind.__mro__)


def leads_somewhere(name):
    """Whether a dotted name of the architecture's pages is one of a member's modules, or of an object's class."""
    first, _, rest = name.partition(".")
    if first in OBJECTS and has_slot(OBJECTS[first], rest.partition(".")[0]):
        return True
    if first in ("torch", "mindtorch") or first.startswith("mindtorch_"):
        return resolved(name)
    return any(resolved(f"{start}.{name}") for start in ("mindtorch_dispatch", "mindtorch_storage", "torch.ops.aten"))


@pytest.mark.parametrize("page", sorted((ROOT / "docs/architecture").glob("*.md")), ids=by_name)
def test_functions_of_the_architecture_are_there(page, defined):
    spans = CODE.findall(re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL))
    names = {match[1] for span in spans if (match := NAME.match(span))}
    files = {name for name in names if name.endswith(".py")}
    missing = {name for name in names - files if "." in name and not leads_somewhere(name)}
    short = {name for name in names if "." not in name} - defined
    missing |= {name for name in short if not resolved(f"torch.{name}") and not resolved(f"torch.Tensor.{name}")}
    missing |= {name for name in files if not any(next(start.rglob(name), None) for start in places(page))}
    assert sorted(missing - PROGRAM) == []


def calls_in_order(functions, name):
    """The functions that one of a module's calls; in place of the module's own ones, what those call."""
    calls = [one for one in ast.walk(functions[name]) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    for one in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        if one.func.id in functions:
            yield from calls_in_order(functions, one.func.id)
        else:
            yield one.func.id


def test_the_stages_of_the_planner_are_the_functions_that_the_page_names():
    table = re.findall(r"^ +\| (\w+) \| `(\w+)` \|", (ROOT / "docs/architecture/one-call.md").read_text(), re.MULTILINE)
    planner = ast.parse((ROOT / "packages/mindtorch-dispatch/src/mindtorch_dispatch/plan/planner.py").read_text())
    functions = {one.name: one for one in planner.body if isinstance(one, ast.FunctionDef)}
    called = list(calls_in_order(functions, "_through_stages"))
    assert len(table) == 5
    assert [name for name in called if name in dict(table).values()] == [function for _, function in table]
    assert [stage for stage, function in table if not resolved(f"mindtorch_dispatch.plan.{stage}.{function}")] == []


@pytest.mark.parametrize("folder", ["docs/guides", "docs/decisions", "docs/status", "docs/architecture", "docs/start"])
def test_an_index_lists_every_page(folder):
    index = next(ROOT / folder / name for name in ("README.md", "index.md") if (ROOT / folder / name).exists())
    listed = index.read_text(encoding="utf-8")
    others = [path.name for path in (ROOT / folder).glob("*.md") if path != index]
    assert sorted(name for name in others if f"({name}" not in listed and f"`{name}`" not in listed) == []


def test_the_site_leads_to_every_guide():
    shown = (ROOT / "mkdocs.yml").read_text()
    guides = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs/guides").glob("*.md")]
    assert sorted(str(path) for path in guides if str(path) not in shown) == []


VARIABLE = re.compile(r"[\"'](MINDTORCH_[A-Z_]+)[\"']")


def test_the_page_of_variables_has_those_that_are_read():
    shown = set(re.findall(r"MINDTORCH_[A-Z_]+", (ROOT / "docs/reference/environment.md").read_text()))
    sources = [*(ROOT / "packages").glob("*/src/**/*.py"), ROOT / "hatchw", *(ROOT / "tools").glob("*.py")]
    read = {name for path in sources for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert sorted(read - shown) == []
    made = {"MINDTORCH_CPU_REQUIRE", "MINDTORCH_RUNTIME_REQUIRE"}  # tools/wheels.py makes these of a package's name
    assert sorted(shown - read - made) == []
