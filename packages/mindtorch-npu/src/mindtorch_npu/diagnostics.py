"""The command `mindtorch-npu`: what this host has of an Ascend installation, what is missing, and what codes mean.

    mindtorch-npu [check] [--load] [--json]   what is well and what is not (the default)
    mindtorch-npu doctor [--json]             why no NPU is found, step by step, and what to do first
    mindtorch-npu info [--json]               devices, chip and versions
    mindtorch-npu errors CODE... [--json]     what return codes mean: numbers, names or parts of names, or - for the
                                              codes in a log on standard input
    mindtorch-npu health [--json]             try every device: memory, streams, events
    mindtorch-npu memory [--json]             free and total memory of every device
    mindtorch-npu bandwidth [--json]          how fast copies go, by direction and size
    mindtorch-npu watch [--interval SECONDS] [--count N] [--live] [--history FILE] [--json]
                                              memory, load, heat and power of every device, again and again
    mindtorch-npu metrics [--textfile FILE] [--listen [HOST:]PORT] [--history FILE]
                                              the same for Prometheus
    mindtorch-npu events [--history FILE] [--json]
                                              when a device's status changed, as watch and metrics saw it
    mindtorch-npu report [-o FILE]            all of this, logs and versions in one archive, for support
    mindtorch-npu selftest [-o FILE]          try every call and operator of this package on the device
    mindtorch-npu snapshot view FILE [-o PAGE] [--json]
                                              a dumped memory snapshot as one page: timeline, segments, largest blocks

Exit status of check, info and of commands on devices: 0 all is well, 1 with warnings, such as a device whose memory is
full or of which the driver's tool npu-smi is not there to tell, 2 something is broken: a device failed, hangs or has errors
of its memory, 3 no device; of doctor: 0, or 1 when a step failed; of errors: 0, or 1 when something was not recognised; of
snapshot: 0, or 1 for a file that is none; of report and events: 0. A wrong command line is 2. `health`, `bandwidth` and
`selftest` open the devices, each in a process of its own; all others open none, so they are safe beside running programs,
and the command works where nothing is installed. `check` loads no vendor library; `check --load`, `doctor` and `info` do
so in a process of their own. Every command answers within ten seconds, whatever the devices do; but bandwidth and selftest
take longer on devices that answer.
On a simulated host every command says that it is one.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mindtorch_npu import checks, commands_of_devices, doctor, probe, readings, runtime, workers
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import codes, loader

SCHEMA = 1
COMMANDS = (
    "check", "doctor", "info", "health", "errors", "memory", "snapshot", "bandwidth", "watch", "metrics", "events",
    "report", "selftest",
)  # fmt: skip
_APART = {
    "report": "mindtorch_npu.bundle", "selftest": "mindtorch_npu.selftest", "snapshot": "mindtorch_npu.snapshot_page",
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = _parser().parse_args(arguments)
    commands = {
        "check": _check, "doctor": _doctor, "info": _info, "errors": _errors, "snapshot": _apart,
        "watch": commands_of_devices.watch, "health": commands_of_devices.trial, "bandwidth": commands_of_devices.trial,
        "memory": commands_of_devices.memory, "metrics": commands_of_devices.metrics,
        "events": commands_of_devices.events, "report": _apart, "selftest": _apart,
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
    watch.add_argument("--live", action="store_true", help="draw over the last look, on a terminal")
    for looking in (watch, metrics := commands.add_parser("metrics", parents=[shared])):
        looking.add_argument("--history", metavar="FILE", help="append changes of a device's status to this file")
    metrics.add_argument("--textfile", metavar="FILE", help="write there instead of to standard output, at once")
    metrics.add_argument("--listen", metavar="[HOST:]PORT", help="answer Prometheus over HTTP until interrupted")
    events = commands.add_parser("events", parents=[shared])
    events.add_argument("--history", metavar="FILE", help="what watch or metrics wrote")
    for name in ("report", "selftest"):
        apart = commands.add_parser(name, parents=[shared])
        apart.add_argument("--output", "-o", metavar="FILE", help="the file to write")
    errors = commands.add_parser("errors", parents=[shared])
    errors.add_argument("codes", nargs="+", metavar="CODE")
    return parser


def _apart(options: argparse.Namespace) -> int:
    """Run a command that needs much more than the others, in a process of its own."""
    more = [options.file] if options.command == "snapshot" else []
    more += ["--output", options.output] if options.output else []
    more += ["--json"] if getattr(options, "json", False) else []
    return subprocess.run([sys.executable, "-m", _APART[options.command], *more], check=False).returncode


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


def _info(options: argparse.Namespace) -> int:
    """Print facts. A missing value is null in JSON, with the reason beside it under `why`."""
    nodes = runtime.device_nodes()
    report, devices = workers.together(probe.ask, readings.read_all)
    driver, visible = checks.check_driver(), os.environ.get(checks.VISIBLE_DEVICES)
    facts: dict[str, Any] = {
        "device_nodes": [{"path": str(node.path), "accessible": node.accessible} for node in nodes],
        "visible_devices": visible,
        "device_count": report.device_count,
        "soc_name": report.soc_name,
        "acl_version": report.acl_version,
        "devices": devices,
        "driver": driver.value,
        "cann": [{"path": str(root), "version": checks.cann_version(root)} for root in loader.cann_roots()],
    }
    why = {name: text for name, text in (("runtime", report.error), ("driver", driver.why)) if text}
    simulated = loader.simulated()
    facts["simulated"] = simulated
    present = bool(nodes or simulated)
    status = max(2 if report.error else 0, workers.exit_status(devices) if devices else 0) if present else 3
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
    for one in devices:
        size = "" if one["total"] is None else f"{one['total'] / 2**30:.3g} GiB, "
        shown[f"device {one['device']}"] = f"{size}{one['status']}" + (f": {one['error']}" if one["error"] else "")
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
        matches, told = codes.search(wanted)
        found += matches
        lines += told
        if not told and (not matches or matches[0].name is None):
            unknown.append(wanted)
    lines = list(dict.fromkeys(lines))
    if getattr(options, "json", False):
        report = {"schema": SCHEMA, "codes": [asdict(c) for c in found], "log": lines, "unknown": unknown}
        print(json.dumps(report, indent=2))
    else:
        named = [f"not recognised: {word}" for word in unknown if not word.isdecimal()]
        print("\n".join([*(_code_text(code) for code in found), *lines, *named]) or "nothing recognised")
    return 1 if unknown or not (found or lines) else 0


def _code_text(code: codes.Code) -> str:
    text = f"{code.code} {code.name or '(unknown)'}: {code.meaning}"
    if code.since:
        text += f" [{code.since}]"
    return f"{text}\n    {code.hint}" if code.hint else text


if __name__ == "__main__":
    sys.exit(main())
