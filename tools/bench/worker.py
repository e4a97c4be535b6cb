"""One side of the bench: `python worker.py ours|torch`, commands as JSON lines on stdin, answers on stdout."""

import gc
import importlib
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Serve commands until stdin closes."""
    side = sys.argv[1]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is no answer
    warnings.simplefilter("ignore")
    bench = Bench()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = bench.start(side) if command["do"] == "start" else bench.serve(command)
        except Exception as error:  # noqa: BLE001 - a case that one side cannot run is a result
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        answers.write(json.dumps(answer) + "\n")


class Bench:
    """The case that is prepared on this side."""

    def __init__(self) -> None:
        self._torch: Any = None
        self._step: Callable[[], object] | None = None

    def start(self, side: str) -> dict[str, Any]:
        """Import torch, or what goes by that name on our side."""
        if side.startswith("ours"):
            importlib.import_module("mindtorch_proxy").install()
        self._torch = importlib.import_module("torch")
        return {"version": str(self._torch.__version__)}

    def serve(self, command: dict[str, Any]) -> dict[str, Any]:
        """Carry out one command."""
        if command["do"] == "prepare":
            self._torch.manual_seed(0)
            self._step = getattr(importlib.import_module(command["module"]), command["case"])()
            repeat(self._step, command["warm_up"])
        elif command["do"] == "time" and self._step is not None:
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            repeat(self._step, command["count"])
            return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        elif command["do"] == "drop":
            self._step = None
            gc.collect()
        return {}


def repeat(step: Callable[[], object], count: int) -> None:
    """Call `step` `count` times with as little around it as Python allows."""
    for _ in itertools.repeat(None, count):
        step()


if __name__ == "__main__":
    main()
