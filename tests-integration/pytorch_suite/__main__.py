"""`python tests-integration/pytorch_suite fetch|where|run|check|update|baseline|reasons|docs`: PyTorch's own tests here.

`fetch --torch PYTHON` brings the tests, and what they stand on from the environment of that interpreter. `baseline FILE`
runs a file on torch itself, in the oracle's environment, and enters what passes there (of the largest files a sample,
which `sources.SAMPLES` describes); everything else runs in the environment without torch, through the proxy. `update` runs
all files of the board (or those that are named) and enters the results, with `--failing` those of tests that did not pass
before alone; `check` compares and enters nothing; `check --rotation N --seconds S` takes a part of the tests, another one
for each N. `--distributed` takes the board of `torch.distributed`, whose tests start processes. `where` says where the
tests are, or why they cannot run.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict

import board
from runner import Outcomes, run_file
from sources import CACHE, SAMPLES, fetch, infrastructure, missing, tests

RESULTS = CACHE / "results.json"


def _files(args: argparse.Namespace, held: board.Board) -> list[str]:
    return args.file or sorted(held)


def _keep(found: dict[str, Outcomes]) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps({**board.load(RESULTS), **found}, indent=0))


def _run(args: argparse.Namespace, held: board.Board) -> dict[str, Outcomes]:
    found = {}
    for name in _files(args, held):
        started = time.monotonic()
        try:
            ids = _chosen(args, name, held)
            shard = "1/1" if name in held else args.shard
            found[name] = run_file(name, shard=shard, timeout=args.timeout, ids=ids, size=SAMPLES.get(name, 0))
        except RuntimeError as error:
            found[name] = {"(import)": {"status": "fail", "reason": str(error)[-300:]}}
        tally = [one["status"] for one in found[name].values()]
        wanted = held.get(name, {}) if ids is None else ids & set(held[name])
        good = sum(board.entry(found[name].get(test)) == "pass" for test in wanted)
        print(
            f"{name}: {tally.count('pass')} pass, {tally.count('fail')} fail, {tally.count('skip')} skipped; "
            f"of the board {good} of {len(wanted)} ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
        _keep({name: found[name]})
    return found


def _chosen(args: argparse.Namespace, name: str, held: board.Board) -> set[str] | None:
    """Return the tests of a file that are run; None for all. A shard of a file on the board is one of its tests there."""
    if name not in held:
        return None
    if not args.failing and args.shard == "1/1" and name not in SAMPLES:
        return None
    chosen, total = (int(number) for number in args.shard.split("/"))
    tests = board.failing(held[name]) if args.failing else held[name]
    return set(sorted(tests)[chosen - 1 :: total])


def _command_fetch(args: argparse.Namespace) -> int:
    fetch(args.torch)
    print(tests(), infrastructure(), sep="\n")
    return 0


def _command_where(args: argparse.Namespace) -> int:
    lacking = missing()
    print(lacking or f"{tests()}\n{infrastructure()}")
    return 1 if lacking else 0


def _command_run(args: argparse.Namespace) -> int:
    _run(args, board.load(args.kept.file))
    return 0


def _command_baseline(args: argparse.Namespace) -> int:
    held = board.load(args.kept.file)
    for name in args.file:
        outcomes = run_file(name, proxy=False, shard=args.shard, timeout=args.timeout, size=SAMPLES.get(name, 0))
        known = held.get(name, {})
        good = [test for test, outcome in outcomes.items() if outcome["status"] == "pass"]
        if good:
            kept = {} if args.shard == "1/1" else known
            held[name] = kept | {test: known.get(test, "fail: not run yet") for test in good}
        print(f"{name}: {len(good)} pass on torch, of {len(outcomes)}")
        board.save(held, args.kept.file)
    return 0


def _command_check(args: argparse.Namespace) -> int:
    held = board.load(args.kept.file)
    if args.rotation is not None:
        return _check_part(args, held)
    worse = [
        f"{name} {line}"
        for name, found in _run(args, held).items()
        for line in board.lost(held[name], found, _chosen(args, name, held))
    ]
    print(*(worse or ["everything that passed, passes"]), sep="\n")
    return 1 if worse else 0


def _check_part(args: argparse.Namespace, held: board.Board) -> int:
    """Run some tests of some files until the time is over; the choice depends on the number of the rotation alone."""
    draw = random.Random(args.rotation)
    names = draw.sample(sorted(held), len(held))
    worse, started = [], time.monotonic()
    for name in names:
        if time.monotonic() - started > args.seconds:
            break
        passing = sorted(test for test, status in held[name].items() if status == "pass")
        ids = set(draw.sample(passing, min(args.kept.part, len(passing))))
        found = run_file(name, timeout=60, ids=ids)
        worse += [f"{name} {line}" for line in board.lost(held[name], found, ids)]
        print(f"{name}: {len(ids)} tests ({time.monotonic() - started:.0f} s)", flush=True)
    print(*(worse or ["everything that passed, passes"]), sep="\n")
    return 1 if worse else 0


def _command_update(args: argparse.Namespace) -> int:
    held = board.load(args.kept.file)
    found = board.load(RESULTS) if args.recorded else _run(args, held)
    for name in _files(args, held):
        if name not in found or name not in held:
            continue
        again = _chosen(args, name, held)
        if again is None:
            again = set(held[name])
        worse = board.lost(held[name], found[name], again)
        if worse and not args.allow_regressions:
            print(f"{name}: not written, these passed before:", *worse, sep="\n  ")
            continue
        held[name] |= board.merge({test: held[name][test] for test in again}, found[name])
    board.save(held, args.kept.file)
    args.kept.page.write_text(board.page(held, args.kept))
    passed, total = board.counts(held)
    print(f"{passed} of {total} pass ({passed / max(total, 1):.1%})")
    return 0


def _command_reasons(args: argparse.Namespace) -> int:
    groups: dict[str, list[str]] = defaultdict(list)
    held, found = board.load(args.kept.file), board.load(RESULTS)
    for name in args.file or found:
        for test in held.get(name, {}):
            said = board.entry(found[name].get(test))
            if said != "pass":
                groups[said].append(f"{name}::{test}")
    for reason, names in sorted(groups.items(), key=lambda item: -len(item[1]))[: args.limit]:
        print(f"{len(names):4}  {reason}\n        {', '.join(names[:4])}")
    return 0


def _command_docs(args: argparse.Namespace) -> int:
    text = board.page(board.load(args.kept.file), args.kept)
    if args.check:
        return 0 if args.kept.page.read_text() == text else 1
    args.kept.page.write_text(text)
    return 0


COMMANDS = {
    "fetch": _command_fetch,
    "where": _command_where,
    "run": _command_run,
    "baseline": _command_baseline,
    "check": _command_check,
    "update": _command_update,
    "reasons": _command_reasons,
    "docs": _command_docs,
}
_THAT_RUN = ("run", "baseline", "check", "update")
"""Commands that need PyTorch's tests."""


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="pytorch_suite", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("file", nargs="*", help="files below `test/`; all files of the board by default")
    parser.add_argument("--distributed", action="store_true", help="the board of files below `test/distributed`")
    parser.add_argument("--torch", help="fetch: the interpreter of an environment with torch 2.13.0")
    parser.add_argument("--shard", default="1/1", help="I/N: the I-th of N parts of each file")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one test")
    parser.add_argument("--rotation", type=int, help="check: a part of the tests, another one for each number")
    parser.add_argument("--seconds", type=int, default=240, help="check --rotation: no new file after this time")
    parser.add_argument("--recorded", action="store_true", help="update: what `run` found last, without running")
    parser.add_argument("--failing", action="store_true", help="run, update: only tests that fail on the board")
    parser.add_argument("--allow-regressions", action="store_true")
    parser.add_argument("--check", action="store_true", help="docs: write nothing, return 1 when the page is another")
    parser.add_argument("--limit", type=int, default=40, help="how many reasons are shown")
    args = parser.parse_intermixed_args()
    args.kept = board.DISTRIBUTED if args.distributed else board.ONE_PROCESS
    if args.command in _THAT_RUN and not args.recorded and (lacking := missing()):
        print(lacking, file=sys.stderr)
        return 1
    return COMMANDS[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
