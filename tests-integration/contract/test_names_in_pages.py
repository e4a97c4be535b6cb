"""Pages name what is there: paths, commands, modules and names of torch; and the indexes list every page."""

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
