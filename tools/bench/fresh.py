"""What only a fresh process can show: how long the import takes and how much memory it leaves resident."""

import json
import os
import subprocess

from pairing import Measurement

FRESH = {"import": "import time and resident memory after import, fresh processes"}
PAIRS = 5

_PROGRAM = """
import json, sys, time
cpu, wall = time.process_time(), time.perf_counter()
import {module}
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
pages = int(open("/proc/self/statm").read().split()[1])
import resource
print(json.dumps(dict(cpu=cpu, wall=wall, rss=pages * resource.getpagesize())))
"""


def _run(interpreter: str, module: str) -> dict:
    # Installed packages have their bytecode compiled, so a process that must not write any would measure the compiler.
    dropped = ("MINDTORCH", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    command = [interpreter, "-c", _PROGRAM.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"{module}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def measure_fresh(name: str, ours: str, torch: str, pairs: int | None) -> list[Measurement]:
    """Return import time and memory, alternating fresh processes of both sides."""
    seconds = Measurement("import", "import time, CPU")
    memory = Measurement("memory", "resident memory after import", unit="B")
    try:
        _run(ours, "mindtorch"), _run(torch, "torch")  # the first import compiles and reads files
        runs = [(_run(ours, "mindtorch"), _run(torch, "torch")) for _ in range(pairs or PAIRS)]
    except RuntimeError as error:
        seconds.error = memory.error = str(error)
        return [seconds, memory]
    seconds.add_pairs([one["cpu"] for one, _ in runs], [other["cpu"] for _, other in runs])
    memory.add_pairs([one["rss"] for one, _ in runs], [other["rss"] for _, other in runs])
    return [seconds, memory]
