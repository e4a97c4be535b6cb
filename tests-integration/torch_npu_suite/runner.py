"""Runs one of torch_npu's test files on the simulator, in processes of its own, and reads what the recorder wrote."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

OF_PYTORCH = Path(__file__).resolve().parents[1] / "pytorch_suite"
sys.path.append(str(OF_PYTORCH))

import processes  # noqa: E402
import sources  # noqa: E402

SIMULATOR = "Ascend910B3:8,memory=8GiB"
Outcomes = processes.Outcomes


def _environment(record: Path) -> dict[str, str]:
    infrastructure = sources.infrastructure()
    if infrastructure is None:
        raise SystemExit(
            "torch.testing._internal is not here: `python tests-integration/pytorch_suite fetch` brings it"
        )
    environment = {
        **os.environ,
        "MINDTORCH_NPU_SIMULATOR": os.environ.get("MINDTORCH_NPU_SIMULATOR", SIMULATOR),
        "MINDTORCH_SUITE_RECORD": str(record),
        "MINDTORCH_SUITE_INTERNALS": str(infrastructure / "torch" / "testing" / "_internal"),
        "MINDTORCH_TORCH_PATH": str(infrastructure),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": os.pathsep.join([str(OF_PYTORCH), str(infrastructure)]),
    }
    return processes.handed_on(environment)


def run_file(file: Path, timeout: int = 60) -> Outcomes:
    """Return, per test, its status (pass, fail, skip) and the reason of a failure."""
    line = processes.command(timeout, f"--rootdir={file.parent}", file.name)
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record.jsonl"
        record.touch()
        outcomes, done = processes.outcomes_of(line, file.parent, _environment(record), record)
    if not outcomes:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        return {"(import)": {"status": "fail", "reason": " ".join(last)[:300]}}
    return outcomes
