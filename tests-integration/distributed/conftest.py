"""Programs on several processes, on ours and on torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 240


@pytest.fixture(scope="session")
def starters():
    """Processes that start ranks, by library."""
    started = {}

    def starter(library):
        if library not in started:
            command = [sys.executable, str(PROGRAMS / "ranks.py"), library]
            started[library] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        return started[library]

    yield starter
    for process in started.values():
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


@pytest.fixture
def launch(starters, tmp_path):
    """Run a program on some ranks of a library; return its JSON."""

    def run(library, program, *arguments, ranks=2):
        target = tmp_path / f"{library}.json"
        starter = starters(library)
        request = {"program": str(PROGRAMS / program), "arguments": [library, str(target), *map(str, arguments)],
                   "ranks": ranks, "folder": str(tmp_path), "timeout": SECONDS}  # fmt: skip
        starter.stdin.write(json.dumps(request) + "\n")
        starter.stdin.flush()
        codes = json.loads(starter.stdout.readline())
        assert not any(codes), "\n".join(path.read_text() for path in sorted(tmp_path.glob("*.log")))
        return json.loads(target.read_text())

    return run


@pytest.fixture
def torchrun(tmp_path):
    """Run a program by a library's launcher; return what ended it and its JSON."""

    def run(library, program, *arguments, options=(), result=True):
        target = tmp_path / f"{library}.json"
        given = [library, str(target), *map(str, arguments)] if result else list(map(str, arguments))
        command = [sys.executable, "-m", f"{library}.distributed.run", "--nproc-per-node", "2", *options]
        ended = subprocess.run(
            [*command, str(PROGRAMS / program), *given], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if not result:
            return ended
        assert ended.returncode == 0, ended.stderr
        return json.loads(target.read_text())

    return run
