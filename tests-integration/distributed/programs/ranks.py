"""Start ranks from one process that has imported a library: importing it costs more than most programs. Argument: library.

Reads a request a line, `{"program", "arguments", "ranks", "folder", "timeout"}`, and answers with how the ranks ended; what they
said lies in the folder.
"""

import importlib
import json
import os
import runpy
import signal
import socket
import sys
import time
from pathlib import Path


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def become(rank, port, request):
    """Make this process a rank: what it is told, and where it writes."""
    count = str(request["ranks"])
    told = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count,
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    os.environ.update(told)
    os.setsid()
    output = os.open(Path(request["folder"]) / f"{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for own, given in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(own, given)
    sys.argv = [request["program"], *request["arguments"]]


def ended(processes, seconds):
    """Return the exit codes of all processes; the first that fails, or the time, ends the others."""
    codes, until, stopped = {}, time.monotonic() + seconds, False
    while len(codes) < len(processes):
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in processes:
            codes[pid] = os.waitstatus_to_exitcode(status)
        if not stopped and (any(codes.values()) or time.monotonic() > until):
            stopped = True
            time.sleep(1)  # the others say what they miss
            for other in processes:
                if other not in codes:
                    os.killpg(other, signal.SIGKILL)
        if not pid:
            time.sleep(0.01)
    return [codes[pid] for pid in processes]


def serve():
    """Return in every process that is a rank; in the first one when there are no more requests."""
    for line in sys.stdin:
        request = json.loads(line)
        processes, port = [], free_port()
        for rank in range(request["ranks"]):
            pid = os.fork()
            if not pid:
                become(rank, port, request)
                return request["program"]
            processes.append(pid)
        print(json.dumps(ended(processes, request["timeout"])), flush=True)
    return None


if __name__ == "__main__":
    for module in ("distributed", "distributed.tensor.parallel", "distributed.checkpoint", "distributed.pipelining"):
        importlib.import_module(f"{sys.argv[1]}.{module}")
    chosen = serve()
    if chosen is not None:
        sys.path[0] = str(Path(chosen).parent)
        runpy.run_path(chosen, run_name="__main__")
