"""`python -m mindtorch_testing.sweep`: run a sweep over torch's databases, read its reasons, keep its scoreboard."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import Any

from mindtorch_testing.sweep import board, report
from mindtorch_testing.sweep.driver import select_names, sweep
from mindtorch_testing.sweep.outcome import PASS
from mindtorch_testing.sweep.runner import PIPELINES, Limits
from mindtorch_testing.sweep.suites import SUITES, Suite

QUICK_SAMPLES = 2
ANY_FIELD = tuple(dict.fromkeys(field for suite in SUITES.values() for field in suite.fields))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mindtorch_testing.sweep", description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="ops", help="the database: op_db, module_db or optim_db")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "run entries and print what fails"),
        ("update", "run entries and write the scoreboard; refuses to lower it"),
        ("check", "run the entries that pass on the scoreboard; fail when one no longer does"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--op", action="append", default=[], help="entry name or shell pattern, repeatable")
        command.add_argument("--quick", action="store_true", help=f"{QUICK_SAMPLES} samples per entry")
        command.add_argument("--samples", type=int, default=8, help="samples per entry (default 8)")
        command.add_argument("--seconds", type=float, default=60.0, help="time limit per entry")
        command.add_argument("--target", default="mindtorch", help="module under test; torch checks the harness")
        if name != "update":
            command.add_argument("--pipeline", choices=PIPELINES, default="", help="run inside of `pipeline()`")
        command.add_argument("--log", type=Path, help="file for what the worker prints")
        command.add_argument("--field", choices=ANY_FIELD, help="show only this field's failures")
        if name == "update":
            command.add_argument("--allow-regressions", metavar="REASON", help="lower the scoreboard, saying why")
    command = commands.add_parser("reasons", help="the most frequent failure reasons of the runs so far")
    command.add_argument("--field", choices=ANY_FIELD, action="append")
    command.add_argument("--op", action="append", default=[])
    command.add_argument("--limit", type=int, default=25)
    command.add_argument("--names", type=int, default=8, help="entries named per reason")
    command = commands.add_parser("show", help="everything known about the entries from the runs so far")
    command.add_argument("op", nargs="+")
    commands.add_parser("docs", help="write the page of docs/status from the scoreboard")
    return parser


def _progress(position: int, total: int, found: dict[str, Any]) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{position}/{total} {found['name']}")
        sys.stderr.flush()


def _suite(args: argparse.Namespace) -> Suite:
    return SUITES[args.suite]


def _run(args: argparse.Namespace, patterns: list[str]) -> dict[str, dict[str, Any]]:
    samples = QUICK_SAMPLES if args.quick else args.samples
    limits = Limits(samples, min(3, samples), args.seconds, getattr(args, "pipeline", ""))
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(args.log.open("w")) if args.log else None
        results = sweep(args.target, limits, patterns, suite=_suite(args), log=log, progress=_progress)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if args.target == "mindtorch" and not limits.pipeline:
        board.save_results(results, args.suite)
    print(f"{len(results)} entries in {time.monotonic() - started:.0f} s")
    return results


def _command_run(args: argparse.Namespace) -> int:
    results = _run(args, args.op)
    if len(results) <= 12:
        print("\n".join(map(report.details, results.values())))
    else:
        for field in [args.field] if args.field else _suite(args).fields:
            print(report.reasons(results, field, 12))
    print(report.summary(board.statuses(results), _suite(args).fields))
    return 0


def _command_update(args: argparse.Namespace) -> int:
    known = board.load_board(_suite(args).board)
    fresh = board.statuses(_run(args, args.op))
    lost = board.regressions(known["entries"], fresh)
    if lost and not args.allow_regressions:
        print("not written, these passed before (--allow-regressions REASON lowers them):", *lost, sep="\n  ")
        return 1
    if lost:
        known["lowered"].append({"reason": args.allow_regressions, "entries": lost})
    known["entries"].update(fresh)
    board.save_board(known, _suite(args).board)
    print(report.summary(known["entries"], _suite(args).fields))
    return 0


def _command_check(args: argparse.Namespace) -> int:
    entries = board.load_board(_suite(args).board)["entries"]
    passing = [name for name, fields in entries.items() if PASS in fields.values()]
    names = select_names(passing, args.op)
    lost = board.regressions(entries, board.statuses(_run(args, names))) if names else []
    print(*(lost or [f"{len(names)} entries hold what the scoreboard says"]), sep="\n")
    return 1 if lost else 0


def _command_reasons(args: argparse.Namespace) -> int:
    results = board.load_results(args.suite)
    chosen = {name: results[name] for name in select_names(results, args.op)}
    for field in args.field or _suite(args).fields:
        print(report.reasons(chosen, field, args.limit, args.names), end="\n\n")
    return 0


def _command_show(args: argparse.Namespace) -> int:
    results = board.load_results(args.suite)
    print("\n".join(report.details(results[name]) for name in select_names(results, args.op)))
    return 0


def _command_docs(args: argparse.Namespace) -> int:
    page = _suite(args).page
    path = board.repository_root() / "docs" / "status" / page
    board.write_atomically(path, report.status_page([suite for suite in SUITES.values() if suite.page == page]))
    print(path)
    return 0


def main() -> int:
    """Run the command line."""
    args = _parser().parse_args()
    commands = {
        "run": _command_run,
        "update": _command_update,
        "check": _command_check,
        "reasons": _command_reasons,
        "show": _command_show,
        "docs": _command_docs,
    }
    return commands[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
