"""Runs one of PyTorch's test files in processes of its own and reads what the recorder wrote."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import recorder
from processes import Outcomes, command, handed_on, outcomes_of
from sources import GONE, HERE, infrastructure, internals, tests


def _environment(name: str, record: Path, shard: str, ids: Path | None, proxy: bool, timeout: int) -> dict[str, str]:
    folder = tests()
    path = [str(HERE), str(folder), str((folder / name).parent)]  # files import neighbours, as scripts do
    environment = {
        **os.environ,
        "MINDTORCH_SUITE_RECORD": str(record),
        "MINDTORCH_SUITE_SHARD": shard,
        "MINDTORCH_SUITE_INTERNALS": os.pathsep.join(map(str, internals(name))),
        recorder.GONE: GONE.get(name, ""),
        "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": str(timeout - 20),
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu",
        "PYTORCH_PRINT_REPRO_ON_FAILURE": "0",
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
    }
    if ids is not None:
        environment["MINDTORCH_SUITE_IDS"] = str(ids)
    if proxy:
        path.append(str(infrastructure()))
        environment["MINDTORCH_TORCH_PATH"] = str(infrastructure())
    environment["PYTHONPATH"] = os.pathsep.join(path)
    return handed_on(environment) if proxy else environment


def run_file(
    name: str,
    *,
    proxy: bool = True,
    shard: str = "1/1",
    timeout: int = 120,
    ids: set[str] | None = None,
    size: int = 0,
) -> Outcomes:
    """Return, per test, its status (pass, fail, skip) and the reason of a failure.

    ``ids`` leaves the others out, and ``size`` all but so many, drawn by their digests.
    """
    folder = tests()
    if folder is None or infrastructure() is None:
        raise RuntimeError("PyTorch's tests are not here; `fetch --torch PYTHON` brings them")
    line = command(timeout, "--continue-on-collection-errors", name, proxy=proxy)
    with tempfile.TemporaryDirectory() as scratch:
        record = Path(scratch) / "record.jsonl"
        record.touch()
        wanted = None
        if ids is not None:
            wanted = Path(scratch) / "ids"
            wanted.write_text("\n".join(sorted(ids)))
        environment = _environment(name, record, shard, wanted, proxy, timeout)
        if size and ids is None:
            environment[recorder.SAMPLE] = str(size)
        outcomes, done = outcomes_of(line, folder, environment, record)
    if not outcomes:
        raise RuntimeError(f"no test of {name} ran:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    return outcomes
