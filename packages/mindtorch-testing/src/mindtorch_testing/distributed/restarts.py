"""Kill ranks of a training at random, let torchrun start the world again, and see that the losses go on as without the kill.

    python -m mindtorch_testing.distributed.restarts --count 200 --size 2 --write docs/status/restarts.md

A world that takes longer than `--seconds` hangs. Fails when one hung, when losses differ or when shared memory is left.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mindtorch_testing.distributed import kills

PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import mindtorch as torch, mindtorch.distributed as dist
from mindtorch.nn.parallel import DistributedDataParallel

folder, steps, victim, fatal, place = Path(sys.argv[1]), *map(int, sys.argv[2:6])
dist.init_process_group("gloo")
rank, first = dist.get_rank(), os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 300), torch.nn.GELU(), torch.nn.Linear(300, 300), torch.nn.Linear(300, 1))
optimizer, losses = torch.optim.AdamW(net.parameters(), lr=1e-3), []
if (folder / "last.pt").exists():
    saved = torch.load(folder / "last.pt")
    net.load_state_dict(saved["net"]), optimizer.load_state_dict(saved["optimizer"])
    losses = saved["losses"]
model = DistributedDataParallel(net, bucket_cap_mb=0.1)
step = len(losses)

def at(where):
    if first and rank == victim and step == fatal and where == place:
        os.kill(os.getpid(), signal.SIGKILL)

for parameter in list(net.parameters())[2:3]:
    parameter.register_hook(lambda grad: at(1))
for step in range(len(losses), steps):
    x = torch.randn(16, 8, generator=torch.Generator().manual_seed(100 * step + rank))
    at(0)
    loss = (model(x)[:, 0] - x.sum(1).sin()).square().mean()
    loss.backward()
    at(2)
    optimizer.step()
    optimizer.zero_grad()
    mean = loss.detach().clone()
    dist.all_reduce(mean, op=dist.ReduceOp.AVG)
    losses.append(mean.item())
    if rank == 0:
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses}, folder / "new.pt")
        at(3)
        os.replace(folder / "new.pt", folder / "last.pt")
    dist.barrier()
if rank == 0:
    (folder / "losses.json").write_text(json.dumps(losses))
dist.destroy_process_group()
"""
PLACES = ("before forward", "in backward", "before the optimizer's step", "while the checkpoint is written")


def train(size: int, steps: int, victim: int, fatal: int, place: int, seconds: float) -> list[float] | str:
    """Train, with a rank that is killed at a place of a step; return the losses, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.py"
        program.write_text(PROGRAM)
        command = [sys.executable, "-m", "mindtorch.distributed.run", "--nproc-per-node", str(size), "--max-restarts", "1",
                   "--standalone", str(program), folder, *map(str, (steps, victim, fatal, place))]  # fmt: skip
        started = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            _, error = started.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            return "hang"
        if started.returncode:
            return error.strip().splitlines()[-1] if error.strip() else f"status {started.returncode}"
        found: list[float] = json.loads((Path(folder) / "losses.json").read_text())
        return found


def page(count: int, size: int, found: dict[str, int], left: int, seconds: float) -> str:
    """The page of a run."""
    lines = ["# Ranks killed in the middle of a training", "",
             "Written by `python -m mindtorch_testing.distributed.restarts --write`: a rank is killed at a random place of a",
             "random step, torchrun starts the world again, and the training goes on from the last checkpoint.", "",
             f"{count} kills, {size} ranks, {seconds:,.0f} s; shared memory left: {left}.", "",
             "| outcome | worlds |", "| --- | --- |"]  # fmt: skip
    return "\n".join([*lines, *(f"| {outcome} | {times} |" for outcome, times in sorted(found.items()))]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=180, help="a world that takes longer hangs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="the page to write")
    given = parser.parse_args(arguments)
    choose, before, start = random.Random(given.seed), kills.segments(), time.monotonic()
    expected = train(given.size, given.steps, -1, -1, -1, given.seconds)
    if isinstance(expected, str):
        print(f"without a kill: {expected}")
        return 1
    found: dict[str, int] = {}
    for number in range(1, given.count + 1):
        place = choose.randrange(len(PLACES))
        victim = 0 if place == 3 else choose.randrange(given.size)  # rank 0 writes the checkpoint
        losses = train(given.size, given.steps, victim, choose.randrange(given.steps), place, given.seconds)
        outcome = losses if isinstance(losses, str) else "goes on" if losses == expected else f"other losses: {losses}"
        found[outcome] = found.get(outcome, 0) + 1
        print(f"rank {victim} killed {PLACES[place]}: {outcome}", flush=True)
        left = kills.segments() - before
        if given.write:  # after each: a run that is stopped has shown what it has shown
            given.write.write_text(page(number, given.size, found, len(left), time.monotonic() - start))
    print(f"{given.count} kills: {found}; shared memory left: {sorted(left)}")
    return int(bool(left) or set(found) != {"goes on"})


if __name__ == "__main__":
    sys.exit(main())
