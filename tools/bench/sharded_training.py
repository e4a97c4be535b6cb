"""Training of a small BERT under `fully_shard` beside torch's with gloo, in ranks of one thread: losses and memory.

python tools/bench/sharded_training.py            print the page's rows for 2 and 4 ranks
python tools/bench/sharded_training.py --write    and write docs/status/sharded-training.md
"""

import argparse
import importlib
import json
import resource
import sys
from pathlib import Path

from mindtorch_testing.distributed import ranks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "status" / "sharded-training.md"
BOUND = 1e-6
WORDS, WIDTH, LAYERS, TOKENS, BATCH = 64, 32, 2, 16, 2
DTYPES = ("float32", "float64")


def losses(name: str, dtype: str, steps: int) -> list[float]:
    """The losses of this rank, each step on another batch."""
    torch, fsdp = (importlib.import_module(f"{name}{rest}") for rest in ("", ".distributed.fsdp"))
    dist, nn = torch.distributed, torch.nn
    torch.set_default_dtype(getattr(torch, dtype))
    torch.manual_seed(0)
    layers = [
        nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True)
        for _ in range(LAYERS)
    ]
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *layers, nn.Linear(WIDTH, WORDS))
    for layer in layers:
        fsdp.fully_shard(layer)
    fsdp.fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(dist.get_rank())
    seen = []
    for _ in range(steps):
        words = torch.randint(0, WORDS, (BATCH, TOKENS), generator=generator)
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), words.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(loss.item())
    return seen


def rank_main(name: str, steps: int) -> None:
    """One rank: rank 0 prints the losses of all ranks, and the most memory that one had."""
    torch = importlib.import_module(name)
    dist = importlib.import_module(f"{name}.distributed")
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    mine = {dtype: losses(name, dtype, steps) for dtype in DTYPES}
    mine["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    everybody = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, mine)
    if dist.get_rank() == 0:
        print("SEEN " + json.dumps(everybody), flush=True)
    dist.destroy_process_group()


def trained(name: str, size: int, steps: int) -> list[dict]:
    """What the ranks of one library saw."""
    return ranks.answers([__file__, "--rank", name, "--steps", str(steps)], size, "SEEN ", 600)[0]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--ranks", type=int, nargs="*", default=[2, 4])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.rank:
        rank_main(given.rank, given.steps)
        return 0
    rows = ["| ranks | dtype | first loss | last loss | largest difference | bound | memory of a rank, ours / torch |"]
    rows.append("| --- | --- | --- | --- | --- | --- | --- |")
    worst = 0.0
    for size in given.ranks:
        ours, theirs = (trained(name, size, given.steps) for name in ("mindtorch", "torch"))
        memory = " / ".join(f"{max(rank['memory'] for rank in side):.0f} MiB" for side in (ours, theirs))
        for dtype in DTYPES:
            pairs = [pair for own, their in zip(ours, theirs, strict=True)
                     for pair in zip(own[dtype], their[dtype], strict=True)]  # fmt: skip
            apart = max(abs(own - their) / abs(their) for own, their in pairs)
            worst = max(worst, apart)
            ends = f"{theirs[0][dtype][0]:.6f} | {theirs[0][dtype][-1]:.6f}"
            rows.append(f"| {size} | {dtype} | {ends} | {apart:.1e} | {BOUND:.0e} | {memory} |")
    shown = "\n".join(rows)
    print(shown)
    if given.write:
        title = "# Training under fully_shard beside torch"
        origin = (
            f"Written by `python tools/bench/sharded_training.py --write`: {given.steps} steps of AdamW, a small BERT,"
        )
        origin += " ranks of one thread; the difference is relative, over all ranks and steps."
        PAGE.write_text(f"{title}\n\n{origin}\n\n{shown}\n", encoding="utf-8")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
