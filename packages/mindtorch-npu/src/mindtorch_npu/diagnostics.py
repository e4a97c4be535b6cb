"""The command `mindtorch-npu`: what this host has of an Ascend installation, what is missing, and what codes mean.

    mindtorch-npu [check] [--load] [--json]   what is well and what is not (the default)
    mindtorch-npu info [--json]               devices, chip and versions
    mindtorch-npu errors CODE... [--json]     what return codes mean: numbers, names or parts of names, or - for the
                                              codes in a log on standard input

Exit status of check and info: 0 all is well, 1 with warnings, 2 something is broken, 3 no device; of errors: 0, or 1
when something was not recognised. A wrong command line is 2. Nothing is initialised, so the command is safe beside
running programs, and it works where nothing is installed. `check` loads no vendor library; `check --load` and `info` do
so in a process of their own, within a time limit.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mindtorch_npu import checks, probe, runtime
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import codes, loader

SCHEMA = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    run = {"check": _check, "doctor": _check, "info": _info, "errors": _errors}[options.command or "check"]
    return run(options)


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object")
    load = argparse.ArgumentParser(add_help=False)
    load.add_argument(
        "--load", action="store_true", default=argparse.SUPPRESS, help="also load pyACL and ask it for devices"
    )
    parser = argparse.ArgumentParser(
        prog="mindtorch-npu",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[shared, load],
    )
    parser.add_argument("--version", action="version", version=f"mindtorch-npu {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="check|info|errors")
    commands.add_parser("check", parents=[shared, load], aliases=["doctor"])
    commands.add_parser("info", parents=[shared])
    errors = commands.add_parser("errors", parents=[shared])
    errors.add_argument("codes", nargs="+", metavar="CODE")
    return parser


def _host() -> dict[str, Any]:
    return {"mindtorch_npu": __version__, "python": platform.python_version(), "platform": platform.platform()}


def _check(options: argparse.Namespace) -> int:
    found = checks.run_checks(load=getattr(options, "load", False))
    status = checks.exit_status(found)
    if getattr(options, "json", False):
        report = {"schema": SCHEMA, "status": status, **_host(), "checks": [asdict(check) for check in found]}
        print(json.dumps(report, indent=2))
        return status
    print(f"mindtorch-npu {__version__}, Python {platform.python_version()}, {platform.platform()}")
    for check in found:
        text = "; ".join(part for part in (check.value, check.why) if part)
        print(f"{check.status:>8}  {check.name}: {text}")
    if status == 3:
        print("No Ascend device on this host. MindTorch computes on the CPU here.")
    return status


def _info(options: argparse.Namespace) -> int:
    """Print facts. A missing value is null in JSON, with the reason beside it under `why`."""
    nodes = runtime.device_nodes()
    report = probe.ask()
    driver, visible = checks.check_driver(), os.environ.get(checks.VISIBLE_DEVICES)
    facts: dict[str, Any] = {
        "device_nodes": [{"path": str(node.path), "accessible": node.accessible} for node in nodes],
        "visible_devices": visible,
        "device_count": report.device_count,
        "soc_name": report.soc_name,
        "acl_version": report.acl_version,
        "driver": driver.value,
        "cann": [{"path": str(root), "version": checks.cann_version(root)} for root in loader.cann_roots()],
    }
    why = {name: text for name, text in (("runtime", report.error), ("driver", driver.why)) if text}
    status = 3 if not nodes else 2 if report.error else 0
    if getattr(options, "json", False):
        print(json.dumps({"schema": SCHEMA, "status": status, **_host(), **facts, "why": why}, indent=2))
        return status
    shown = {
        "devices": ", ".join(str(node.path) for node in nodes) or "none",
        "visible": visible or "all",
        "pyACL": report.error or f"version {report.acl_version or 'unknown'}, {report.device_count} device(s)",
        "chip": report.soc_name or "unknown",
        "driver": driver.value or driver.why,
        "CANN": ", ".join(f"{entry['path']} ({entry['version'] or 'version unknown'})" for entry in facts["cann"])
        or "none",
    }
    print("\n".join(f"{name + ':':<10}{value}" for name, value in shown.items()))
    return status


def _errors(options: argparse.Namespace) -> int:
    found: list[codes.Code] = []
    lines: list[str] = []
    unknown: list[str] = []
    for wanted in options.codes:
        if wanted == "-":
            lines += [text for line in sys.stdin for text in codes.explain_line(line)]
            continue
        matches = [codes.lookup(int(wanted))] if wanted.isdecimal() else codes.by_name(wanted)
        found += matches
        if not matches or matches[0].name is None:
            unknown.append(wanted)
    lines = list(dict.fromkeys(lines))
    if getattr(options, "json", False):
        print(
            json.dumps(
                {"schema": SCHEMA, "codes": [asdict(c) for c in found], "log": lines, "unknown": unknown}, indent=2
            )
        )
    else:
        print("\n".join([*(_code_text(code) for code in found), *lines]) or "nothing recognised")
    return 1 if unknown or not (found or lines) else 0


def _code_text(code: codes.Code) -> str:
    text = f"{code.code} {code.name or '(unknown)'}: {code.meaning}"
    if code.since:
        text += f" [{code.since}]"
    return f"{text}\n    {code.hint}" if code.hint else text


if __name__ == "__main__":
    sys.exit(main())
