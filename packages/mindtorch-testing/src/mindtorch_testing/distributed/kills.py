"""Kill ranks of a program at random and see that the others raise in time.

    python -m mindtorch_testing.distributed.kills --count 200 --size 3
    python -m mindtorch_testing.distributed.kills --at --size 2     # each rank at each point of its way into the group

Prints how many worlds ended well, and fails when one hung or left shared memory behind.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from mindtorch_testing.distributed import points, ranks

PROGRAM = """
import datetime, sys
import mindtorch as torch, mindtorch.distributed as dist
from mindtorch_testing.distributed import points
points.arm()
try:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=10))
    print("ready", flush=True)
    x, step = torch.ones(400_000), 0
    while True:
        step += 1
        works = [dist.all_reduce(x.clone(), async_op=True) for _ in range(2)]
        dist.all_reduce(x)
        dist.all_gather_single(torch.empty(4 * dist.get_world_size()), x[:4])
        [work.wait() for work in works]
        x /= dist.get_world_size()
except RuntimeError as error:
    print("raised", error, flush=True)
    sys.exit(3)
"""


def segments() -> set[str]:
    """The shared memory of MPICH on this host."""
    return {file.name for file in Path("/dev/shm").glob("mpich_shm_*")}


def one(size: int, seconds: float, choose: random.Random) -> str:
    """Run a world, kill a rank, and say how the others ended."""
    world = ranks.World(["-c", PROGRAM], size)
    victim = choose.randrange(size)
    process = world.processes[victim]
    if choose.random() < 0.8:  # at work; otherwise while it starts
        process.stdout.readline()  # type: ignore[union-attr]
        time.sleep(choose.random() * 0.3)
    else:
        time.sleep(choose.random() * 2)
    process.kill()
    return ended(world, victim, seconds)


def at(point: str, size: int, seconds: float, rank: int) -> str:
    """Run a world in which a rank is killed at a point, and say how the others ended."""
    os.environ[points.VARIABLE] = f"{rank}:{point}"
    try:
        world = ranks.World(["-c", PROGRAM], size)
    finally:
        del os.environ[points.VARIABLE]
    return ended(world, rank, seconds)


def ended(world: ranks.World, victim: int, seconds: float) -> str:
    """Say how the processes ended that were not killed."""
    ends = world.finish(seconds)
    killed, others = ends[victim], [end for rank, end in enumerate(ends) if rank != victim]
    if any(end.late for end in ends):
        print(ranks.told(ends), flush=True)
        return "hang"
    for end in others:
        if end.code < 0:
            print(end.errors, flush=True)
            return end.how
    if killed.code != -signal.SIGKILL:
        return f"was not killed: {ends}"
    return "raised" if all(end.code == 3 and "raised" in end.output for end in others) else f"went on: {others}"


def _chosen(given: argparse.Namespace, choose: random.Random) -> list[Callable[[], str]]:
    """What the command was asked for: kills at points, or at random."""
    if given.at is None:
        return [lambda: one(given.size, given.seconds, choose)] * given.count
    return [
        lambda point=point, rank=rank: at(point, given.size, given.seconds, rank)  # type: ignore[misc]
        for point in given.at or points.POINTS
        for rank in range(given.size)
    ]


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=120, help="a world that takes longer hangs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--at", nargs="*", choices=points.POINTS, help="kill each rank at these points; all without one"
    )
    given = parser.parse_args(arguments)
    choose, before = random.Random(given.seed), segments()
    found: dict[str, int] = {}
    for number, kill in enumerate(kills := _chosen(given, choose), 1):
        outcome = kill()
        found[outcome] = found.get(outcome, 0) + 1
        if number % 10 == 0:
            print(f"{number} of {len(kills)}: {found}", flush=True)
    left = segments() - before
    print(f"{len(kills)} kills: {found}; shared memory left: {sorted(left)}")
    return int(bool(left) or set(found) != {"raised"})


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
