"""Trains a BERT on the text beside this file: masked language modelling with AdamW and dropout.

The program knows only torch and transformers. Start it with `mindtorch run examples/bert/train.py` (or `python -m
mindtorch run …`) and torch is MindTorch; start it with plain `python` where torch is installed, and it is torch.
"""

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import curve
import torch
from checkpoints import save_and_reload
from comparison import compare_with_torch
from data import Batch, Corpus
from models import make_config, make_model
from progress import Progress
from rich.console import Console
from rich.table import Table
from transformers import BertForMaskedLM

WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; afterwards it falls in a straight line to zero."""

SIZES = {
    # steps, batch size, sequence length, learning rate
    "small": (200, 16, 48, 2e-3),
    "bert-base": (4, 2, 128, 1e-4),
}


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=sorted(SIZES), default="small")
    parser.add_argument("--steps", type=int, help="training steps (default: 200 small, 4 bert-base)")
    parser.add_argument("--device", default="cpu", help="where to compute: cpu (default) or npu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what was printed to FILE, as Markdown")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out", help="folder for the checkpoints")
    parser.add_argument(
        "--compare-torch", metavar="PYTHON", help="compare loss, gradients and 20 steps with torch in this interpreter"
    )
    return parser.parse_args()


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return the learning rate of a step: linear rise, then linear fall."""
    rise = max(1, int(WARM_UP * steps))
    return peak * min((step + 1) / rise, (steps - step) / max(1, steps - rise))


def train(model: BertForMaskedLM, batches: Iterator[Batch], steps: int, peak: float, console: Console) -> list[float]:
    """Run the training steps; return the loss of each and print the speed."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=0.01)
    losses, pieces, started = [], 0, time.perf_counter()
    with Progress(steps, console) as progress:
        for step in range(steps):
            batch = next(batches)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, steps, peak)
            loss = model(**batch.inputs()).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            pieces += batch.input_ids.numel()
            progress.advance(losses[-1], pieces / (time.perf_counter() - started))
    seconds = time.perf_counter() - started
    console.print(f"{steps} steps in {seconds:.1f} s: {pieces / seconds:,.0f} tokens/s")
    return losses


@torch.no_grad()
def evaluate(model: BertForMaskedLM, corpus: Corpus, size: int) -> tuple[float, float]:
    """Return loss and share of hidden pieces guessed right on the held-out sequences."""
    model.eval()
    total, right, hidden = 0.0, 0, 0
    for batch in corpus.evaluation_batches(size):
        output = model(**batch.inputs())
        asked = batch.labels >= 0
        count = int(asked.sum())
        total += output.loss.item() * count
        right += int((output.logits.argmax(-1) == batch.labels)[asked].sum())
        hidden += count
    return total / hidden, right / hidden


def peak_memory() -> float:
    """Return the largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def device_name(device: str) -> str:
    """Return the name of the device, for accelerators that of the chip."""
    return device if device == "cpu" else f"{device}: {getattr(torch, device).get_device_name()}"


def report(losses: list[float], before: tuple[float, float], after: tuple[float, float], console: Console) -> None:
    """Print how far the loss fell."""
    table = Table(title="masked language modelling")
    for heading in ("", "loss", "hidden pieces guessed"):
        table.add_column(heading, justify="right" if heading else "left")
    window = max(1, len(losses) // 10)
    table.add_row("held out, before", f"{before[0]:.3f}", f"{before[1]:.1%}")
    table.add_row(f"training, first {window} steps", f"{sum(losses[:window]) / window:.3f}", "")
    table.add_row(f"training, last {window} steps", f"{sum(losses[-window:]) / window:.3f}", "")
    table.add_row("held out, after", f"{after[0]:.3f}", f"{after[1]:.1%}")
    console.print(table)


def compare(arguments: argparse.Namespace, console: Console) -> None:
    """Measure one step and a few steps here and with torch, and print the differences."""
    _, size, length, peak = SIZES[arguments.model]
    corpus = Corpus(vocabulary_size=1000, length=length)
    config = make_config(arguments.model, len(corpus.tokenizer.vocabulary))
    batches = corpus.batches(size, arguments.seed)
    given = [next(batches) for _ in range(arguments.steps or 20)]
    console.print(f"{arguments.model}, batches of {size} sequences of {length} pieces, seed {arguments.seed}")
    compare_with_torch(arguments.compare_torch, config, given, arguments.seed, peak, console)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Train, evaluate, save and reload."""
    steps, size, length, peak = SIZES[arguments.model]
    corpus = Corpus(vocabulary_size=1000, length=length, device=arguments.device)
    model = make_model(make_config(arguments.model, len(corpus.tokenizer.vocabulary)), arguments.seed)
    model.to(arguments.device)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    console.print(
        f"torch {torch.__version__} from the package {Path(torch.__file__).parent.name}, on {device_name(arguments.device)}\n"
        f"{arguments.model}: {parameters:,} parameters, {len(corpus.training)} sequences to train on, "
        f"{len(corpus.evaluation)} held out, vocabulary of {len(corpus.tokenizer.vocabulary)}"
    )
    before = evaluate(model, corpus, size)
    losses = train(model, corpus.batches(size, arguments.seed), arguments.steps or steps, peak, console)
    report(losses, before, evaluate(model, corpus, size), console)
    batch = next(corpus.evaluation_batches(size))
    for name, octets, equal in save_and_reload(model, batch, arguments.out):
        console.print(f"{name}: {octets:,} bytes, reloaded; logits {'equal' if equal else 'DIFFERENT'}")
    picture = curve.write(losses, f"{arguments.model}: loss of every step, and smoothed", arguments.out)
    console.print(f"curve of the losses: {picture.name} in the folder {arguments.out.name}")
    console.print(f"peak memory {peak_memory():,.0f} MB")


def main() -> None:
    """Run the example."""
    arguments = parse_arguments()
    console = Console(record=True, width=100 if arguments.record else None)
    (compare if arguments.compare_torch else run)(arguments, console)
    if arguments.record:
        command = " ".join(["examples/bert/train.py", *sys.argv[1:]]).replace(str(arguments.compare_torch), "PYTHON")
        text = console.export_text().rstrip()
        arguments.record.write_text(f"Printed by `mindtorch run {command}`.\n\n```\n{text}\n```\n")


if __name__ == "__main__":
    main()
