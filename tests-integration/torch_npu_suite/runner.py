"""Runs one of torch_npu's test files on the simulator, in processes of its own, and reads what the recorder wrote."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

OF_PYTORCH = Path(__file__).resolve().parents[1] / "pytorch_suite"
sys.path.append(str(OF_PYTORCH))

import recorder  # noqa: E402
import sources  # noqa: E402

SIMULATOR = "Ascend910B3:8,memory=8GiB"
_CRASHES = 20  # a file that ends its process more often is given up

Outcomes = dict[str, dict[str, str]]


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
    # What the tests start as programs of their own has to find the same torch.
    code = "import os; from mindtorch_proxy.environment import hand_on; hand_on(os.environ); print(os.environ['PYTHONPATH'])"
    handed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return environment | {"PYTHONPATH": handed.stdout.strip(), "MINDTORCH": "1"}


def run_file(file: Path, timeout: int = 60) -> Outcomes:
    """Return, per test, its status (pass, fail, skip) and the reason of a failure."""
    command = [sys.executable, "-m", "pytest", "--noconftest", "-q", "-p", "no:cacheprovider", "-p", "recorder"]
    command += ["-p", "mindtorch_proxy.pytest_plugin", "--timeout", str(timeout), "--tb", "short", "-o", "addopts="]
    command += [f"--rootdir={file.parent}", file.name]
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record.jsonl"
        record.touch()
        environment = _environment(record)
        outcomes: Outcomes = {}
        for _ in range(_CRASHES):
            done = subprocess.run(command, cwd=file.parent, env=environment, capture_output=True, text=True)
            outcomes, running = recorder.read(record)
            if running is None:
                break
            reason = f"the process ended with {done.returncode}"
            with record.open("a") as held:
                held.write(f'{{"test": "{running}", "status": "fail", "reason": "{reason}"}}\n')
            outcomes[running] = {"status": "fail", "reason": reason}
    if not outcomes:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        return {"(import)": {"status": "fail", "reason": " ".join(last)[:300]}}
    return outcomes
