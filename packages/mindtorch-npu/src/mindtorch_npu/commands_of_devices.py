"""Commands about devices: memory and load as the driver tells them, trials, metrics, and when something changed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mindtorch_npu import readings, workers
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import loader

SCHEMA = 1
BANDWIDTH_SECONDS, ANSWER_SECONDS = 60.0, min(5.0, workers.TIMEOUT_S)
"""So long copies may take, on a device that has answered within the second."""
NO_DEVICE = "NPU is not available: no Ascend device"
METRICS = {
    "total": ("mindtorch_npu_memory_total_bytes", "Memory of the device."),
    "used": ("mindtorch_npu_memory_used_bytes", "Memory taken by all processes."),
    "cube_percent": ("mindtorch_npu_cube_utilization_percent", "Load of the cube cores."),
    "vector_percent": ("mindtorch_npu_vector_utilization_percent", "Load of the vector cores."),
    "temperature": ("mindtorch_npu_temperature_celsius", "Temperature of the chip."),
    "power": ("mindtorch_npu_power_watts", "Power that the chip takes."),
    "single_bit_errors": ("mindtorch_npu_ecc_single_bit_errors", "Errors of memory that were corrected."),
    "double_bit_errors": ("mindtorch_npu_ecc_double_bit_errors", "Errors of memory that could not be corrected."),
}


def _json(options: argparse.Namespace) -> bool:
    return bool(getattr(options, "json", False))


def _print(status: int, found: dict[str, Any]) -> None:
    host = {"mindtorch_npu": __version__, "python": platform.python_version(), "platform": platform.platform()}
    print(json.dumps({"schema": SCHEMA, "status": status, **host, **found}, indent=2))


def trial(options: argparse.Namespace) -> int:
    """Try every device, each in a process of its own, and print what was found."""
    found = _bandwidth() if options.command == "bandwidth" else workers.run(options.command)
    status = workers.exit_status(found["devices"])
    if _json(options):
        _print(status, found)
        return status
    if found["simulated"]:
        print("These devices are simulated.")
    for entry in found["devices"]:
        print(f"device {entry['device']}: {entry.get('name') or entry['status']}")
        print("\n".join(_trial_lines(options.command, entry)))
    if found["error"]:
        print(found["error"] if found["devices"] else f"NPU is not available: {found['error']}")
    return status


def _bandwidth() -> dict[str, Any]:
    """Return how fast the copies of every device go that answers at all; one that does not is not waited for long."""
    found = workers.run("health", ANSWER_SECONDS)
    hung = {entry["device"]: entry for entry in found["devices"] if entry["status"] == workers.HUNG}
    measured = workers.run("bandwidth", BANDWIDTH_SECONDS, without=hung)
    devices = {entry["device"]: entry for entry in measured["devices"]} | hung
    return {**measured, "devices": [devices[index] for index in sorted(devices)]}


def _trial_lines(command: str, entry: dict[str, Any]) -> list[str]:
    lines = [f"    {entry['status']}: {entry['error']}"] if entry.get("error") else []
    if command == "health":
        for name, why in entry.get("steps", {}).items():
            lines.append(f"{'failure' if why else 'ok':>8}  {name}" + (f": {why}" if why else ""))
    for way, by_size in entry.get("gigabytes_per_second", {}).items():
        rates = "".join(f"{int(size) // 1024:>8} KiB {rate:>9.3f} GB/s" for size, rate in by_size.items())
        lines.append(f"    {way:<14}{rates}")
    return lines


def memory(options: argparse.Namespace) -> int:
    """Print free and total memory of every device, as the driver tells; opens none."""
    found: dict[str, Any] = {"simulated": loader.simulated(), "devices": readings.read_all(), "error": None}
    status = workers.exit_status(found["devices"])
    if not found["devices"]:
        found["error"] = NO_DEVICE
    if _json(options):
        _print(status, found)
        return status
    if found["simulated"]:
        print("These devices are simulated.")
    for entry in found["devices"]:
        print(f"device {entry['device']}: {entry.get('name') or entry['status']}")
        if entry["total"] is not None and entry.get("free") is not None:
            print(f"    {entry['free'] / 2**20:,.0f} MiB of {entry['total'] / 2**20:,.0f} MiB free")
        for process in entry.get("processes", ()):
            print(f"    process {process['pid']}: {process['memory'] / 2**20:,.0f} MiB")
        if entry["error"]:
            print(f"    {entry['status']}: {entry['error']}")
    if found["error"]:
        print(found["error"])
    return status


def watch(options: argparse.Namespace) -> int:
    """Show memory and load again and again, until interrupted or often enough."""
    status, looks = 0, 0
    try:
        while True:
            devices = readings.read_all()
            status = workers.exit_status(devices)
            remember(devices, options.history)
            if _json(options):
                line = {"schema": SCHEMA, "status": status, "time": time.time(), "simulated": loader.simulated()}
                print(json.dumps({**line, "devices": devices}), flush=True)
            else:
                home = "\x1b[H\x1b[J" if options.live and sys.stdout.isatty() else ""
                print(home + "\n".join(_load_lines(devices)), flush=True)
            looks += 1
            if looks == options.count or status == 3:
                return status
            time.sleep(options.interval)
    except KeyboardInterrupt:
        return status


def _load_lines(devices: list[dict[str, Any]]) -> list[str]:
    title = time.strftime("%H:%M:%S") + ("  simulated devices" if loader.simulated() else "")
    columns = "used MiB", "of MiB", "cube %", "vector %", "deg C", "W"
    lines = [title, f"{'device':>8} {'chip':<26} " + " ".join(f"{name:>9}" for name in columns) + "  status"]
    for entry in devices:
        values = [
            entry["used"] / 2**20 if entry.get("used") is not None else None,
            entry["total"] / 2**20 if entry["total"] is not None else None,
            *(entry[name] for name in ("cube_percent", "vector_percent", "temperature", "power")),
        ]
        shown = " ".join(f"{'-' if value is None else format(value, ',.0f'):>9}" for value in values)
        lines.append(f"{entry['device']:>8} {entry.get('name') or '-':<26} {shown}  {entry['status']}")
    return lines if devices else [*lines, NO_DEVICE]


def _exact(value: float) -> str:
    """Return a number with all of its digits, whole ones without a point."""
    return str(int(value) if value == int(value) else value)


def metrics_text(devices: list[dict[str, Any]]) -> str:
    """Return readings in the text format of Prometheus."""
    lines = []
    for field, (name, text) in METRICS.items():
        rows = [
            f'{name}{{device="{entry["device"]}"}} {_exact(entry[field])}'
            for entry in devices
            if entry.get(field) is not None
        ]
        if rows:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge", *rows]
    name = "mindtorch_npu_status"
    lines += [f"# HELP {name} 1 for the status that the device has.", f"# TYPE {name} gauge"]
    for entry in devices:
        for status in workers.EXIT:
            lines.append(f'{name}{{device="{entry["device"]}",status="{status}"}} {int(entry["status"] == status)}')
    return "\n".join(lines) + "\n"


def metrics(options: argparse.Namespace) -> int:
    """Print, write or serve the readings for Prometheus."""
    if options.listen:
        command = [
            sys.executable,
            "-m",
            "mindtorch_npu.endpoint",
            options.listen,
            *([options.history] if options.history else []),
        ]
        return subprocess.run(command, check=False).returncode
    devices = readings.read_all()
    remember(devices, options.history)
    text = metrics_text(devices)
    if options.textfile:
        # Whole or not at all: the collector may read at any time.
        part = Path(f"{options.textfile}.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(options.textfile)
    else:
        print(text, end="")
    return workers.exit_status(devices)


def history_file(named: str | None) -> Path:
    """Return the file of changes: the one that is named, else the one of this user."""
    if named:
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return Path(state, "mindtorch-npu", "events.jsonl")


def remember(devices: list[dict[str, Any]], named: str | None) -> None:
    """Append a line for each device whose status is another than the last in the file; nothing without a file."""
    if not named:
        return
    file = history_file(named)
    last = {entry["device"]: entry["status"] for entry in read_history(file)}
    changed = [entry for entry in devices if last.get(entry["device"]) != entry["status"]]
    if changed:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            for entry in changed:
                row = {
                    "time": time.time(),
                    "device": entry["device"],
                    "status": entry["status"],
                    "error": entry["error"],
                }
                out.write(json.dumps(row) + "\n")


def read_history(file: Path) -> list[dict[str, Any]]:
    """Return the changes in a file, the oldest first; none where there is no file."""
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def events(options: argparse.Namespace) -> int:
    """Print when devices changed their status."""
    found = read_history(history_file(options.history))
    if _json(options):
        _print(0, {"events": found})
        return 0
    for row in found:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["time"]))
        print(f"{when}  device {row['device']}: {row['status']}" + (f": {row['error']}" if row["error"] else ""))
    if not found:
        print("no changes are recorded")
    return 0


__all__ = ["events", "history_file", "memory", "metrics", "metrics_text", "read_history", "remember", "trial", "watch"]
