"""`python tests-integration/proxy/transformers_suite run|update|check|reasons`: transformers' model tests on MindTorch.

With TRANSFORMERS_TESTS=DIR, DIR being the `tests` folder of a full checkout of transformers, the models' own tests run;
without it, the common tests of the sdist with our own small testers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from runner import Outcomes, run_model
from sources import CACHE, HERE, MODELS, Tree, checkout_tree, sdist_tree

BOARD = HERE.parent / "scoreboard.json"
RESULTS = CACHE / "results.json"


def _tree(models: list[str] | None) -> Tree:
    given = os.environ.get("TRANSFORMERS_TESTS")
    return checkout_tree(Path(given), models or MODELS) if given else sdist_tree()


def _load(path: Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def _run(args: argparse.Namespace) -> tuple[str, dict[str, Outcomes]]:
    tree = _tree(args.model)
    found: dict[str, Outcomes] = {}
    for model in args.model or tree.files:
        found[model] = run_model(
            tree, model, proxy=not args.without_proxy, arguments=args.pytest, pipeline=args.pipeline
        )
        counts = Counter(outcome["status"] for outcome in found[model].values())
        print(f"{tree.source} {model:6} {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
    results = _load(RESULTS)
    for model, outcomes in found.items() if not args.pipeline else ():
        results.setdefault(tree.source, {}).setdefault(model, {}).update(outcomes)
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True))
    return tree.source, found


def _lost(board: dict, source: str, found: dict[str, Outcomes]) -> list[str]:
    lost = []
    for model, outcomes in found.items():
        held = board.get(source, {}).get(model, {})
        if not held:
            lost.append(f"{source} {model}: the scoreboard holds nothing of it; `update` writes it")
        for test, status in held.items():
            now = outcomes.get(test, {"status": "absent"})["status"]
            if status == "pass" and now != "pass":
                lost.append(f"{source} {model} {test}: was pass, now {now}")
    return lost


def _command_run(args: argparse.Namespace) -> int:
    _, found = _run(args)
    _print_reasons(found, args.limit)
    return 0


def _command_check(args: argparse.Namespace) -> int:
    source, found = _run(args)
    lost = _lost(_load(BOARD), source, found)
    print(*(lost or ["everything that passed, passes"]), sep="\n")
    return 1 if lost else 0


def _command_update(args: argparse.Namespace) -> int:
    source, found = _run(args)
    board = _load(BOARD)
    known = {model: outcomes for model, outcomes in found.items() if model in board.get(source, {})}
    lost = _lost(board, source, known)
    if lost and not args.allow_regressions:
        print("not written, these passed before (--allow-regressions lowers them):", *lost, sep="\n  ")
        return 1
    for model, outcomes in found.items():
        kept = board.setdefault(source, {}).setdefault(model, {})
        kept.update({test: outcome["status"] for test, outcome in outcomes.items() if outcome["status"] != "skip"})
    BOARD.write_text(json.dumps(board, indent=1, sort_keys=True) + "\n")
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
    for source, found in _load(RESULTS).items():
        print(f"-- {source}")
        _print_reasons({model: found[model] for model in args.model or found}, args.limit)
    return 0


def main() -> int:
    """Run the command line; arguments after `--` go to pytest."""
    parser = argparse.ArgumentParser(prog="transformers_suite", description=__doc__)
    parser.add_argument("command", choices=("run", "update", "check", "reasons"))
    parser.add_argument("--model", action="append", help="bert, gpt2, llama by default; of a checkout, any")
    parser.add_argument("--without-proxy", action="store_true", help="on real torch, for a baseline")
    parser.add_argument("--pipeline", choices=("plain", "fuse"), default="", help="each test inside of a pipeline")
    parser.add_argument("--allow-regressions", action="store_true")
    parser.add_argument("--limit", type=int, default=20, help="how many reasons are shown")
    own = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    args = parser.parse_args(own)
    args.pytest = sys.argv[len(own) + 2 :]
    commands = {
        "run": _command_run,
        "check": _command_check,
        "update": _command_update,
        "reasons": _command_reasons,
    }
    return commands[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
