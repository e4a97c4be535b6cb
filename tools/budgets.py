"""Size and hygiene budgets of the tree.

    python tools/budgets.py check           every budget, with the exceptions of size_budget.toml
    python tools/budgets.py check --update  also lower or drop exceptions that are no longer needed
    python tools/budgets.py since REF       size_budget.toml may only have shrunk since REF

What is measured, per Python file:

- lines of the file, and of each function (its docstring does not count);

and outside tests:

- imports inside functions;
- handlers that catch everything and neither raise again nor use the exception;
- without any exceptions: a handler that only passes and has no comment saying why, `contextlib.suppress(Exception)`,
  a `noqa` or `type: ignore` that names no rule.
"""

import argparse
import ast
import fnmatch
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = "size_budget.toml"
HEADER = """\
# The reviewed exceptions to the budgets of tools/budgets.py. This file only shrinks:
# `python tools/budgets.py since REF` refuses a new entry and a larger figure, `check` an entry larger than needed.
"""
FUNCTION_LINES = 60
# First match decides.
FILE_LINES = (
    ("packages/*/tests/*", 600),
    ("tests-integration/*", 600),
    ("packages/mindtorch-dispatch/src/mindtorch_dispatch/ops/*", 800),
    ("packages/mindtorch-autograd/src/mindtorch_autograd/derivatives/*", 800),
    ("packages/mindtorch-testing/src/mindtorch_testing/samples/*", 800),
    ("*", 400),
)
FOLDERS = ("packages", "tools", "examples", "tests-integration")
KINDS = ("files", "functions", "imports", "broad")
TYPES = "types"  # measured by type_errors.py
TABLES = (*KINDS, TYPES)
BROAD = {"Exception", "BaseException"}


