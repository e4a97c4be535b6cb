"""What only a fresh process can show: how long the import takes, how much memory it and a training step take."""

import json
import os
import subprocess
from pathlib import Path

from catalogue import CASES, MEMORY
from pairing import Measurement

FRESH = {
    "import": "import time and resident memory after import, fresh processes",
} | {
    name: f"peak memory of three steps, less what the imports take: {CASES[case].text}" for name, case in MEMORY.items()
}
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

_STEPS = """
import json, resource, sys
if {module!r} == "mindtorch":
    __import__("mindtorch_proxy").install()
sys.path.insert(0, {folder!r})
import {cases}, torch
torch.manual_seed(0)
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
step = {cases}.{case}()
for _ in range(3):
    step()
print(json.dumps(dict(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)))
"""


def run_fresh(interpreter: str, module: str, program: str = _PROGRAM, **values: str) -> dict:
    """Run a program that prints JSON in a process of its own; RuntimeError with its last line when it fails."""
    # Installed packages have their bytecode compiled, so a process that must not write any would measure the compiler.
    dropped = ("MINDTORCH", "PYTHONDONTWRITEBYTECODE")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    environment |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    command = [
        interpreter,
        "-W",
        "ignore",
        "-c",
        program.format(module=module, folder=str(Path(__file__).parent), **values),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{module}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout)


def measure_fresh(name: str, ours: str, torch: str, pairs: int | None) -> list[Measurement]:
    """Return a case's figures, alternating fresh processes of both sides."""
    if name in MEMORY:
        wanted = {"cases": CASES[MEMORY[name]].module, "case": MEMORY[name]}
        peak = Measurement(name, FRESH[name], unit="B")
        try:
            runs = [[run_fresh(*side, _STEPS, **wanted)["peak"] for side in ((ours, "mindtorch"), (torch, "torch"))]]
        except RuntimeError as error:
            peak.error = str(error)
            return [peak]
        peak.add_pairs(*map(list, zip(*runs, strict=True)))
        return [peak]
    seconds = Measurement("import", "import time, CPU")
    memory = Measurement("memory", "resident memory after import", unit="B")
    try:
        run_fresh(ours, "mindtorch"), run_fresh(torch, "torch")  # the first import compiles and reads files
        runs = [(run_fresh(ours, "mindtorch"), run_fresh(torch, "torch")) for _ in range(pairs or PAIRS)]
    except RuntimeError as error:
        seconds.error = memory.error = str(error)
        return [seconds, memory]
    seconds.add_pairs([one["cpu"] for one, _ in runs], [other["cpu"] for _, other in runs])
    memory.add_pairs([one["rss"] for one, _ in runs], [other["rss"] for _, other in runs])
    return [seconds, memory]
