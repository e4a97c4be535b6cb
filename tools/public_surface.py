"""The public surface of every package, as a reviewed snapshot.

    python tools/public_surface.py check    compare with packages/*/tests/contract/public_surface.txt
    python tools/public_surface.py write    accept the surface as it is; the diff is then reviewed

A line per name of the package's `__all__`: its kind, its name and, for what Python can introspect, its parameters (a
trailing `=` marks one with a default).
"""

import argparse
import difflib
import importlib
import inspect
import os
import sys
import types

import members as workspace

os.environ["MINDTORCH_NATIVE"] = "0"  # what is built here or not is no part of the surface

SNAPSHOT = "tests/contract/public_surface.txt"
ORACLE = "torch"


class Unshown:
    """Stands for any default."""

    def __repr__(self) -> str:
        return ""


def parameters(value: object) -> str:
    """The parameters of `value`, or `(...)` where Python cannot tell."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    empty = inspect.Parameter.empty
    shown = [
        p.replace(annotation=empty, default=empty if p.default is empty else Unshown())
        for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=shown, return_annotation=empty))


def line(name: str, value: object) -> str:
    """The line of the snapshot for one name."""
    if isinstance(value, types.ModuleType):
        return f"module {name}"
    if isinstance(value, type):
        return f"class {name}"
    if isinstance(value, types.FunctionType):
        return f"function {name}{parameters(value)}"
    if callable(value):
        return f"callable {name}"
    return f"{type(value).__name__} {name}"


def recorded(member: workspace.Member) -> list[str]:
    """The lines of the snapshot."""
    file = member.folder / SNAPSHOT
    return file.read_text().splitlines() if file.exists() else []


def name_of(text: str) -> str:
    """The name that a line of the snapshot is about."""
    return text.split(" ", 1)[1].partition("(")[0]


def surface(member: workspace.Member) -> list[str]:
    """The lines for one package, by name. What only the oracle's environment can load is taken as recorded."""
    package = importlib.import_module(member.import_name)
    names = package.__all__
    repeated = {n for n in names if names.count(n) > 1}
    if repeated:
        raise ValueError(f"{member.import_name}.__all__ repeats {sorted(repeated)}")
    before = {name_of(text): text for text in recorded(member)}
    lines = []
    for name in sorted(names):
        try:
            lines.append(line(name, getattr(package, name)))
        except ModuleNotFoundError as error:
            if error.name != ORACLE or name not in before:
                raise
            lines.append(before[name])
    return lines


def differences(member: workspace.Member) -> list[str]:
    """The unified diff between the snapshot and the package."""
    shown = (member.folder / SNAPSHOT).relative_to(workspace.ROOT).as_posix()
    diff = difflib.unified_diff(recorded(member), surface(member), shown, member.import_name, lineterm="", n=0)
    return list(diff)


def main(argv: list[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "write"])
    parser.add_argument("member", nargs="*", help="distribution names; all without")
    options = parser.parse_args(argv)
    found = workspace.load()
    failed = False
    for name in options.member or found:
        member = found[name]
        if options.action == "write":
            (member.folder / SNAPSHOT).write_text("".join(f"{text}\n" for text in surface(member)))
            continue
        diff = differences(member)
        failed = failed or bool(diff)
        print("\n".join(diff) if diff else f"{name}: as recorded")
    if failed:
        print("the public surface changed; if that is meant, run `python tools/public_surface.py write`")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
