"""The distributions of this repository, read from their pyproject files."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "mindtorch-"


@dataclass(frozen=True)
class Member:
    """One distribution under `packages/`."""

    name: str
    import_name: str
    folder: Path
    requires: frozenset[str]
    extras: dict[str, frozenset[str]]

    @property
    def source(self) -> Path:
        """The import package."""
        return self.folder / "src" / self.import_name

    @property
    def version(self) -> str:
        """The version in `__about__.py`, without importing anything."""
        found = re.search(r'__version__ = "([^"]+)"', (self.source / "__about__.py").read_text())
        if found is None:
            raise ValueError(f"{self.source / '__about__.py'}: no __version__")
        return found.group(1)


def requirement_name(requirement: str) -> str:
    """`mindtorch-npu[backend]>=0.1,<0.2` -> `mindtorch-npu`."""
    return re.split(r"[\s\[<>=!~;@]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _siblings(requirements: list[str]) -> frozenset[str]:
    return frozenset(n for n in map(requirement_name, requirements) if n.startswith(PREFIX))


def load(root: Path = ROOT) -> dict[str, Member]:
    """All members by distribution name."""
    members = {}
    for file in sorted(root.glob("packages/*/pyproject.toml")):
        project = tomllib.loads(file.read_text())["project"]
        (source,) = [p for p in (file.parent / "src").iterdir() if (p / "__about__.py").exists()]
        extras = {k: _siblings(v) for k, v in project.get("optional-dependencies", {}).items()}
        members[project["name"]] = Member(
            project["name"], source.name, file.parent, _siblings(project.get("dependencies", [])), extras
        )
    return members


def closure(name: str, members: dict[str, Member], extra: str | None = None) -> set[str]:
    """`name` and every sibling its installation brings along."""
    found = {name}
    queue = [name]
    if extra is not None:
        queue += members[name].extras[extra]
    while queue:
        current = queue.pop()
        found.add(current)
        queue += [r for r in members[current].requires if r not in found]
    return found
