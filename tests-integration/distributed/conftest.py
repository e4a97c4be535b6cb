"""Programs on several processes, on ours and on torch."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_testing.distributed.ranks import STACKS, meaning, settled

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 240
LINES = 60


def said(what, ended, folder):
    """Tell how ranks ended and the last that they wrote, the first that failed first: a log may be cut behind."""
    heads = [f"rank {rank} {words}" for rank, _, words in ended]
    failed = [rank for rank, code, _ in ended if code]
    tails = [f"--- {rank}\n" + "\n".join((folder / f"{rank}.log").read_text().splitlines()[-LINES:]) for rank in failed]
    return "\n".join([f"{what}: {', '.join(heads)}", *tails])


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

    def run(library, program, *arguments, ranks=2, seconds=SECONDS):
        target = tmp_path / f"{library}.json"
        starter = starters(library)
        request = {"program": str(PROGRAMS / program), "arguments": [library, str(target), *map(str, arguments)],
                   "ranks": ranks, "folder": str(tmp_path), "timeout": seconds}  # fmt: skip

        def answer():
            starter.stdin.write(json.dumps(request) + "\n")
            starter.stdin.flush()
            line = starter.stdout.readline()
            assert line, f"the process that starts ranks of {library} {meaning(starter.wait())}"
            return json.loads(line)

        ended = settled(library, answer, lambda ended: said(program, ended, tmp_path))
        assert not any(code for _, code, _ in ended), said(f"{library}, {program}", ended, tmp_path)
        return json.loads(target.read_text())

    return run


def below(pid):
    """Return the processes that a process started, and theirs, the last ones first."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = [int(child) for child in children.read_text().split()] if children.exists() else []
    return [process for child in found for process in (*below(child), child)]


def stop(launcher):
    """Let the workers of a launcher write where they are, and end it with them; return what they wrote."""
    for process in below(launcher.pid):
        os.kill(process, signal.SIGABRT)
    try:
        return launcher.communicate(timeout=2 * STACKS)[1]
    except subprocess.TimeoutExpired:
        for process in (*below(launcher.pid), launcher.pid):
            os.kill(process, signal.SIGKILL)
        return launcher.communicate()[1]


def finished(command, seconds):
    """Run a launcher, which fails when it takes longer."""
    started = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    try:
        output, errors = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{shlex.join(command)} did not end in {seconds} s; {stop(started)[-8000:]}")
    return subprocess.CompletedProcess(command, started.returncode, output, errors)


@pytest.fixture
def torchrun(tmp_path):
    """Run a program by a library's launcher; return what ended it and its JSON."""

    def run(library, program, *arguments, options=(), result=True, seconds=SECONDS):
        target = tmp_path / f"{library}.json"
        given = [library, str(target), *map(str, arguments)] if result else list(map(str, arguments))
        command = [sys.executable, "-m", f"{library}.distributed.run", "--nproc-per-node", "2", *options]
        whole = [*command, str(PROGRAMS / program), *given]
        ended = settled(library, lambda: finished(whole, seconds), lambda ended: ended.stderr)
        if not result:
            return ended
        assert ended.returncode == 0, ended.stderr
        return json.loads(target.read_text())

    return run
