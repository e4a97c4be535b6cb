"""What `mindtorch doctor` reports: which names of torch a program uses, which of them are missing, and where.

The sources are read, never run. Seen are names that start at an import of torch: `torch.x`, `nn.x` after `from torch
import nn`, in `getattr(torch, "x")` too. Methods of tensors are not seen: of an expression nobody knows the type.
"""

from __future__ import annotations

import ast
import builtins
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from mindtorch_storage.lazy_import import load

from ._absence import placeholder, reason_of
from ._doctor_reach import Reach, at_import

THEIRS, OURS = "torch", "mindtorch"
MISSING, RAISES = "missing", "raises when it is used"
_MESSAGES = (
    re.compile(r"module '(torch[\w.]*)' has no attribute '(\w+)'"),
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<module>torch[\w.]*)'"),
    re.compile(r"type object '(torch[\w.]*)' has no attribute '(\w+)'"),
    re.compile(r"^(torch[\w.]*)\.(\w+) does not exist$"),
)
_EXTRAS = {"torch.npu": "mindtorch-full[npu]"}
"""Names that come with a distribution of their own, and what brings it."""
_ADVICE = {
    "stops": "names marked * stop the program when it is imported: guard the import, or use what MindTorch has instead",
    MISSING: "missing names raise AttributeError or ImportError where they are used",
    RAISES: "names that raise can be imported, and raise NotImplementedError with the reason when they are called",
}


@dataclass
class Use:
    """A name of torch (`torch.nn.Linear`) and the places that use it, as "file:line"."""

    name: str
    places: list[str] = field(default_factory=list)
    on_import: list[str] = field(default_factory=list)
    """The places that run when the program is imported, without a `try` around them."""
    missing: bool = False
    """The name is not there, or raises when it is used."""
    raises: bool = False
    reason: str = ""

    @property
    def stops(self) -> bool:
        """Whether the program ends at the name when it is imported."""
        return self.missing and not self.raises and bool(self.on_import)


def find(names: Iterable[str]) -> list[Path]:
    """Return the files and folders that are meant: paths, or names of installed packages, which are not imported.

    Raises:
        FileNotFoundError: there is neither.
    """
    found = []
    for name in names:
        path = Path(name)
        if not path.exists():
            spec = PathFinder.find_spec(name) if name.isidentifier() else None
            if spec is None or spec.origin is None:
                raise FileNotFoundError(f"no such file: {name}")
            path = Path(spec.origin)
            path = path.parent if spec.submodule_search_locations else path
        found.append(path)
    return found


