"""The command `mindtorch-npu`: what this host has of an Ascend installation, what is missing, and what codes mean.

    mindtorch-npu [check] [--load] [--json]   what is well and what is not (the default)
    mindtorch-npu info [--json]               devices, chip and versions
    mindtorch-npu errors CODE... [--json]     what return codes mean: numbers, names or parts of names, or - for the
                                              codes in a log on standard input
    mindtorch-npu health [--json]             try every device: memory, streams, events
    mindtorch-npu memory [--json]             free and total memory of every device
    mindtorch-npu bandwidth [--json]          how fast copies go, by direction and size

Exit status of check and info: 0 all is well, 1 with warnings, 2 something is broken, 3 no device; of errors: 0, or 1
when something was not recognised; of health, memory and bandwidth: 0, 2 when a device failed, 3 without one. A wrong
command line is 2. Nothing is initialised by the first three, so they are safe beside running programs, and the command
works where nothing is installed. `check` loads no vendor library; `check --load`, `info` and the last three do so in a
process of their own, within a time limit.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mindtorch_npu import checks, probe, runtime, trials
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import codes, loader

SCHEMA = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    run = {"check": _check, "doctor": _check, "info": _info, "errors": _errors, **dict.fromkeys(trials.TRIALS, _try)}[
        options.command or "check"
    ]
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
    commands = parser.add_subparsers(dest="command", metavar="check|info|errors|health|memory|bandwidth")
    commands.add_parser("check", parents=[shared, load], aliases=["doctor"])
    commands.add_parser("info", parents=[shared])
    for name in trials.TRIALS:
        commands.add_parser(name, parents=[shared])
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


def _try(options: argparse.Namespace) -> int:
    """Print what trying the devices found; they are initialised, in a process of its own."""
    found = trials.run(options.command)
    devices = found["devices"]
    failed = bool(devices) and (bool(found["error"]) or any(not entry.get("well", True) for entry in devices))
    status = 2 if failed else 3 if not devices else 0
    if getattr(options, "json", False):
        print(json.dumps({"schema": SCHEMA, "status": status, **_host(), **found}, indent=2))
        return status
    if found.get("simulated"):
        print("These devices are simulated.")
    for entry in devices:
        print(f"device {entry['device']}: {entry['name']}")
        print("\n".join(_trial_lines(options.command, entry)))
    if found["error"]:
        print(found["error"])
    return status


def _trial_lines(command: str, entry: dict[str, Any]) -> list[str]:
    if command == "health":
        return [
            f"{'failure' if why else 'ok':>8}  {name}" + (f": {why}" if why else "")
            for name, why in entry["steps"].items()
        ]
    if command == "memory":
        return [f"    {entry['free'] / 2**20:,.0f} MiB of {entry['total'] / 2**20:,.0f} MiB free"]
    rates = entry["gigabytes_per_second"]
    return [
        f"    {way:<14}" + "".join(f"{int(size) // 1024:>8} KiB {rate:>9.3f} GB/s" for size, rate in by_size.items())
        for way, by_size in rates.items()
    ]


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
