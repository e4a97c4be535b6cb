"""Start the ranks of a program, each a process, and wait for them."""

import os
import socket
import subprocess
import sys
from collections.abc import Sequence


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(arguments: Sequence[str], size: int) -> list[subprocess.Popen[str]]:
    """Start `python ARGUMENTS` as each rank of a world."""
    port = free_port()
    processes = []
    for rank in range(size):
        variables = {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        processes.append(
            subprocess.Popen(
                [sys.executable, *arguments],
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return processes


def finish(processes: Sequence[subprocess.Popen[str]], seconds: float) -> list[tuple[int, str, str]]:
    """The exit status and output of each; TimeoutExpired, after killing all, when one does not end."""
    try:
        outputs = [process.communicate(timeout=seconds) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]
