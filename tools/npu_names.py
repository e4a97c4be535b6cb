"""Which of torch_npu's public names are there: those of `npu_names.txt`, on a simulated device.

    python tools/npu_names.py           how many of each module are there, and how many operators
    python tools/npu_names.py missing   the names that are not
    python tools/npu_names.py check     no name is missing that the board does not list, none is listed that is there
    python tools/npu_names.py write     write the board, `npu_names_missing.txt`; refuses where it would grow
    python tools/npu_names.py touched PATH...   which of torch_npu's names Python files, or folders of them, use

An operator counts where both `torch_npu.NAME` and `torch.ops.npu.NAME` are there. `touched` reads programs of others, which
lie outside of the repository, and runs nothing of them.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import sys
from collections import Counter
from pathlib import Path

NAMES = Path(__file__).with_suffix(".txt")
BOARD = NAMES.with_name("npu_names_missing.txt")


def names() -> dict[str, list[str]]:
    """Return torch_npu's names: `python`, dotted and below `torch_npu`, and `ops`."""
    found: dict[str, list[str]] = {}
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif not line.startswith("#"):
            list(found.values())[-1].append(line)
    return found


def there(dotted: str) -> bool:
    """Return whether a dotted name stands for something; its first part is a module."""
    first, *rest = dotted.split(".")
    value: object = importlib.import_module(first)
    for part in rest:
        try:
            value = getattr(value, part)
        except AttributeError:
            module = getattr(value, "__name__", "") if hasattr(value, "__path__") else ""
            try:
                value = importlib.import_module(f"{module}.{part}") if module else None
            except ModuleNotFoundError:
                value = None
            if value is None:
                return False
    return True


def missing() -> list[str]:
    """Return what is not there, operators as `ops.NAME`."""
    known = names()
    found = [name for name in known["python"] if not there(f"torch_npu.{name}")]
    ops = [name for name in known["ops"] if not (there(f"torch_npu.{name}") and there(f"torch.ops.npu.{name}"))]
    return sorted(found) + [f"ops.{name}" for name in sorted(ops)]


def board() -> list[str]:
    """Return what the board lists."""
    return [line for line in BOARD.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def summary() -> str:
    """Return the figures, a line for each module."""
    known, absent = names(), Counter(name.split(".")[0] for name in missing())
    every = Counter(name.split(".")[0] for name in known["python"])
    every["ops"] = len(known["ops"])
    lines = [f"{name:18} {count - absent[name]:4} of {count:4}" for name, count in every.items()]
    total = sum(every.values())
    return "\n".join([*lines, f"{'all':18} {total - sum(absent.values()):4} of {total:4}"])


def used(text: str) -> set[str]:
    """Return the dotted names below `torch_npu`, `torch.npu` and `torch.ops.npu` that a module's text uses."""
    heads, found = {"torch_npu": "torch_npu", "torch": "torch"}, set()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            heads |= {one.asname: one.name for one in node.names if one.asname and one.name.startswith("torch")}
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                heads[one.asname or one.name] = f"{node.module}.{one.name}"
                found.add(f"{node.module}.{one.name}")
    for node in ast.walk(tree):
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if parts and isinstance(inner, ast.Name) and inner.id in heads:
            found.add(".".join([heads[inner.id], *reversed(parts)]))
    wanted = ("torch_npu.", "torch.npu.", "torch.ops.npu.")
    chains = {name for name in found if name.startswith(wanted)}
    return {name for name in chains if not any(other.startswith(f"{name}.") for other in chains)}


def sources(given: list[str]) -> list[Path]:
    """Return the Python files that are named, and those below the folders that are."""
    paths = [
        path for name in given for path in ([Path(name)] if Path(name).suffix else sorted(Path(name).rglob("*.py")))
    ]
    return [path for path in paths if path.is_file()]


def of_torch_npu(name: str, own: set[str]) -> bool:
    """Return whether an operator is torch_npu's: in its table, or of its prefix; others register theirs beside them."""
    operator = ".".join(name.split(".")[:4])
    return operator in own or operator.rpartition(".")[2].startswith(("npu_", "_npu_"))


def touched(files: list[str]) -> str:
    """Return how many of torch_npu's names programs use, how many of those are there, and which are not."""
    uses: Counter[str] = Counter()
    for file in sources(files):
        try:
            uses.update(used(file.read_text(encoding="utf-8")))
        except (SyntaxError, UnicodeDecodeError) as error:
            print(f"{file}: {error}", file=sys.stderr)
    own = {f"torch.ops.npu.{name}" for name in names()["ops"]}
    for name in [one for one in uses if one.startswith("torch.ops.npu.") and not of_torch_npu(one, own)]:
        del uses[name]
    gone = {name: count for name, count in uses.items() if not there(name)}
    lines = [f"{count:4} {name}" for name, count in sorted(gone.items(), key=lambda item: -item[1])]
    have = len(uses) - len(gone)
    share = f"{have} of {len(uses)} names, {sum(uses.values()) - sum(gone.values())} of {sum(uses.values())} uses"
    return "\n".join([*lines, share])


def start() -> None:
    """Make `torch` and `torch_npu` ours, on a simulated device."""
    os.environ.setdefault("MINDTORCH_NPU_SIMULATOR", "Ascend910B3:2,memory=256MiB")
    importlib.import_module("mindtorch_proxy").install()
    importlib.import_module("torch_npu")


def main() -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", default="show", choices=["show", "missing", "check", "write", "touched"])
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    start()
    if given.command in ("show", "touched"):
        print(summary() if given.command == "show" else touched(given.files))
        return 0
    absent = missing()
    if given.command == "missing":
        print("\n".join(absent))
        return 0
    listed = board() if BOARD.exists() else absent
    grown = [name for name in absent if name not in listed]
    stale = [name for name in listed if name not in absent]
    if grown or (stale and given.command == "check"):
        print(f"missing, and not on the board: {grown}\nthere, and still on the board: {stale}", file=sys.stderr)
        return 1
    if given.command == "write":
        head = (
            "# Names of torch_npu that are not there. `python tools/npu_names.py write` writes this; it only shrinks.\n"
        )
        BOARD.write_text(head + "".join(f"{name}\n" for name in absent), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