def examine(paths: Iterable[Path]) -> tuple[list[Use], list[str]]:
    """Return the uses in the given files and folders and in what they import, and a line for each file that cannot be read.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    given = list(paths)
    files = list(_files(given))
    starts = [path / "__init__.py" if (path / "__init__.py").exists() else path for path in given]
    every_start = [one for start in starts for one in ([start] if start.is_file() else _files([start]))]
    reached = Reach(given).files(every_start)
    known = {file.resolve() for file in files}
    uses: dict[str, Use] = {}
    problems = []
    for file in [*files, *sorted(reached - known)]:
        try:
            tree = ast.parse(file.read_bytes(), filename=str(file))
        except (SyntaxError, ValueError) as error:
            problems.append(f"{file}: {error}")
            continue
        run = at_import(tree) if file.resolve() in reached else {}
        for name, node in _Reader(tree).found():
            use = uses.setdefault(name, Use(name))
            use.places.append(f"{file}:{node.lineno}")
            if run.get(id(node), True) is False:
                use.on_import.append(f"{file}:{node.lineno}")
    reasons = _reasons()
    for use in uses.values():
        value, there = look_up(use.name)
        why = reason_of(value)
        use.missing, use.raises = not there or why is not None, why is not None
        use.reason = why or _extra(use.name) or _reason(use.name, reasons)
    return sorted(uses.values(), key=lambda use: use.name), problems


def report(uses: list[Use], problems: list[str]) -> list[str]:
    """Return the report as lines of text."""
    stopping = [use for use in uses if use.stops]
    missing = [use for use in uses if use.missing]
    limited = [use for use in uses if use.reason and not use.missing]
    lines = [
        f"{len(uses)} names of torch are used, {len(missing)} are missing, {len(stopping)} of them stop the import, "
        f"{len(limited)} are offered in part"
    ]
    for title, some in ((MISSING, missing), ("in part", limited)):
        for use in some:
            what = RAISES if use.raises else title
            lines.append(f"{what}: {use.name}" + (f" ({use.reason})" if use.reason else ""))
            lines += [f"    {place}" + (" *" if use.stops and place in use.on_import else "") for place in use.places]
    kinds = {
        "stops": bool(stopping),
        MISSING: any(not use.raises for use in missing),
        RAISES: any(u.raises for u in missing),
    }
    lines += [_ADVICE[kind] for kind, there in kinds.items() if there]
    return lines + [f"not read: {problem}" for problem in problems]


def what_was_missing(error: BaseException) -> str | None:
    """Return the line that says which name of torch a program stopped at, None where it stopped for something else."""
    text = str(error)
    name = None
    if isinstance(error, ModuleNotFoundError):
        name = error.name if error.name and _is_torch(error.name) else None
    elif isinstance(error, NotImplementedError):
        module, _, last = text.partition(":")[0].rpartition(".")
        name = f"{module}.{last}" if _is_torch(module) and reason_of(placeholder(module, last)) else None
    elif isinstance(error, (AttributeError, ImportError)):
        match = next(filter(None, (pattern.search(text) for pattern in _MESSAGES)), None)
        if match is not None:
            groups = match.groupdict()
            name = f"{groups['module']}.{groups['name']}" if groups else ".".join(match.groups())
    if name is None or not _is_torch(name):  # torchvision's and others' names begin with torch, too
        return None
    value, there = look_up(name)
    if there and reason_of(value) is None:
        return None
    reason = reason_of(value) or _extra(name) or _reason(name, _reasons())
    return f"the program stopped at {name}, which is missing" + (f" ({reason})" if reason else "")


def _extra(name: str) -> str | None:
    """Return what to install for a name that comes with another distribution."""
    for prefix, requirement in _EXTRAS.items():
        if f"{name}.".startswith(f"{prefix}.") and not look_up(prefix)[1]:
            return f"pip install '{requirement}'"
    return None


def exists(name: str) -> bool:
    """Return whether MindTorch has what torch calls ``name``, and it works; imports the modules on the way."""
    value, there = look_up(name)
    return there and reason_of(value) is None


def look_up(name: str) -> tuple[Any, bool]:
    """Return what MindTorch has for a name of torch, and whether it has it; imports the modules on the way."""
    value: Any = load(OURS)
    path = OURS
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if isinstance(value, ModuleType):
            found, value = _member(value, part, path)
        elif reason_of(value) is not None:
            return value, True
        elif isinstance(value, type):
            found, value = hasattr(value, part), getattr(value, part, None)
        else:
            return None, True  # an attribute of a value: nothing of torch's names
        if not found:
            return None, False
    return value, True


def _member(module: ModuleType, part: str, path: str) -> tuple[bool, Any]:
    try:
        if hasattr(module, part):
            return True, getattr(module, part)
        return (True, load(path)) if hasattr(module, "__path__") else (False, None)
    except AttributeError:
        return False, None  # a module that is there only with a package that is not installed, as torch.npu
    except ModuleNotFoundError as error:
        # What another library must be installed for is there, as in torch; its absence is told by its name when it is used.
        return not (error.name or OURS).startswith(OURS), None


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        elif path.exists():
            yield path
        else:
            raise FileNotFoundError(f"no such file: {path}")


def _reasons() -> dict[str, str]:
    text = resources.files("mindtorch.data").joinpath("unsupported.toml").read_text()
    return {key: reason for key, reason in tomllib.loads(text)["features"].items() if key.startswith(f"{THEIRS}.")}


def _reason(name: str, reasons: dict[str, str]) -> str:
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        reason = reasons.get(".".join(parts[:length]))
        if reason is not None:
            return reason
    return ""


class _Reader:
    """Finds the names of torch in one file."""

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self._bound: dict[str, str] = {}  # what a name of the file stands for: "nn" for "torch.nn"
        self._stars: list[str] = []  # the modules of torch whose names the file takes with `*`
        self._strange = False  # and whether it does so from modules of others
        self._uses: list[tuple[str, Any]] = []

    def found(self) -> list[tuple[str, Any]]:
        """Return names of torch with the nodes that name them, imports first."""
        nodes = list(ast.walk(self._tree))
        for node in nodes:
            self._import(node)
        inner = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        if self._stars:
            self._take_stars(nodes, inner)
        for node in nodes:
            if isinstance(node, ast.Attribute) and id(node) not in inner:
                self._chain(node)
            elif isinstance(node, ast.Call):
                self._getattr(node)
        return self._uses

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_torch(alias.name):
                    self._uses.append((alias.name, node))
                    self._bound[alias.asname or THEIRS] = alias.name if alias.asname else THEIRS
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and _is_torch(node.module):
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                self._uses.append((name, node))
                if alias.name == "*":
                    self._stars.append(name)
                else:
                    self._bound[alias.asname or alias.name] = name
        elif isinstance(node, ast.ImportFrom):
            self._strange = self._strange or any(alias.name == "*" for alias in node.names)

    def _take_stars(self, nodes: list[ast.AST], inner: set[int]) -> None:
        """Find the names that the file binds nowhere: they come from a module of torch of which it takes everything.

        One that no such module has is missing, unless a module of others may have it.
        """
        given = {name for node in nodes for name in _bindings(node)} | set(vars(builtins)) | set(_OF_MODULES)
        for node in nodes:
            if not isinstance(node, ast.Name) or node.id in given:
                continue
            owner = next((one for one in reversed(self._stars) if look_up(f"{one}.{node.id}")[1]), None)
            if owner is None and self._strange:
                continue
            name = self._bound[node.id] = f"{owner or self._stars[-1]}.{node.id}"
            if id(node) not in inner:
                self._uses.append((name, node))

    def _chain(self, node: ast.expr) -> None:
        name = self._name(node)
        if name is not None:
            self._uses.append((name, node))

    def _getattr(self, node: ast.Call) -> None:
        match node:
            # With a default or in hasattr the program is ready for the name's absence.
            case ast.Call(func=ast.Name("getattr"), args=[target, ast.Constant(str(part))]):
                base = self._name(target)
                if base is not None:
                    self._uses.append((f"{base}.{part}", node))

    def _name(self, node: ast.expr) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._bound:
            return None
        return ".".join([self._bound[node.id], *reversed(parts)])


def _is_torch(name: str) -> bool:
    return name == THEIRS or name.startswith(THEIRS + ".")


_OF_MODULES = ("__name__", "__file__", "__doc__", "__path__", "__spec__", "__package__", "__loader__", "__builtins__")
"""Names that every module has."""


def _bindings(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node gives a value to."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((one.asname or one.name).partition(".")[0] for one in names)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
