"""What was measured, run after run: `history.jsonl`, one line a run."""

import json
import os
import platform
import subprocess
import time
from pathlib import Path

from pairing import Measurement

FILE = Path(__file__).with_name("history.jsonl")
RUNS = 8


def processor() -> str:
    """Return the processor's name, or the machine's architecture where it has none."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def machine() -> str:
    """Return what figures of two runs must have in common to be compared."""
    return f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _commit() -> str:
    described = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(described, cwd=FILE.parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def record(found: list[Measurement], threads: int, file: Path = FILE) -> None:
    """Append a run; what could not be measured keeps its reason."""
    figures = {
        one.name: {"error": one.error}
        if one.error
        else {
            "text": one.text,
            "unit": one.unit,
            "ours": float(f"{one.ours:.4g}"),
            "torch": float(f"{one.torch:.4g}"),
            "ratio": round(one.ratio, 3),
            "least": round(min(one.ratios), 3),
            "most": round(max(one.ratios), 3),
        }
        for one in found
    }
    run = {
        "date": time.strftime("%Y-%m-%d"),
        "commit": _commit(),
        "machine": machine(),
        "threads": threads,
        "figures": figures,
    }
    with file.open("a") as lines:
        lines.write(json.dumps(run, ensure_ascii=False) + "\n")


def runs(file: Path = FILE) -> list[dict]:
    """Return the runs, oldest first."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def latest(threads: int, file: Path = FILE) -> dict[str, dict]:
    """Return every case's newest figures on the machine of the newest run."""
    of_threads = [run for run in runs(file) if run["threads"] == threads]
    found: dict[str, dict] = {}
    for run in of_threads:
        if run["machine"] == of_threads[-1]["machine"]:
            found |= {name: {**one, "date": run["date"]} for name, one in run["figures"].items()}
    return found


def trend(threads: int, file: Path = FILE) -> str:
    """Return the ratios of the last runs, one line a case, oldest to newest; a dash where a run left the case out."""
    last = [run for run in runs(file) if run["threads"] == threads][-RUNS:]
    if not last:
        return f"no run with {threads} thread(s) is recorded: tools/bench --record --threads {threads}"
    names = list(dict.fromkeys(name for run in last for name in run["figures"]))
    width = max(map(len, names))
    lines = [" " * width + "".join(f"{run['date'][5:]:>10}" for run in last)]
    lines.append(" " * width + "".join(f"{run['commit'].removesuffix('-dirty')[:8]:>10}" for run in last))
    for name in names:
        ratios = [run["figures"].get(name, {}).get("ratio") for run in last]
        cells = "".join(f"{'-':>10}" if ratio is None else f"{ratio:10.2f}" for ratio in ratios)
        lines.append(f"{name:{width}}{cells}")
    machines = {run["machine"] for run in last}
    if len(machines) > 1:
        lines.append("these runs are of different machines: " + "; ".join(sorted(machines)))
    return "\n".join(lines)
