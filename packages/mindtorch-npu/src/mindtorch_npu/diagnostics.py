"""The command `mindtorch-npu`: what this host has of an Ascend installation, what is missing, and what codes mean.

    mindtorch-npu [check] [--load] [--json]   what is well and what is not (the default)
    mindtorch-npu doctor [--json]             why no NPU is found, step by step, and what to do first
    mindtorch-npu info [--json]               devices, chip and versions
    mindtorch-npu errors CODE... [--json]     what return codes mean: numbers, names or parts of names, or - for the
                                              codes in a log on standard input
    mindtorch-npu health [--json]             try every device: memory, streams, events
    mindtorch-npu memory [--json]             free and total memory of every device
    mindtorch-npu bandwidth [--json]          how fast copies go, by direction and size
    mindtorch-npu watch [--interval SECONDS] [--count N] [--json]
                                              memory and load of every device, again and again
    mindtorch-npu snapshot view FILE [-o PAGE] [--json]
                                              a dumped memory snapshot as one page: timeline, segments, largest blocks

Exit status of check and info: 0 all is well, 1 with warnings, 2 something is broken, 3 no device; of doctor: 0, or 1
when a step failed; of errors: 0, or 1 when something was not recognised; of snapshot: 0, or 1 for a file that is none; of
health, memory, bandwidth and watch: 0, 2 when a device failed, 3 without one. A wrong command line is 2. Nothing is
initialised by the first four, so they are safe beside running programs, and the command works where nothing is installed.
`check` loads no vendor library; `check --load`, `doctor`, `info`, `health`, `memory`, `bandwidth` and `watch` do so in a
process of their own, within a time limit. On a simulated host every command says that it is one.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mindtorch_npu import checks, doctor, probe, runtime, snapshot_page, trials
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import codes, loader

SCHEMA = 1
COMMANDS = ("check", "doctor", "info", "health", "errors", "memory", "snapshot", "bandwidth", "watch")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    commands = {
        "check": _check, "doctor": _doctor, "info": _info, "errors": _errors, "snapshot": _snapshot, "watch": _watch,
        **dict.fromkeys(("health", "memory", "bandwidth"), _try),
    }  # fmt: skip
    return commands[options.command or "check"](options)


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
    commands = parser.add_subparsers(dest="command", metavar="|".join(COMMANDS))
    commands.add_parser("check", parents=[shared, load])
    for name in ("doctor", "info", "health", "memory", "bandwidth"):
        commands.add_parser(name, parents=[shared])
    snapshot = commands.add_parser("snapshot", parents=[shared])
    snapshot.add_argument("action", choices=["view"], help="write a page that shows the snapshot")
    snapshot.add_argument("file", help="what torch.npu.memory._dump_snapshot wrote")
    snapshot.add_argument("--output", "-o", metavar="PAGE", help="the page; by default FILE.html")
    watch = commands.add_parser("watch", parents=[shared])
    watch.add_argument("--interval", type=float, default=2.0, metavar="SECONDS", help="from one look to the next")
    watch.add_argument("--count", type=int, default=0, metavar="N", help="stop after so many looks; 0: never")
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


def _doctor(options: argparse.Namespace) -> int:
    """Say step by step why no NPU is found; 1 when one of the steps fails."""
    found = doctor.report()
    status = 0 if found["well"] else 1
    if getattr(options, "json", False):
        print(json.dumps({"schema": SCHEMA, "status": status, **_host(), **found}, indent=2))
    else:
        print(f"mindtorch-npu {__version__}, Python {platform.python_version()}, {platform.platform()}")
        print(doctor.text(found))
    return status


def _snapshot(options: argparse.Namespace) -> int:
    """Write the page of a snapshot; 1 for a file that is none."""
    output = Path(options.output or f"{options.file}.html")
    try:
        found = snapshot_page.load(options.file)
        output.write_text(snapshot_page.page(found, options.file), encoding="utf-8")
    except (OSError, ValueError) as error:
        if getattr(options, "json", False):
            print(json.dumps({"schema": SCHEMA, "status": 1, "error": str(error)}))
        else:
            print(error, file=sys.stderr)
        return 1
    totals = snapshot_page.totals(found)
    if getattr(options, "json", False):
        print(json.dumps({"schema": SCHEMA, "status": 0, "page": str(output), **totals}, indent=2))
        return 0
    sizes = {name: snapshot_page.size(value) for name, value in totals.items() if name not in ("segments", "blocks")}
    print(f"{totals['segments']} segments, {totals['blocks']} blocks")
    print("\n".join(f"{name.replace('_', ' ') + ':':<14}{value:>12}" for name, value in sizes.items()))
    print(f"written: {output}")
    return 0


def _watch(options: argparse.Namespace) -> int:
    """Show memory and load again and again, until interrupted or often enough."""
    status, looks = 0, 0
    try:
        while True:
            found = trials.run("load")
            status = 2 if found["devices"] and found["error"] else 0 if found["devices"] else 3
            if getattr(options, "json", False):
                print(json.dumps({"schema": SCHEMA, "status": status, "time": time.time(), **found}), flush=True)
            else:
                print("\n".join(_load_lines(found)), flush=True)
            looks += 1
            if looks == options.count or status == 3:
                return status
            time.sleep(options.interval)
    except KeyboardInterrupt:
        return status


def _load_lines(found: dict[str, Any]) -> list[str]:
    title = time.strftime("%H:%M:%S") + ("  simulated devices" if found.get("simulated") else "")
    lines = [title, f"{'device':>8} {'chip':<26} {'used MiB':>10} {'of MiB':>10} {'cube %':>7} {'vector %':>9}"]
    for entry in found["devices"]:
        used, rates = (entry["total"] - entry["free"]) / 2**20, entry["rates"]
        shown = [
            str(rates[name]) if rates.get(name, -1) >= 0 else "-" for name in ("cube_utilization", "vector_utilization")
        ]
        lines.append(
            f"{entry['device']:>8} {entry['name']:<26} {used:>10,.0f} {entry['total'] / 2**20:>10,.0f} "
            f"{shown[0]:>7} {shown[1]:>9}"
        )
    return [*lines, *([found["error"]] if found["error"] else [])]


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
    simulated = loader.simulated()
    facts["simulated"] = simulated
    status = 2 if report.error and (nodes or simulated) else 0 if nodes or simulated else 3
    if getattr(options, "json", False):
        print(json.dumps({"schema": SCHEMA, "status": status, **_host(), **facts, "why": why}, indent=2))
        return status
    shown = {
        "devices": ", ".join(str(node.path) for node in nodes) or ("simulated" if simulated else "none"),
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
