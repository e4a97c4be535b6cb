"""How many parameters of every package are `Any`: figures that may only fall.

    python tools/any_count.py check     compare with tools/any_count.json
    python tools/any_count.py write     put the figures there, where none has grown

A parameter counts where its annotation has `Any` in it outside of `Callable[...]`'s arguments and of containers, that is
where it is `Any`, `Any | None` or `*args: Any`; one without an annotation counts, too, but `self` and `cls`.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from pathlib import Path

import members as workspace

BOARD = Path(__file__).with_suffix(".json")


def is_any(annotation: ast.expr | None) -> bool:
    """Return whether a parameter of this annotation may be given everything."""
    if annotation is None:
        return True
    if isinstance(annotation, ast.BinOp):
        return is_any(annotation.left) or is_any(annotation.right)
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def count(text: str) -> tuple[int, int]:
    """Return how many parameters the functions of a module have, and how many of them are `Any`."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = node.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            rest = [one for one in (given.vararg, given.kwarg) if one is not None]
            found += [one for one in (*named, *rest) if one.arg not in ("self", "cls") or one.annotation is not None]
    return len(found), sum(is_any(one.annotation) for one in found)


def figures() -> dict[str, dict[str, int]]:
    """Return the counts of every member's package."""
    result = {}
    for name, member in workspace.load().items():
        counts = [count(file.read_text(encoding="utf-8")) for file in sorted(member.source.rglob("*.py"))]
        result[name] = {"parameters": sum(all_ for all_, _ in counts), "any": sum(any_ for _, any_ in counts)}
    return result


def compare(found: dict[str, dict[str, int]], board: dict[str, dict[str, int]]) -> list[str]:
    """Return what has grown: the share of `Any` in the parameters of a package, in thousandths."""
    grown = []
    for name, counts in found.items():
        share = 1000 * counts["any"] // max(1, counts["parameters"])
        allowed = board.get(name, {}).get("thousandths", 0)
        if share > allowed:
            grown.append(f"{name}: {share / 10} % of the parameters are Any, {allowed / 10} % at most")
    return grown


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "write"])
    command = parser.parse_args().command
    found = figures()
    board = json.loads(BOARD.read_text()) if BOARD.exists() else {}
    grown = compare(found, board) if board else []
    print("\n".join(grown) or "any_count: ok")
    if command == "write" and not grown:
        made = {name: {"thousandths": 1000 * one["any"] // max(1, one["parameters"])} for name, one in found.items()}
        BOARD.write_text(json.dumps(made, indent=1) + "\n")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
