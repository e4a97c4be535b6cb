"""`python tests-integration/torch_npu_suite run|update|check|docs [FILE...] --sources DIR`: torch_npu's own tests of `torch.npu`.

DIR is a checkout of github.com/Ascend/pytorch; its tests are run as they are, on the simulator, in the environment without
torch. `run` says what fails; `update` enters the results into the board, which only improves, and writes
docs/status/torch-npu.md; `check` ends with 1 where a test fails that passed; `docs` writes the page.
What the tests import as `torch.testing._internal` is what `pytorch_suite fetch` brought.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

from runner import Outcomes, run_file

HERE = Path(__file__).resolve().parent
BOARD = HERE / "board.json"
PAGE = HERE.parents[1] / "docs" / "status" / "torch-npu.md"
LEFT_OUT: dict[str, str] = tomllib.loads((HERE / "left_out.toml").read_text())["left_out"]

Board = dict[str, dict[str, str]]
"""File, test: `pass`, or `fail: ` and the reason. Tests that skip themselves are not in it."""


def entries(outcomes: Outcomes, file: Path) -> dict[str, str]:
    """Return what the board holds of a run; a file that cannot be imported fails with each of its tests."""
    whole = outcomes.pop("(import)", None)
    if whole is not None:
        names = re.findall(r"^\s+def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
        outcomes.update({name: whole for name in names})
    return {
        name: "pass" if one["status"] == "pass" else f"fail: {_plain(one['reason'])}"
        for name, one in sorted(outcomes.items())
        if one["status"] != "skip"
    }


def _plain(reason: str) -> str:
    reason = re.sub(r"0x[0-9a-f]+|\d{9,}", "N", reason)
    return re.sub(r"(?<![\w.])/[^\s'\",]*", "PATH", reason)[:140].strip()


def left_out(file: str, test: str) -> str | None:
    """Return why a test is not counted, None for one that is."""
    return LEFT_OUT.get(file) or LEFT_OUT.get(f"{file}::{test.rpartition('::')[2]}")


def counted(board: Board) -> dict[str, str]:
    """Return the tests that count, with what became of them."""
    every = ((file, test, said) for file, held in board.items() for test, said in held.items())
    return {f"{file}::{test}": said for file, test, said in every if left_out(file, test) is None}


def page(board: Board) -> str:
    """Return the status page."""
    total, shown = sum(map(len, board.values())), counted(board)
    passing = sum(said == "pass" for said in shown.values())
    lines = [
        "# torch_npu's own tests of torch.npu, on the simulator",
        "",
        "Written by `python tests-integration/torch_npu_suite update --sources DIR`: the files `test/npu/test_*.py` of",
        "torch_npu, run as they are, in an environment without torch. Of the tests that do not skip themselves, those are left",
        "out that `left_out.toml` gives a reason for. The board may only improve.",
        "",
        f"{passing} of {len(shown)} tests pass ({passing / max(1, len(shown)):.1%}); {total - len(shown)} are left out.",
        "",
        "| file | pass | of |",
        "| --- | --- | --- |",
    ]
    for file in sorted(board):
        held = [said for test, said in board[file].items() if left_out(file, test) is None]
        if held:
            lines.append(f"| {file} | {held.count('pass')} | {len(held)} |")
    reasons = Counter(said for said in shown.values() if said != "pass")
    why = Counter(left_out(file, test) for file, held in board.items() for test in held)
    lines += ["", "What fails:", "", *(f"- {count} × {said[6:]}" for said, count in reasons.most_common())]
    lines += ["", "Left out:", "", *(f"- {count} × {reason}" for reason, count in why.most_common() if reason)]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="torch_npu_suite", description=__doc__)
    parser.add_argument("command", choices=("run", "update", "check", "docs"))
    parser.add_argument("file", nargs="*", help="files below test/npu; all without")
    parser.add_argument("--sources", type=Path, help="a checkout of torch_npu")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one test")
    parser.add_argument("--allow-regressions", action="store_true")
    args = parser.parse_intermixed_args()
    board: Board = json.loads(BOARD.read_text()) if BOARD.exists() else {}
    status = 0
    if args.command != "docs":
        folder = args.sources / "test" / "npu"
        for file in [folder / name for name in args.file] or sorted(folder.glob("test_*.py")):
            found = entries(run_file(file, args.timeout), file)
            failed = {test: said for test, said in found.items() if said != "pass"}
            print(f"{file.name}: {len(found) - len(failed)} pass, {len(failed)} fail", flush=True)
            if args.command == "run":
                print(*(f"  {test}\n    {said}" for test, said in failed.items()), sep="\n")
                continue
            lost = [test for test, said in board.get(file.name, {}).items() if said == "pass" and test in failed]
            print(*(f"  passed before: {test}" for test in lost), sep="\n", end="\n" if lost else "")
            status |= bool(lost)
            if args.command == "update" and (not lost or args.allow_regressions):
                board[file.name] = found
    if args.command in ("update", "docs"):
        BOARD.write_text(json.dumps(board, indent=0, sort_keys=True) + "\n")
        PAGE.write_text(page(board))
    return status


if __name__ == "__main__":
    sys.exit(main())
