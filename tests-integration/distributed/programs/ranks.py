"""Start ranks from one process that has imported a library: importing it costs more than most programs. Argument: library.

Reads a request a line, `{"program", "arguments", "ranks", "folder", "timeout"}`, and answers with how the ranks ended, those
that failed first: `[[rank, code, in words], ...]`. What they said lies in the folder.
"""

import faulthandler
import importlib
import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path

from mindtorch_testing.distributed.ranks import STACKS, meaning, reserved_port, variables


def become(rank, port, request):
    """Make this process a rank: what it is told, and where it writes."""
    os.environ.update(variables(rank, request["ranks"], port))
    os.setsid()
    output = os.open(Path(request["folder"]) / f"{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for own, given in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(own, given)
    faulthandler.enable(all_threads=True)
    sys.argv = [request["program"], *request["arguments"]]


class Ranks:
    """Processes of a world, until their ends."""

    def __init__(self, processes):
        self._running, self._ended = processes, []

    def _wait(self, seconds, for_failure=False, words=meaning):
        """Wait some seconds for all, or for the first that fails."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in self._running:
                code = os.waitstatus_to_exitcode(status)
                self._ended.append([self._running.pop(pid), code, words(code)])
                if code and for_failure:
                    return
            else:
                time.sleep(0.01)

    def ends(self, seconds):
        """Return how all ended; the first that fails, or the time, ends the others."""
        self._wait(seconds, for_failure=True)
        failed = [rank for rank, code, _ in self._ended if code]
        why = f"was stopped, as rank {failed[0]} had failed" if failed else f"did not end in {seconds} s"
        self._wait(1)  # the others say what they miss
        for pid in self._running:
            os.kill(pid, signal.SIGABRT)  # and where they are
        self._wait(STACKS, words=lambda code: why)
        for pid in self._running:
            os.killpg(pid, signal.SIGKILL)
        self._wait(STACKS, words=lambda code: why)
        return sorted(self._ended, key=lambda end: not end[1])


def serve():
    """Return in every process that is a rank; in the first one when there are no more requests."""
    for line in sys.stdin:
        request = json.loads(line)
        with reserved_port() as port:
            processes = {}
            for rank in range(request["ranks"]):
                pid = os.fork()
                if not pid:
                    become(rank, port, request)
                    return request["program"]
                processes[pid] = rank
            print(json.dumps(Ranks(processes).ends(request["timeout"])), flush=True)
    return None


if __name__ == "__main__":
    for module in ("distributed", "distributed.tensor.parallel", "distributed.checkpoint", "distributed.pipelining"):
        importlib.import_module(f"{sys.argv[1]}.{module}")
    chosen = serve()
    if chosen is not None:
        sys.path[0] = str(Path(chosen).parent)
        runpy.run_path(chosen, run_name="__main__")
