"""A checkpoint of 400 MB: how long saving, loading and mapping it take, and how much memory."""

import tempfile
from pathlib import Path

from fresh import run_fresh
from pairing import Measurement

PAIRS = 8
_TOUCHED = 1 << 30
CASE = {"checkpoint": "a checkpoint of 400 MB saved, loaded and mapped: time and peak memory, fresh processes"}

# A virtual machine gets memory from its host at the first touch, which costs several times as much as writing to it.
# So that neither side pays for both, a third process touches and frees some just before the clock starts: in large pages,
# which the system cuts into small ones for who asks for those, but does not make of small ones.
_TOUCH = """
import mmap, sys
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for start in range(0, len(memory), mmap.PAGESIZE):
    memory[start] = 1
"""
_CHECKPOINT = """
import json, resource, subprocess, sys, time
import {module} as torch
action, path = {action!r}, {path!r}
torch.load({small!r}), torch.save(torch.ones(1), {small!r})  # what is imported at the first call
tensors = {{f"weight{{i}}": torch.ones(2500, 1000) * i for i in range(40)}} if action == "save" else None
subprocess.run([sys.executable, "-I", "-S", "-c", {touch!r}, "{touched}"], check=True)
cpu, wall = time.process_time(), time.perf_counter()
if action == "save":
    torch.save(tensors, path)
else:
    loaded = torch.load(path, mmap=action != "load")
    total = [float(value[::64].sum()) for value in loaded.values()] if action != "map" else []
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(dict(cpu=cpu, wall=wall, rss=peak)))
"""
_TEXTS = {
    "save new": "400 MB saved to a new file",
    "save": "400 MB saved over an older file",
    "load": "400 MB loaded",
    "map": "400 MB mapped",
    "map read": "400 MB mapped and read",
}


def measure_checkpoints(ours: str, torch: str, pairs: int) -> list[Measurement]:
    """Return times and peak memory of both sides, alternating fresh processes."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        small = str(Path(folder, "small.pt"))
        files = [str(Path(folder, "ours.pt")), str(Path(folder, "torch.pt"))]
        for action, text in _TEXTS.items():
            seconds = Measurement(action, f"{text}, CPU")
            wall = Measurement(f"{action} wall", f"{text}, wall time")
            memory = Measurement(f"{action} memory", f"{text}, peak memory", unit="B")
            found += [seconds, wall, memory]
            try:
                run_fresh(torch, "torch", "import {module} as t; t.save(t.ones(1), {path!r}); print(0)", path=small)
                runs = [_pair(action, files, turn, ours, torch, small) for turn in range(pairs + 1)]
            except RuntimeError as error:
                seconds.error = wall.error = memory.error = str(error)
                continue
            del runs[0]  # the first one reads the files and writes what is compiled
            for measurement, figure in ((seconds, "cpu"), (wall, "wall"), (memory, "rss")):
                measurement.add_pairs([one[figure] for one, _ in runs], [other[figure] for _, other in runs])
    return found


def _pair(action: str, files: list[str], turn: int, ours: str, torch: str, small: str) -> tuple[dict, dict]:
    """One run of each side. Each saves its own file; both load the same one, as how much of a file is mapped at a touch
    depends on how the system cached what was written."""
    saves = action.startswith("save")
    if action == "save new":
        for path in files:
            Path(path).unlink(missing_ok=True)
    mine, other = files if saves else [files[turn % 2]] * 2
    name = "save" if saves else action
    sides = [(ours, "mindtorch", mine), (torch, "torch", other)]
    found = {}
    for interpreter, module, path in sides if turn // 2 % 2 else sides[::-1]:
        found[module] = run_fresh(
            interpreter, module, _CHECKPOINT, action=name, path=path, small=small, touched=_TOUCHED, touch=_TOUCH
        )
    return found["mindtorch"], found["torch"]
