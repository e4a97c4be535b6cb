"""How many instructions the call path of a tiny operator takes: a figure the machine's load does not change.

    python tools/instructions.py check     compare with the board, tools/instructions.json
    python tools/instructions.py write     put what was counted on the board

Needs valgrind (`apt-get install valgrind`): without it `check` says so and passes, unless
MINDTORCH_REQUIRE_VALGRIND=1. A count may be up to 2 % above the board's, and 20 % where Python or the processor's family
is another one than the board's: other compilers make other instructions of the same source.
"""

import argparse
import gc
import importlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

BOARD = Path(__file__).with_suffix(".json")
CASES = {"add": 400, "add_grad": 400, "add_number": 400, "select": 400, "view": 400, "total": 400, "chain": 5}
"""Cases of tools/bench/tiny_cases.py and how often each runs while it is counted."""

SAME, OTHER = 1.02, 1.20
MARK = "getloadavg"  # a function nothing else calls: valgrind writes what it has counted and starts anew


def environment() -> str:
    """Return what boards are kept by."""
    return f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}"


def run_cases() -> None:
    """Run every case between two marks; what `count` starts under valgrind."""
    importlib.import_module("mindtorch_proxy").install()
    if any(
        importlib.import_module(name).module is None for name in ("mindtorch_cpu.native", "mindtorch_runtime.native")
    ):
        raise SystemExit("instructions: a native module is not built, and they are what is counted")
    sys.path.insert(0, str(Path(__file__).parent / "bench"))
    module = importlib.import_module("tiny_cases")
    for step, count in [(_nothing, 400), *((getattr(module, name)(), count) for name, count in CASES.items())]:
        _repeat(step, max(count // 4, 3))
        gc.collect()
        gc.disable()
        os.getloadavg()
        _repeat(step, count)
        os.getloadavg()
        gc.enable()


def _nothing() -> None:
    pass


def _repeat(step: Callable[[], object], count: int) -> None:
    for _ in range(count):
        step()


def count() -> dict[str, int]:
    """Return the instructions of one run of every case, less what calling an empty function takes."""
    variables = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-W", "ignore", __file__, "run"]
    # Bytecode is written before it is counted.
    subprocess.run(command, check=True, env=variables)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts")
        options = ["--tool=callgrind", f"--dump-before={MARK}", f"--callgrind-out-file={out}", "--quiet"]
        done = subprocess.run(["valgrind", *options, *command], env=variables, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"instructions: {(done.stderr.strip().splitlines() or ['valgrind failed'])[-1]}")
        totals = []
        for part in range(2, 2 * len(CASES) + 3, 2):
            found = re.search(r"^totals: (\d+)", out.with_name(f"counts.{part}").read_text(), re.MULTILINE)
            if found is None:
                raise SystemExit("instructions: valgrind wrote no totals")
            totals.append(int(found[1]))
    empty = totals[0] / 400
    return {name: round(total / CASES[name] - empty) for name, total in zip(CASES, totals[1:], strict=True)}


def compare(counted: dict[str, int], board: dict[str, dict[str, int]], here: str) -> tuple[list[str], bool]:
    """Return lines that tell every case, and whether none takes too many instructions."""
    of = here if here in board else next(iter(board), "")
    if not of:
        return ["instructions: the board is empty"], False
    limit = SAME if of == here else OTHER
    lines = [] if of == here else [f"no board of {here}: compared with {of}, {round(limit * 100 - 100)} % are allowed"]
    fine = True
    for name, number in counted.items():
        allowed = board[of].get(name)
        if allowed is None:
            lines.append(f"{name:12} {number:9,}  not on the board")
            fine = False
            continue
        change = number / allowed
        verdict = "too many" if change > limit else "fewer: write the board" if change < 2 - SAME else "as before"
        lines.append(f"{name:12} {number:9,}  board {allowed:9,}  {100 * change - 100:+6.1f} %  {verdict}")
        fine = fine and change <= limit
    return lines, fine


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "write", "run"])
    command = parser.parse_args().command
    if command == "run":
        run_cases()
        return 0
    if shutil.which("valgrind") is None:
        demanded = command == "write" or os.environ.get("MINDTORCH_REQUIRE_VALGRIND") == "1"
        print("instructions: valgrind is not installed (apt-get install valgrind): nothing was counted")
        return 1 if demanded else 0
    counted = count()
    board = json.loads(BOARD.read_text()) if BOARD.exists() else {}
    if command == "write":
        BOARD.write_text(json.dumps({**board, environment(): counted}, indent=1) + "\n")
        print(f"{BOARD}: {counted}")
        return 0
    lines, fine = compare(counted, board, environment())
    print("\n".join(lines))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
