"""Runs the tests of one model in a process of its own and reads what the recorder wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sources import HERE, Tree

Outcomes = dict[str, dict[str, str]]


def run_model(
    tree: Tree, model: str, *, proxy: bool, arguments: list[str], pipeline: str = "", python: Path | None = None
) -> Outcomes:
    """Return, per test, its status (pass, fail, skip) and the reason of a failure; `python` runs it instead of this one."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        record.touch()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH", "")])),
            "MINDTORCH_SUITE_RECORD": str(record),
            "MINDTORCH_SUITE_PIPELINE": pipeline,
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        }
        command = [
            str(python or sys.executable),
            "-m",
            "pytest",
            "-q",
            "-p",
            "recorder",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore",
        ]
        if proxy:
            command += ["-p", "mindtorch_proxy.pytest_plugin", "--mindtorch=1"]
        command += ["--timeout", "600", *map(str, tree.files[model]), "-k", "ModelTest", *arguments]
        done = subprocess.run(command, cwd=tree.root, env=environment, capture_output=True, text=True)
        lines = [json.loads(line) for line in record.read_text().splitlines()]
    if not lines:
        raise RuntimeError(f"no test of {model} ran:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    if done.returncode < 0:
        lines.append({"test": "(the process)", "status": "fail", "reason": f"ended by signal {-done.returncode}"})
    return {line["test"]: {"status": line["status"], "reason": line["reason"]} for line in lines}
