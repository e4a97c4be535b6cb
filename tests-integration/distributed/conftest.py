"""Programs on several processes, on ours and on torch's launcher."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def launch(tmp_path):
    """Run a program by a library's launcher; return what ended it and its JSON."""

    def run(library, program, *arguments, options=(), result=True):
        target = tmp_path / f"{library}.json"
        given = [library, str(target), *map(str, arguments)] if result else list(map(str, arguments))
        command = [sys.executable, "-m", f"{library}.distributed.run", "--nproc-per-node", "2", *options]
        ended = subprocess.run(
            [*command, str(PROGRAMS / program), *given], capture_output=True, text=True, timeout=240, check=False
        )
        if not result:
            return ended
        assert ended.returncode == 0, ended.stderr
        return json.loads(target.read_text())

    return run
