"""What a BERT's training step costs the host on the simulated NPU: launches, and the time of the thread that launches.

    mindtorch run tools/npu_step.py [--steps N] [--profile]

The time is the processor's in the program's own thread: what the simulated device computes runs in threads of its streams
and is not counted. Printed are the least of several runs of steps, the launches of a step, and the most frequent operators.
"""

from __future__ import annotations

import argparse
import collections
import cProfile
import pstats
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "bert"))

from data import Corpus
from models import make_config, make_model

from mindtorch_npu.backend import launches

SIZE, LENGTH, PEAK = 4, 16, 1e-3


def main() -> None:
    """Train a few steps and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=8, help="steps that are measured, one by one")
    parser.add_argument("--profile", action="store_true", help="print where the host's time goes")
    arguments = parser.parse_args()
    corpus = Corpus(vocabulary_size=1000, length=LENGTH, device="npu")
    model = make_model(make_config("small", len(corpus.tokenizer.vocabulary)), 0).to("npu").train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK, weight_decay=0.01)
    batches = corpus.batches(SIZE, 0)

    def step() -> None:
        loss = model(**next(batches).inputs()).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    for _ in range(3):
        step()
    torch.npu.synchronize()
    times, before = [], collections.Counter(launches)
    for _ in range(arguments.steps):
        start = time.thread_time()
        step()
        times.append(time.thread_time() - start)
        torch.npu.synchronize()
    found = collections.Counter(launches) - before
    print(f"host time of a step: {min(times) * 1e3:.1f} ms")
    print(f"launches of a step: {sum(found.values()) / arguments.steps:.0f}")
    for name, count in found.most_common(12):
        print(f"    {count / arguments.steps:6.0f} {name}")
    if arguments.profile:
        with cProfile.Profile() as profile:
            step()
        profile.create_stats()
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
