"""`python tools/mutate`: does a test fail when the code is wrong in a known way?

    python tools/mutate check                  every mutation still applies: its old text is found exactly once
    python tools/mutate run [--area A] [--name N]   apply each to a temporary copy, run its tests there, print a table

The mutations are data: one TOML file per area in this folder, entries `[[mutation]]` with a `name`, the `file`, its `old`
and `new` text, and the `tests` of which one must fail. A mutation that survives means that a test is missing.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COPIED = ("packages", "tools", "tests-integration", "pyproject.toml", "size_budget.toml")
LIMIT = 900
"""Seconds after which a run counts as failed: a mutation may make a program hang."""


@dataclass(frozen=True)
class Mutation:
    """One wrong text in the place of a right one, and the tests that must notice."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: list[str]

    def problem(self, root: Path) -> str | None:
        """Return why the mutation does not apply to the tree, None when it does."""
        path = root / self.file
        if not path.exists():
            return f"no file {self.file}"
        found = path.read_text().count(self.old)
        if found != 1:
            return f"the old text is found {found} times in {self.file}"
        missing = [test for test in self.tests if not (root / test.partition("::")[0]).exists()]
        return f"no test {missing[0]}" if missing else None

    def apply(self, root: Path) -> str:
        """Put the wrong text in place; return what the file held."""
        path = root / self.file
        right = path.read_text()
        path.write_text(right.replace(self.old, self.new))
        return right


def load() -> list[Mutation]:
    """Return the mutations of all areas."""
    found = []
    for path in sorted(HERE.glob("*.toml")):
        for entry in tomllib.loads(path.read_text())["mutation"]:
            found.append(Mutation(area=path.stem, **entry))
    return found


def environment(root: Path) -> dict[str, str]:
    """Return an environment in which the copy's packages are imported, and Python, which is mutated, does the work."""
    sources = os.pathsep.join(str(path) for path in sorted(root.glob("packages/*/src")))
    return {**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1", "MINDTORCH_NATIVE": "0"}


def run_tests(root: Path, tests: list[str]) -> tuple[bool, str]:
    """Run tests in the tree; return whether all passed, and the last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-W", "ignore", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=root, env=environment(root), capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"no end after {LIMIT} s"
    if done.returncode in (4, 5):
        raise SystemExit(f"pytest found no tests in {tests}:\n{done.stdout}{done.stderr}")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    shown = (
        failed[0].partition(" - ")[0].rpartition("/")[2] if failed else (done.stdout.splitlines() or ["crashed"])[-1]
    )
    return done.returncode == 0, shown


def run(mutations: list[Mutation]) -> int:
    """Try the mutations one after the other; return how many survived."""
    survived = 0
    print(f"{'mutation':<58} {'verdict':<9} {'seconds':>7}  noticed by")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        for name in COPIED:
            source, ignored = ROOT / name, shutil.ignore_patterns("__pycache__", ".pytest_cache")
            shutil.copytree(source, root / name, ignore=ignored) if source.is_dir() else shutil.copy(
                source, root / name
            )
        for one in mutations:
            reason = one.problem(root)
            if reason is not None:
                print(f"{one.area + ': ' + one.name:<58} {'STALE':<9} {'':>7}  {reason}", flush=True)
                survived += 1
                continue
            begun = time.monotonic()
            right = one.apply(root)
            passed, shown = run_tests(root, one.tests)
            (root / one.file).write_text(right)
            survived += passed
            verdict = "SURVIVED" if passed else "killed"
            print(f"{one.area + ': ' + one.name:<58} {verdict:<9} {time.monotonic() - begun:7.1f}  {shown}", flush=True)
    print(f"{len(mutations)} mutations, {survived} not noticed")
    return survived


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="tools/mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=("check", "run", "list"))
    parser.add_argument("--area", action="append", help="only this file of mutations; repeatable")
    parser.add_argument("--name", action="append", help="only mutations whose name contains this; repeatable")
    arguments = parser.parse_args()
    chosen = [
        one
        for one in load()
        if (not arguments.area or one.area in arguments.area)
        and (not arguments.name or any(part in one.name for part in arguments.name))
    ]
    if not chosen:
        parser.error("no such mutation")
    if arguments.command == "run":
        return 1 if run(chosen) else 0
    problems = [f"{one.area}: {one.name}: {reason}" for one in chosen if (reason := one.problem(ROOT))]
    if arguments.command == "list":
        print("\n".join(f"{one.area}: {one.name}  ({one.file})" for one in chosen))
        return 0
    print("\n".join(problems) or f"{len(chosen)} mutations apply")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
