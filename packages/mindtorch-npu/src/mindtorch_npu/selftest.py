"""The first hour with a card: try every device, ask it what the simulator was asked, and write one file of what differs.

`python -m mindtorch_npu.selftest [--output FILE] [--json]`. A difference that is understood becomes a row of the simulator.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mindtorch_npu import readings, workers
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import loader

SECONDS = 600.0
TOLERANCES = {"float16": 4e-3, "float32": 1e-5}
FALLBACK_CHIP = "Ascend910B3"


def ask(simulator: str | None) -> dict[str, Any]:
    """Return what the device answers, or the simulator of that description; `error` where the process did not end well."""
    environment = {key: value for key, value in os.environ.items() if key != loader.SIMULATOR or simulator is None}
    if simulator is not None:
        environment[loader.SIMULATOR] = simulator
    command = [sys.executable, "-m", "mindtorch_npu.backend.answers"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {SECONDS:g} s"}
    try:
        found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        return {"error": f"status {done.returncode}: {done.stderr.strip()[-2000:]}"}
    return found


def _close(one: Any, other: Any, name: str) -> bool:
    if isinstance(one, dict) or isinstance(other, dict):
        return bool(one == other)
    limit = TOLERANCES["float16" if "float16" in name else "float32"]
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=limit, abs_tol=limit) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one, other, strict=True)
    )


def compare(device: dict[str, Any], simulated: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the device answers otherwise than the simulator."""
    found = []
    for part in ("errors", "results"):
        for name in sorted({*device.get(part, {}), *simulated.get(part, {})}):
            one, other = device.get(part, {}).get(name), simulated.get(part, {}).get(name)
            same = one == other if part == "errors" or None in (one, other) else _close(one, other, name)
            if not same:
                found.append({"what": part, "name": name, "device": one, "simulator": other})
    missing = set(device.get("missing", ())) - set(simulated.get("missing", ()))
    return found + [{"what": "missing", "name": name, "device": None, "simulator": True} for name in sorted(missing)]


def run() -> dict[str, Any]:
    """Return the whole report."""
    report: dict[str, Any] = {
        "mindtorch_npu": __version__,
        "simulated": loader.simulated(),
        "devices": workers.indices(),
    }
    if not report["devices"]:
        return {**report, "status": 3, "error": "NPU is not available: no Ascend device"}
    report["readings"] = readings.read_all()
    report["health"] = workers.run("health")["devices"]
    first = report["health"][0]
    if first["status"] == workers.HUNG:  # the one that would be asked
        why = f"device {first['device']} is not asked: {first['error']}"
        return {**report, "chip": None, "answers": {}, "differences": [], "error": why, "status": 2}
    device = ask(None)
    chip = device.get("chip") or FALLBACK_CHIP
    simulated = ask(f"{chip}:1,memory=1GiB")
    report |= {"chip": chip, "answers": device, "error": device.get("error") or simulated.get("error")}
    report["differences"] = [] if report["error"] else compare(device, simulated)
    broken = report["error"] or report["differences"] or workers.exit_status(report["health"]) == 2
    return {**report, "status": 2 if broken else 0}


def main(arguments: list[str]) -> int:
    """Run, write the file, and say what differs."""
    parser = argparse.ArgumentParser(prog="mindtorch-npu selftest")
    parser.add_argument("--output", default="mindtorch-npu-selftest.json")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    report = run()
    Path(options.output).write_text(json.dumps(report, indent=1), encoding="utf-8")
    status = int(report["status"])
    shown = {key: report.get(key) for key in ("status", "simulated", "chip", "differences", "error")}
    if options.json:
        print(json.dumps({"schema": 1, "file": options.output, **shown}, indent=2))
        return status
    if report["simulated"]:
        print("These devices are simulated.")
    for entry in report.get("health", ()):
        print(f"device {entry['device']}: {entry['status']}" + (f": {entry['error']}" if entry.get("error") else ""))
    count = len(report.get("answers", {}).get("results", {}))
    print(report["error"] or f"{count} results compared with the simulator's, {len(report['differences'])} differ")
    for row in report.get("differences") or ():
        print(f"  {row['what']} {row['name']}: device {row['device']}, simulator {row['simulator']}")
    print(f"written: {options.output}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
