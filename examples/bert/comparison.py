"""Compares this torch with the torch of another interpreter: loss, every gradient, and AdamW steps with dropout.

Both sides get the same weights and batches through files and run `measure`. Run as a script, this module is the
other side: `python comparison.py FOLDER`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from data import Batch
from models import make_model
from rich.console import Console
from rich.table import Table
from transformers import BertConfig, BertForMaskedLM

SHOWN = 8
"""How many gradients are listed, the farthest apart first."""

NOISE = 1e-6
"""A gradient this much smaller than the model's largest is nothing but rounding."""


def measure(folder: Path) -> dict[str, object]:
    """Return the loss and gradients with dropout off, then the losses of AdamW steps with dropout on."""
    given = torch.load(folder / "given.pt")
    model = BertForMaskedLM(BertConfig(**given["config"]))
    model.load_state_dict(torch.load(folder / "weights.pt"))
    batches = given["batches"]

    model.eval()
    loss = model(**batches[0]).loss
    loss.backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()

    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=given["learning_rate"], weight_decay=0.01)
    torch.manual_seed(given["seed"])
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        step_loss = model(**batch).loss
        step_loss.backward()
        optimizer.step()
        losses.append(step_loss.item())
    return {"loss": loss.item(), "gradients": gradients, "losses": losses}


def compare_with_torch(
    interpreter: str, config: BertConfig, batches: list[Batch], seed: int, rate: float, console: Console
) -> None:
    """Measure here and in the other interpreter, and print how far the two are apart."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torch.save(make_model(config, seed).state_dict(), folder / "weights.pt")
        given = {
            "config": {k: v for k, v in config.to_diff_dict().items() if k != "transformers_version"},
            "batches": [batch.inputs() for batch in batches],
            "seed": seed,
            "learning_rate": rate,
        }
        torch.save(given, folder / "given.pt")
        ours = measure(folder)
        # Neither our switches nor our import path may reach the other side: there, torch is torch.
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("MINDTORCH", "PYTHON"))}
        subprocess.run([interpreter, __file__, str(folder)], check=True, env=clean)
        theirs = torch.load(folder / "measured.pt")
    _print(ours, theirs, console)


def gradient_differences(
    ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return, by parameter, the largest difference relative to the largest element; and what is rounding noise.

    The gradient of a key's bias is zero in exact arithmetic, because softmax does not see a constant added to all
    scores. What floating point leaves of it differs on any two machines, so gradients whose elements all lie below
    `NOISE` times the largest gradient are given apart, by their largest element.
    """
    if ours.keys() != theirs.keys():
        raise ValueError(f"different parameters have gradients: {sorted(ours.keys() ^ theirs.keys())}")
    largest = {name: gradient.abs().max().item() for name, gradient in theirs.items()}
    floor = NOISE * max(largest.values())
    differences, noise = {}, {}
    for name, gradient in theirs.items():
        if largest[name] < floor:
            noise[name] = max(largest[name], ours[name].abs().max().item())
        else:
            differences[name] = (ours[name] - gradient).abs().max().item() / largest[name]
    return differences, noise


def _print(ours: dict, theirs: dict, console: Console) -> None:
    gradients, noise = gradient_differences(ours["gradients"], theirs["gradients"])
    table = Table(title="one step without dropout, equal weights")
    table.add_column("")
    table.add_column("relative difference", justify="right")
    loss = abs(ours["loss"] - theirs["loss"]) / abs(theirs["loss"])
    table.add_row(f"loss {ours['loss']:.6f}, torch {theirs['loss']:.6f}", f"{loss:.2e}")
    table.add_row(f"largest of {len(gradients)} gradients", f"{max(gradients.values()):.2e}")
    for name, difference in sorted(gradients.items(), key=lambda item: -item[1])[:SHOWN]:
        table.add_row(f"  {name}", f"{difference:.2e}")
    if noise:
        label = f"{len(noise)} gradients that are zero but for rounding, largest element"
        table.add_row(label, f"{max(noise.values()):.2e}")
    console.print(table)

    table = Table(title="AdamW steps with dropout, equal seed")
    for heading in ("step", "here", f"torch {theirs['version']}", "difference"):
        table.add_column(heading, justify="right")
    for step, (one, other) in enumerate(zip(ours["losses"], theirs["losses"], strict=True), 1):
        table.add_row(str(step), f"{one:.6f}", f"{other:.6f}", f"{abs(one - other):.2e}")
    console.print(table)


def main() -> None:
    """Be the other side: measure what the folder holds and leave the result there."""
    folder = Path(sys.argv[1])
    torch.save({**measure(folder), "version": str(torch.__version__)}, folder / "measured.pt")


if __name__ == "__main__":
    main()
