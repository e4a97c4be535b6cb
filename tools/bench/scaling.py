"""A model of training steps on up to 4,096 ranks, fed with what collectives take here, and a page of it.

    python tools/bench/scaling.py                            measure, compare with the model at 2 and 4 ranks, print
    python tools/bench/scaling.py --write                    and write docs/status/scaling.md
    python tools/bench/scaling.py --between 10e-6 0.08e-9    latency and seconds a byte between hosts (assumed)

Figures are the shortest of several. Where there are fewer processors than ranks, computing takes as much longer.
"""

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from scaling_model import STEPS, Cluster, Layer, Level

from mindtorch_testing.distributed import ranks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "scaling.md"
SIZES = (1024, 8_388_608)
RANKS = (2, 4)
PREDICTED = (8, 16, 64, 256, 1024, 4096)
LAYERS, WIDTH, BATCH = 6, 1024, 64
BERT = [Layer(4 * 31.8e6, 4 * 768 * 4096, 0.004, 0.008)] + [Layer(4 * 7.1e6, 4 * 768 * 4096, 0.010, 0.020)] * 12
"""BERT-base with 4,096 tokens a rank, at about 50 TFLOP/s."""


def shortest(call: Callable[[], object], before: Callable[[], object], rounds: int) -> float:
    """The shortest time of a call."""
    taken = []
    for _ in range(rounds + 1):
        before()
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken[1:])


def rank_main(kinds: list[str]) -> None:
    """One rank: times of all-gather by size, and of steps."""
    torch = importlib.import_module("mindtorch")
    dist = importlib.import_module("mindtorch.distributed")
    parallel = importlib.import_module("mindtorch.nn.parallel")
    sharded = importlib.import_module("mindtorch.distributed.fsdp")
    styles = importlib.import_module("mindtorch.distributed.tensor.parallel")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    size, found, nn = dist.get_world_size(), {}, torch.nn
    for count in SIZES:
        whole, part = torch.ones(count // 4), torch.ones(count // 4 // size)
        found[f"gather {count}"] = shortest(lambda w=whole, p=part: dist.all_gather_single(w, p), dist.barrier, 20)
        found[f"reduce {count}"] = shortest(lambda w=whole: dist.all_reduce(w), dist.barrier, 20)
    x = torch.randn(BATCH, WIDTH)
    for kind in kinds:
        torch.manual_seed(0)
        model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)))
        if kind == "DDP":
            model = parallel.DistributedDataParallel(model)
        elif kind == "FSDP":
            for layer in model:
                sharded.fully_shard(layer)
            sharded.fully_shard(model)
        elif kind == "TP":
            mesh = dist.init_device_mesh("cpu", (size,))
            plan = {str(i): styles.RowwiseParallel() if i % 2 else styles.ColwiseParallel() for i in range(LAYERS)}
            model = styles.parallelize_module(model, mesh, plan)

        def step(model: object = model) -> None:
            model.zero_grad()
            model(x).square().mean().backward()

        found[kind] = shortest(step, dist.barrier, 6)
    if dist.get_rank() == 0:
        print("FOUND " + json.dumps(found), flush=True)
    dist.destroy_process_group()


def measured(size: int, kinds: list[str]) -> dict[str, float]:
    """What rank 0 of so many found."""
    found: dict[str, float] = ranks.answers([__file__, "--rank", *kinds], size, "FOUND ", 500)[0]
    return found


def level(found: dict[str, float], size: int) -> Level:
    """Latency and seconds a byte of a rank's part, from the times of a small and of a large all-reduce."""
    small, large = (found[f"reduce {count}"] / 2 for count in SIZES)
    rounds = (size - 1).bit_length()
    return Level(small / rounds, max(large - small, 1e-12) / (SIZES[1] * (size - 1) / size))


def compared(alone: dict[str, float]) -> tuple[list[str], Level]:
    """Rows of the model beside measurements, and the level of the network that was measured at two ranks."""
    rows, first = [], None
    for size in RANKS:
        found = measured(size, list(STEPS))
        inside = level(found, size)
        first = first or inside
        crowded = max(1.0, size / (os.cpu_count() or 1))
        one = alone["alone"] * crowded / LAYERS
        layer = Layer(4 * WIDTH * WIDTH, 4 * BATCH * WIDTH / 2, one / 3, one * 2 / 3)  # every second layer reduces
        cluster = Cluster(size, size, inside, inside)
        for kind, simulate in STEPS.items():
            # What the library does beside computing takes as long on one rank, which has nobody to wait for.
            said = simulate([layer] * LAYERS, cluster) + max(alone[kind] - alone["alone"], 0.0) * crowded
            rows.append(
                f"| {kind} | {size} | {found[kind] * 1e3:,.1f} | {said * 1e3:,.1f} | {said / found[kind]:.2f} |"
            )
    assert first is not None
    return rows, first


def predicted(inside: Level, between: Level, per_host: int) -> list[str]:
    """Rows of BERT-base: seconds of a step, and the share of the time in which a rank computes."""
    rows = []
    computed = sum(layer.forward + layer.backward for layer in BERT)
    for count in PREDICTED:
        cells = []
        for kind, simulate in STEPS.items():
            part = min(count, per_host) if kind == "TP" else count  # parts of a layer stay on a host
            seconds = simulate(BERT, Cluster(part, per_host, inside, between))
            share = computed / (part if kind == "TP" else 1) / seconds
            cells.append(f"{seconds * 1e3:,.1f} ms, {share:.0%}")
        rows.append(f"| {count:,} | {' | '.join(cells)} |")
    return rows


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--per-host", type=int, default=8)
    parser.add_argument("--between", type=float, nargs=2, default=(10e-6, 0.08e-9), metavar=("LATENCY", "PER_BYTE"))
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.rank is not None:
        rank_main(given.rank)
        return 0
    rows, inside = compared(measured(1, ["alone", *STEPS]))
    between = Level(*given.between)
    speeds = [f"{one.latency * 1e6:,.1f} µs and {1e-9 / one.per_byte:,.1f} GB/s" for one in (inside, between)]
    text = "\n".join([
        "# A model of scale", "",
        "Written by `python tools/bench/scaling.py --write`. Inside a host as measured here with two ranks of one thread:",
        f"{speeds[0]}. Between hosts, assumed: {speeds[1]}, {given.per_host} ranks a host. "
        f"{os.cpu_count()} processors, load {os.getloadavg()[1]:.1f}.", "",
        f"## The model beside measurements: {LAYERS} layers of {WIDTH} x {WIDTH}, {BATCH} rows", "",
        "| step | ranks | measured, ms | model, ms | model / measured |", "| --- | --- | --- | --- | --- |", *rows, "",
        "## BERT-base, 4,096 tokens a rank: time of a step, and the share in which a rank computes", "",
        "TP cuts layers over the ranks of one host.", "",
        f"| ranks | {' | '.join(STEPS)} |", "| --- | --- | --- | --- |", *predicted(inside, between, given.per_host),
    ])  # fmt: skip
    print(text)
    if given.write:
        PAGE.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
