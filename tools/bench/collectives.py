"""Times of collectives beside torch's gloo, in ranks of one thread, and a page of the ratios. `ddp_step` is
a training step of BERT-base under DistributedDataParallel; its bytes are those of the gradients.

    python tools/bench/collectives.py            print those of collectives
    python tools/bench/collectives.py --write    and write docs/status/distributed.md

Both libraries run in turn, several times; a figure is the shortest time, as other programs disturb the longer ones.
"""

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from mindtorch_testing.distributed import ranks

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "status" / "distributed.md"
SIZES = (16, 4096, 262_144, 4_194_304, 26_214_400, 268_435_456)
BOUNDS = {"all_reduce": 0.5, "all_gather": 0.6, "reduce_scatter": 0.6, "ddp_step": 0.7}
LAYERS, WIDTH, WORDS, BATCH, TOKENS = 12, 768, 30_522, 2, 64
"""BERT-base, and what a rank computes in a step."""


def shortest(dist: ModuleType, call: Callable[[], object], rounds: int) -> float:
    """The shortest of the times that a call takes when all ranks begin together."""
    call()
    taken = []
    for _ in range(rounds):
        dist.barrier()
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def step_time(torch: ModuleType, dist: ModuleType, name: str) -> tuple[str, float]:
    """The time of a training step of BERT-base under DistributedDataParallel, and how many bytes of gradients it has."""
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

    step()
    count = sum(4 * parameter.numel() for parameter in model.parameters())
    return f"ddp_step {count}", shortest(dist, step, 4)


def rank_main(name: str, sizes: list[int], step: bool) -> None:
    """One rank: print the shortest time of each collective and size."""
    torch = importlib.import_module(name)
    dist = importlib.import_module(f"{name}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    size, times = dist.get_world_size(), {}
    for count in sizes:
        elements = max(count // 4 // size * size, size)
        whole, part = torch.ones(elements), torch.ones(elements // size)
        calls = {
            "all_reduce": lambda w=whole: dist.all_reduce(w),
            "all_gather": lambda w=whole, p=part: dist.all_gather_single(w, p),
            "reduce_scatter": lambda w=whole, p=part: dist.reduce_scatter_single(p, w),
        }
        rounds = 3 if count > 1 << 27 else 9 if count > 1 << 22 else 60
        for label, call in calls.items():
            times[f"{label} {count}"] = shortest(dist, call, rounds)
    if step:
        label, seconds = step_time(torch, dist, name)
        times[label] = seconds
    if dist.get_rank() == 0:
        print("TIMES " + json.dumps(times), flush=True)
    dist.destroy_process_group()


def measured(name: str, size: int, sizes: list[int], step: bool) -> dict[str, float]:
    """The times of one library."""
    more = ["--step"] if step else []
    arguments = [__file__, "--rank", name, *more, "--sizes", *map(str, sizes)]
    return ranks.answers(arguments, size, "TIMES ", 900)[0]


def table(ours: dict[str, float], theirs: dict[str, float]) -> str:
    """The page's rows."""
    rows = ["| collective | bytes | MindTorch | torch gloo | ratio | bound |", "| --- | --- | --- | --- | --- | --- |"]
    for label, seconds in ours.items():
        name, count = label.split()
        ratio = seconds / theirs[label]
        micro = [f"{value * 1e6:,.0f} µs" for value in (seconds, theirs[label])]
        rows.append(f"| {name} | {int(count):,} | {micro[0]} | {micro[1]} | {ratio:.2f} | {BOUNDS[name]} |")
    return "\n".join(rows)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--step", action="store_true", help="also a training step of BERT-base (--write does it)")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.rank:
        rank_main(given.rank, given.sizes, given.step)
        return 0
    best: dict[str, dict[str, float]] = {"mindtorch": {}, "torch": {}}
    for _ in range(given.repeat):
        for name, seen in best.items():
            for label, seconds in measured(name, given.ranks, given.sizes, given.step or given.write).items():
                seen[label] = min(seconds, seen.get(label, seconds))
    shown = table(best["mindtorch"], best["torch"])
    print(shown)
    if given.write:
        title = "# Collectives beside torch's gloo"
        origin = f"Written by `python tools/bench/collectives.py --write`: {given.ranks} ranks of one thread, "
        origin += f"{os.cpu_count()} processors, load {os.getloadavg()[1]:.1f}."
        text = f"{title}\n\n{origin}\n\n{shown}\n"
        PAGE.write_text(text, encoding="utf-8")
    return int(any(best["mindtorch"][k] / best["torch"][k] > BOUNDS[k.split()[0]] for k in best["torch"]))


if __name__ == "__main__":
    sys.exit(main())
