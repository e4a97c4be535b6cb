"""A checkpoint of 400 MB: how long saving, loading and mapping it take, and how much memory."""

import tempfile
from pathlib import Path

from fresh import run_fresh
from pairing import Measurement

PAIRS = 5
CASE = {"checkpoint": "a checkpoint of 400 MB saved, loaded and mapped: time and peak memory, fresh processes"}

# Every side saves its own file and loads the other's. What is mapped is also read, or nothing would be measured.
_CHECKPOINT = """
import json, resource, sys, time
import {module} as torch
action, path = {action!r}, {path!r}
torch.load({small!r}), torch.save(torch.ones(1), {small!r})  # what is imported at the first call
tensors = {{f"weight{{i}}": torch.ones(2500, 1000) * i for i in range(40)}} if action == "save" else None
cpu, wall = time.process_time(), time.perf_counter()
if action == "save":
    torch.save(tensors, path)
else:
    loaded = torch.load(path, mmap=action == "map")
    total = [float(value[::64].sum()) for value in loaded.values()]
cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(dict(cpu=cpu, wall=wall, rss=peak)))
"""


def measure_checkpoints(ours: str, torch: str, pairs: int) -> list[Measurement]:
    """Return times and peak memory of both sides, alternating fresh processes."""
    texts = {"save": "400 MB saved", "load": "400 MB loaded", "map": "400 MB mapped and read"}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        small = str(Path(folder, "small.pt"))
        paths = {"ours": str(Path(folder, "ours.pt")), "torch": str(Path(folder, "torch.pt"))}
        for action, text in texts.items():
            seconds = Measurement(action, f"{text}, CPU")
            memory = Measurement(f"{action} memory", f"{text}, peak memory", unit="B")
            found += [seconds, memory]
            try:
                runs: list[tuple[dict, dict]] = []
                run_fresh(torch, "torch", "import {module} as t; t.save(t.ones(1), {path!r}); print(0)", path=small)
                for _ in range(pairs + 1):
                    here = run_fresh(ours, "mindtorch", _CHECKPOINT, action=action, path=paths["ours"], small=small)
                    there = run_fresh(torch, "torch", _CHECKPOINT, action=action, path=paths["torch"], small=small)
                    runs.append((here, there))
                    if action != "save":
                        paths = {"ours": paths["torch"], "torch": paths["ours"]}
            except RuntimeError as error:
                seconds.error = memory.error = str(error)
                continue
            del runs[0]  # the first one reads the files and writes what is compiled
            seconds.add_pairs([one["cpu"] for one, _ in runs], [other["cpu"] for _, other in runs])
            memory.add_pairs([one["rss"] for one, _ in runs], [other["rss"] for _, other in runs])
    return found
