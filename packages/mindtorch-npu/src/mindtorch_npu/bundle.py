"""One archive for support: what every command says, the variables that matter, versions, and the ends of the logs.

`python -m mindtorch_npu.bundle [--output FILE] [--json]`; nothing in it is secret: of the environment only names that begin
with those of the vendor's and this package's variables are taken.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from functools import partial
from importlib import metadata
from pathlib import Path

from mindtorch_npu.commands_of_devices import history_file
from mindtorch_npu.workers import exit_status, run, together

COMMANDS = (
    ("check", "--load"), ("doctor",), ("info",), ("memory",), ("watch", "--count", "1"), ("events",),
)  # fmt: skip
PREFIXES = (
    "ASCEND",
    "MINDTORCH",
    "HCCL",
    "TASK_QUEUE",
    "LD_LIBRARY_PATH",
    "PYTORCH_NPU",
    "PYTORCH_ALLOC",
    "TOOLCHAIN_HOME",
)
LOG_FOLDER = Path("~/ascend/log")
TAIL = 1 << 16
LOGS = 20
SECONDS = 8.0
HEALTH_SECONDS, ANSWER_SECONDS = 6.0, 4.0
"""So long a command of the report waits for a device; it has to say so before it is given up itself."""


def _said(command: tuple[str, ...]) -> str:
    line = [sys.executable, "-m", "mindtorch_npu", *command, "--json"]
    try:
        limit = {"MINDTORCH_NPU_TIMEOUT": str(ANSWER_SECONDS)}
        done = subprocess.run(
            line, capture_output=True, text=True, timeout=SECONDS, check=False, env={**os.environ, **limit}
        )
    except subprocess.TimeoutExpired:
        return json.dumps({"error": f"no answer within {SECONDS:g} s"})
    return done.stdout or json.dumps({"error": done.stderr[-2000:], "status": done.returncode})


def _health() -> str:
    found = run("health", HEALTH_SECONDS)
    return json.dumps({"schema": 1, "status": exit_status(found["devices"]), **found}, indent=2)


def _logs() -> dict[str, bytes]:
    """Return the ends of the newest files of the vendor's log."""
    folder = LOG_FOLDER.expanduser()
    files = sorted((file for file in folder.rglob("*.log") if file.is_file()), key=lambda f: f.stat().st_mtime)
    found = {}
    for file in files[-LOGS:]:
        with file.open("rb") as source:
            source.seek(max(0, file.stat().st_size - TAIL))
            found[f"log/{file.relative_to(folder)}"] = source.read()
    return found


def contents() -> dict[str, bytes]:
    """Return the files of the archive by name."""
    # At the same time: each waits for devices that hang.
    health, *said = together(_health, *(partial(_said, command) for command in COMMANDS))
    texts = {f"{command[0]}.json": text for command, text in zip(COMMANDS, said, strict=True)}
    texts["health.json"] = health
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith(PREFIXES)}
    texts["environment.json"] = json.dumps(variables, indent=2)
    packages = sorted({f"{one.metadata['Name']}=={one.version}" for one in metadata.distributions()})
    texts["packages.txt"] = "\n".join(packages) + "\n"
    history = history_file(None)
    if history.is_file():
        texts["events.jsonl"] = history.read_text(encoding="utf-8")
    return {**{name: text.encode() for name, text in texts.items()}, **_logs()}


def write(output: Path) -> list[str]:
    """Write the archive and return the names of its files."""
    found = contents()
    with tarfile.open(output, "w:gz") as archive:
        for name, data in found.items():
            entry = tarfile.TarInfo(f"mindtorch-npu-report/{name}")
            entry.size, entry.mtime = len(data), int(time.time())
            archive.addfile(entry, io.BytesIO(data))
    return list(found)


def main(arguments: list[str]) -> int:
    """Write the archive and say where it is."""
    parser = argparse.ArgumentParser(prog="mindtorch-npu report")
    parser.add_argument("--output", default=time.strftime("mindtorch-npu-report-%Y%m%d-%H%M%S.tar.gz"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    names = write(Path(options.output))
    if options.json:
        print(json.dumps({"schema": 1, "status": 0, "archive": options.output, "files": names}, indent=2))
    else:
        print(f"written: {options.output}: {len(names)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