@dataclass
class Findings:
    """Excesses by kind and key, and what no exception can excuse."""

    excess: dict[str, dict[str, int]] = field(default_factory=lambda: {k: {} for k in KINDS})
    where: dict[tuple[str, str], str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def add(self, kind: str, key: str, amount: int, where: str) -> None:
        """Record that `key` measures `amount`, which is over the budget of its kind."""
        self.excess[kind][key] = amount
        self.where[kind, key] = where


def python_files(root: Path) -> Iterator[Path]:
    """Every Python file of the tree, scripts without a suffix included."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            if path.suffix == ".py" or (path.suffix == "" and folder == "tools" and _is_python(path)):
                yield path


def _is_python(path: Path) -> bool:
    return path.read_bytes()[:40].split(b"\n")[0].endswith((b"python3", b"python"))


def file_budget(name: str) -> int:
    """Lines the file at `name` may have."""
    return next(lines for pattern, lines in FILE_LINES if fnmatch.fnmatch(name, pattern))


def measure(root: Path) -> Findings:
    """Everything over budget under `root`."""
    findings = Findings()
    for path in python_files(root):
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        if len(lines) > file_budget(name):
            findings.add("files", name, len(lines), f"{name}:1: {len(lines)} lines, budget {file_budget(name)}")
        tree = ast.parse(text, filename=name)
        _check_functions(findings, name, tree)
        if "/tests/" in name or name.startswith("tests-integration/"):
            continue
        comments = dict(_comments(path))
        _check_imports(findings, name, tree)
        _check_broad(findings, name, tree)
        findings.refused += _bare_marks(name, comments)
        findings.refused += _vanishing(name, tree, comments)
    return findings


def _comments(path: Path) -> Iterator[tuple[int, str]]:
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = node.end_lineno - node.lineno + 1
    if ast.get_docstring(node, clean=False) is not None:
        lines -= node.body[0].end_lineno - node.body[0].lineno + 1
    return lines


def _check_functions(findings: Findings, name: str, tree: ast.Module) -> None:
    for qualified, node in _functions(tree):
        length = _length(node)
        if length > FUNCTION_LINES:
            text = f"{name}:{node.lineno}: {qualified}() has {length} lines, budget {FUNCTION_LINES}"
            findings.add("functions", f"{name}::{qualified}", length, text)


def _check_imports(findings: Findings, name: str, tree: ast.Module) -> None:
    inside = {
        n.lineno
        for _, function in _functions(tree)
        for n in ast.walk(function)
        if isinstance(n, ast.Import | ast.ImportFrom)
    }
    if inside:
        findings.add("imports", name, len(inside), f"{name}:{min(inside)}: {len(inside)} import(s) inside functions")


def _check_broad(findings: Findings, name: str, tree: ast.Module) -> None:
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and _is_broad(node.type)
        and not _is_used(node)
        and not any(isinstance(n, ast.Raise) for n in ast.walk(node))
    ]
    if lines:
        text = f"{name}:{', '.join(map(str, sorted(lines)))}: catches everything and drops it"
        findings.add("broad", name, len(lines), text)


def _bare_marks(name: str, comments: dict[int, str]) -> Iterator[str]:
    for line, text in comments.items():
        if re.search(r"noqa(?!:)|type: ignore(?!\[)", text):
            yield f"{name}:{line}: noqa or type: ignore without the rule it is about"


def _vanishing(name: str, tree: ast.Module, comments: dict[int, str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            if _only_passes(node.body) and not any(node.lineno - 1 <= n <= node.end_lineno for n in comments):
                yield f"{name}:{node.lineno}: drops an exception without a comment that says why"
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("suppress")
            and any(map(_is_broad, node.args))
        ):
            yield f"{name}:{node.lineno}: suppresses everything"


def _is_broad(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_is_broad(e) for e in kind.elts)
    return kind is None or (isinstance(kind, ast.Name) and kind.id in BROAD)


def _is_used(handler: ast.ExceptHandler) -> bool:
    names = {n.id for n in ast.walk(handler) if isinstance(n, ast.Name)}
    return handler.name is not None and handler.name in names


def _only_passes(body: list[ast.stmt]) -> bool:
    (statement, *rest) = body
    if rest:
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass | ast.Continue)


def read_exceptions(text: str) -> dict[str, dict[str, int]]:
    """The exceptions by kind."""
    tables = tomllib.loads(text)
    unknown = set(tables) - set(TABLES)
    if unknown:
        raise ValueError(f"{EXCEPTIONS}: unknown tables {sorted(unknown)}; expected {TABLES}")
    return {kind: tables.get(kind, {}) for kind in TABLES}


def write_exceptions(exceptions: dict[str, dict[str, int]]) -> str:
    """The text of the exceptions file."""
    parts = [HEADER]
    for kind in TABLES:
        if exceptions[kind]:
            parts.append(f"\n[{kind}]\n" + "".join(f'"{k}" = {v}\n' for k, v in sorted(exceptions[kind].items())))
    return "".join(parts)


def check(root: Path, *, update: bool = False) -> list[str]:
    """Problems of the tree under `root`, one line each."""
    file = root / EXCEPTIONS
    exceptions = read_exceptions(file.read_text() if file.exists() else "")
    findings = measure(root)
    problems = list(findings.refused)
    needed: dict[str, dict[str, int]] = {**{k: {} for k in KINDS}, TYPES: exceptions[TYPES]}
    for kind in KINDS:
        for key, amount in findings.excess[kind].items():
            allowed = exceptions[kind].get(key, 0)
            needed[kind][key] = min(amount, allowed)
            if amount > allowed:
                problems.append(findings.where[kind, key])
        needed[kind] = {k: v for k, v in needed[kind].items() if v}
        for key, allowed in exceptions[kind].items():
            if needed[kind].get(key, 0) < allowed and not update:
                problems.append(f'{EXCEPTIONS}: [{kind}] "{key}" = {allowed} is more than needed; run check --update')
    if update:
        file.write_text(write_exceptions(needed))
    return problems


def since(root: Path, ref: str) -> list[str]:
    """Entries of the exceptions file that are new or larger than they were at `ref`."""
    shown = subprocess.run(["git", "show", f"{ref}:{EXCEPTIONS}"], cwd=root, capture_output=True, text=True)
    if shown.returncode != 0:
        return []  # the file did not exist yet
    before = read_exceptions(shown.stdout)
    now = read_exceptions((root / EXCEPTIONS).read_text())
    problems = []
    for kind in TABLES:
        for key, allowed in now[kind].items():
            if allowed > before[kind].get(key, 0):
                problems.append(f'{EXCEPTIONS}: [{kind}] "{key}" = {allowed} grew from {before[kind].get(key, 0)}')
    return problems


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check")
    checking.add_argument("--update", action="store_true")
    commands.add_parser("since").add_argument("ref")
    options = parser.parse_args(argv)
    problems = check(ROOT, update=options.update) if options.command == "check" else since(ROOT, options.ref)
    for problem in problems:
        print(problem)
    print(f"budgets: {len(problems)} problem(s)" if problems else "budgets: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
