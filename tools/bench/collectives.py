"""Times of collectives beside torch's gloo, in ranks of one thread, and a page of the ratios. `ddp_step` is
a training step of BERT-base under DistributedDataParallel; its bytes are those of the gradients.

    python tools/bench/collectives.py            print those of collectives
    python tools/bench/collectives.py --write    and write docs/status/distributed.md

Each rank has both libraries and calls them in turn, so that what disturbs one of them disturbs the other too; a figure is
the shortest of many times. With `--processor`, the times are those of the processors, which other programs disturb least.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from mindtorch_testing.distributed import ranks

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "status" / "distributed.md"
LIBRARIES = ("mindtorch", "torch")
LEAST_ROUNDS = 4
Clock = Callable[[], float]
SIZES = (16, 4096, 262_144, 4_194_304, 26_214_400, 268_435_456)
BOUNDS = {"all_reduce": 0.5, "all_gather": 0.6, "reduce_scatter": 0.6, "ddp_step": 0.7}
LAYERS, WIDTH, WORDS, BATCH, TOKENS = 12, 768, 30_522, 2, 64
"""BERT-base, and what a rank computes in a step."""


def shortest(
    dist: ModuleType, calls: dict[str, Callable[[], object]], seconds: float, clock: Clock
) -> dict[str, float]:
    """The shortest of the times that each library's call takes when all ranks begin together, in turn for some seconds."""
    for call in calls.values():
        call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    until, goes_on = time.perf_counter() + seconds, [True]
    while goes_on[0] or len(taken["torch"]) < LEAST_ROUNDS:
        for name, call in calls.items():
            dist.barrier()
            start = clock()
            call()
            taken[name].append(clock() - start)
        goes_on = [time.perf_counter() < until]
        dist.broadcast_object_list(goes_on)
    return {name: min(times) for name, times in taken.items()}


def step_of(torch: ModuleType, name: str) -> tuple[str, Callable[[], object]]:
    """A training step of BERT-base under DistributedDataParallel, and its label with how many bytes of gradients it has."""
    parallel = importlib.import_module(f"{name}.nn.parallel")
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True)
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), nn.TransformerEncoder(layer, LAYERS), nn.Linear(WIDTH, 2))
    trained = parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(trained.parameters(), 1e-3)
    words, wanted = torch.randint(0, WORDS, (BATCH, TOKENS)), torch.zeros(BATCH, dtype=torch.int64)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(trained(words)[:, 0], wanted).backward()
        optimizer.step()

    count = sum(4 * parameter.numel() for parameter in model.parameters())
    return f"ddp_step {count}", step


def calls_of(torch: ModuleType, dist: ModuleType, count: int) -> dict[str, Callable[[], object]]:
    """A library's collectives of so many bytes, by label."""
    size = dist.get_world_size()
    elements = max(count // 4 // size * size, size)
    whole, part = torch.zeros(elements), torch.zeros(elements // size)
    return {
        f"all_reduce {count}": lambda: dist.all_reduce(whole),
        f"all_gather {count}": lambda: dist.all_gather_single(whole, part),
        f"reduce_scatter {count}": lambda: dist.reduce_scatter_single(part, whole),
    }


def rank_main(meeting: str, sizes: list[int], step: bool, seconds: float, clock: Clock) -> None:
    """One rank: print the shortest time of each collective and size in both libraries."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    libraries, groups, times = {}, {}, {}
    for name in LIBRARIES:
        libraries[name], groups[name] = importlib.import_module(name), importlib.import_module(f"{name}.distributed")
        libraries[name].set_num_threads(1)
        groups[name].init_process_group("gloo", init_method=f"file://{meeting}/{name}", rank=rank, world_size=size)
    dist = groups["mindtorch"]
    for count in sizes:
        calls = {name: calls_of(libraries[name], groups[name], count) for name in LIBRARIES}
        for label in calls["torch"]:
            times[label] = shortest(dist, {name: calls[name][label] for name in LIBRARIES}, seconds, clock)
    if step:
        steps = {name: step_of(libraries[name], name) for name in LIBRARIES}
        times[steps["torch"][0]] = shortest(dist, {name: call for name, (_, call) in steps.items()}, seconds, clock)
    if rank == 0:
        print("TIMES " + json.dumps(times), flush=True)
    for group in groups.values():
        group.destroy_process_group()


def measured(given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """The times of both libraries, by label."""
    more = [f"--{name}" for name in ("step", "processor") if getattr(given, name)]
    with tempfile.TemporaryDirectory() as meeting:
        arguments = [__file__, "--rank", meeting, *more, "--seconds", str(given.seconds)]
        found = ranks.answers([*arguments, "--sizes", *map(str, given.sizes)], given.ranks, "TIMES ", 900)
    return dict(found[0])


def table(times: dict[str, dict[str, float]]) -> str:
    """The page's rows."""
    rows = ["| collective | bytes | MindTorch | torch gloo | ratio | bound |", "| --- | --- | --- | --- | --- | --- |"]
    for label, seconds in times.items():
        name, count = label.split()
        micro = [f"{seconds[library] * 1e6:,.0f} µs" for library in LIBRARIES]
        rows.append(f"| {name} | {int(count):,} | {micro[0]} | {micro[1]} | {ratio(seconds):.2f} | {BOUNDS[name]} |")
    return "\n".join(rows)


def ratio(seconds: dict[str, float]) -> float:
    """Our time, in torch's."""
    return seconds["mindtorch"] / seconds["torch"]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4.0, help="for how long the two take turns, for each figure")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--processor", action="store_true", help="time of the processors; MPI's waiting counts as work")
    parser.add_argument("--step", action="store_true", help="also a training step of BERT-base")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.rank:
        clock = time.process_time if given.processor else time.perf_counter
        rank_main(given.rank, given.sizes, given.step, given.seconds, clock)
        return 0
    times = measured(given)
    shown = table(times)
    print(shown)
    if given.write:
        title = "# Collectives beside torch's gloo"
        origin = "Written by `python tools/bench/collectives.py --write`, in which both take turns: "
        origin += f"{given.ranks} ranks of one thread, {os.cpu_count()} processors, load {os.getloadavg()[1]:.1f}."
        if given.processor:
            origin += "\nThe times are those that the processors worked (`--processor`)."
        PAGE.write_text(f"{title}\n\n{origin}\n\n{shown}\n", encoding="utf-8")
    return int(any(ratio(seconds) > BOUNDS[label.split()[0]] for label, seconds in times.items()))


if __name__ == "__main__":
    sys.exit(main())
