"""`python tests-integration/proxy/transformers_suite run|update|check|whole|reasons|docs`: transformers' model tests.

With TRANSFORMERS_TESTS=DIR, DIR being the `tests` folder of a full checkout of transformers, the models' own tests run;
without it, the common tests of the sdist with our own small testers. `update` runs both where it has both (`--source`
chooses one), enters what it found into the scoreboard and writes docs/status/transformers.md, which `docs` writes from the
scoreboard alone; `update --recorded` takes what `run` found last instead of running again.

`whole` runs every suite of the checkout, about 480, on MindTorch and, with `--torch PYTHON`, on torch, enters each into
`whole.json` as soon as it has run and writes docs/status/transformers-whole.md. It goes on where it was stopped; `--shard 3/24`
runs a part (on several machines, say), `--again` runs what is there again, `--check` writes nothing and ends with 1 where a
test fails that the board does not name.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import scoreboard
import whole
from runner import Outcomes, run_model
from sources import CACHE, MODELS, Tree, checkout_tree, sdist_tree

RESULTS = CACHE / "results.json"


def _sources(args: argparse.Namespace) -> list[str]:
    """Return which sources there are, of those that `--source` allows; the one to run alone comes first."""
    there = ["checkout", "sdist"] if os.environ.get("TRANSFORMERS_TESTS") else ["sdist"]
    return [source for source in there if args.source in (None, source)]


def _tree(source: str, models: list[str] | None) -> Tree:
    return (
        sdist_tree() if source == "sdist" else checkout_tree(Path(os.environ["TRANSFORMERS_TESTS"]), models or MODELS)
    )


def _run(args: argparse.Namespace, source: str) -> tuple[str, dict[str, Outcomes]]:
    tree = _tree(source, args.model)
    found: dict[str, Outcomes] = {}
    for model in args.model or tree.files:
        found[model] = run_model(
            tree, model, proxy=not args.without_proxy, arguments=args.pytest, pipeline=args.pipeline
        )
        counts = Counter(outcome["status"] for outcome in found[model].values())
        print(f"{tree.source} {model:10} {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    results = scoreboard.load(RESULTS)
    for model, outcomes in found.items() if not (args.pipeline or args.without_proxy) else ():
        results.setdefault(tree.source, {})[model] = outcomes
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True))
    return tree.source, found


def _recorded(args: argparse.Namespace, source: str) -> tuple[str, dict[str, Outcomes]]:
    held = scoreboard.load(RESULTS).get(source, {})
    return source, {model: held[model] for model in args.model or held}


def _command_run(args: argparse.Namespace) -> int:
    _, found = _run(args, _sources(args)[0])
    _print_reasons(found, args.limit)
    return 0


def _command_check(args: argparse.Namespace) -> int:
    source, found = _run(args, _sources(args)[0])
    lost = scoreboard.lost(scoreboard.load(), source, found)
    print(*(lost or ["everything that passed, passes"]), sep="\n")
    return 1 if lost else 0


def _command_update(args: argparse.Namespace) -> int:
    board = scoreboard.load()
    for chosen in _sources(args):
        source, found = _recorded(args, chosen) if args.recorded else _run(args, chosen)
        known = {model: outcomes for model, outcomes in found.items() if model in board.get(source, {})}
        lost = [] if args.pytest else scoreboard.lost(board, source, known)  # what pytest was not asked for is absent
        if lost and not args.allow_regressions:
            print("not written, these passed before (--allow-regressions lowers them):", *lost, sep="\n  ")
            return 1
        scoreboard.merge(board, source, found)
    scoreboard.save(board)
    scoreboard.PAGE.write_text(scoreboard.page(board))
    return 0


def _print_reasons(found: dict[str, Outcomes], limit: int) -> None:
    groups: dict[str, list[str]] = defaultdict(list)
    for model, outcomes in found.items():
        for test, outcome in outcomes.items():
            if outcome["status"] == "fail":
                groups[re.sub(r"\d+", "N", outcome["reason"])[:300]].append(f"{model}::{test}")
    for reason, tests in sorted(groups.items(), key=lambda item: -len(item[1]))[:limit]:
        print(f"{len(tests):4}  {reason}\n        {', '.join(tests[:4])}")


def _command_reasons(args: argparse.Namespace) -> int:
    for source, found in scoreboard.load(RESULTS).items():
        print(f"-- {source}")
        _print_reasons({model: found[model] for model in args.model or found}, args.limit)
    return 0


def _command_docs(args: argparse.Namespace) -> int:
    text = scoreboard.page(scoreboard.load())
    if args.check:
        return 0 if scoreboard.PAGE.read_text() == text else 1
    scoreboard.PAGE.write_text(text)
    return 0


def _command_whole(args: argparse.Namespace) -> int:
    return whole.run(args.model, args.shard, args.torch, args.again, args.check)


def part(text: str) -> str:
    whole.shard([], text)
    return text


COMMANDS = {
    "run": _command_run,
    "check": _command_check,
    "update": _command_update,
    "reasons": _command_reasons,
    "docs": _command_docs,
    "whole": _command_whole,
}


def main() -> int:
    """Run the command line; arguments after `--` go to pytest."""
    parser = argparse.ArgumentParser(prog="transformers_suite", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--model", action="append", help="all sixteen by default; of a checkout, any")
    parser.add_argument("--source", choices=("checkout", "sdist"), help="one of the two")
    parser.add_argument("--without-proxy", action="store_true", help="on real torch, for a baseline")
    parser.add_argument("--pipeline", choices=("plain", "fuse"), default="", help="each test inside of a pipeline")
    parser.add_argument("--recorded", action="store_true", help="update: what `run` found last, without running")
    parser.add_argument(
        "--check", action="store_true", help="docs, whole: write nothing, return 1 when something is other"
    )
    parser.add_argument("--shard", type=part, default="1/1", metavar="NUMBER/COUNT", help="whole: which part, 3/24")
    parser.add_argument("--torch", type=Path, help="whole: a Python with torch and the same libraries")
    parser.add_argument("--again", action="store_true", help="whole: run what the board has, too")
    parser.add_argument("--allow-regressions", action="store_true")
    parser.add_argument("--limit", type=int, default=20, help="how many reasons are shown")
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    args = parser.parse_args(own)
    args.pytest = sys.argv[len(own) + 2 :]
    return COMMANDS[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
