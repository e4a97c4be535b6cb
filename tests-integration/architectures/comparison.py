"""Runs the program on torch and on MindTorch and says how far the results are apart."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from features import BFLOAT16, tolerance

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "status" / "architectures.md"
LOGITS, GRADIENTS = 1e-5, 1e-4
"""How far logits and gradients may be apart: of the largest value of the tensor."""

NOISE = 1e-7
"""A gradient that on both sides is below this part of the model's largest is zero but for rounding: a key's bias."""

WEIGHTS = 1e-6
"""How far initial weights may be apart that are computed, not drawn: positions as sines, by the C library's last bit."""


@dataclass(frozen=True)
class Row:
    """One architecture: relative differences, and the names of what should be equal and is not."""

    name: str
    logits: float
    gradients: float
    count: int
    zero: int
    computed: int
    ways: int
    features: dict[str, float]
    unequal: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether the architecture computes what it does on torch."""
        return self.logits <= LOGITS and self.gradients <= GRADIENTS and not self.unequal


def run(out: Path, names: tuple[str, ...] = (), *, ours: bool) -> dict[str, dict[str, Any]]:
    """Return what the program computed, on MindTorch or on torch.

    Raises:
        RuntimeError: the program failed; the text is the end of what it printed.
    """
    launcher = ["-m", "mindtorch", "run"] if ours else []
    environment = {key: value for key, value in os.environ.items() if key != "MINDTORCH"}
    environment |= {"OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    command = [sys.executable, *launcher, str(HERE / "program.py"), str(out), *names]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    return torch.load(out)


def _relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    scale, distance = theirs.abs().max().item(), (ours.double() - theirs.double()).abs().max().item()
    return distance / scale if scale else distance


def _gradients(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> tuple[list[float], int]:
    """Return the relative differences, and how many gradients were left out as zero but for rounding."""
    noise = NOISE * max(value.abs().max().item() for value in theirs.values())
    zero = [key for key in theirs if max(ours[key].abs().max().item(), theirs[key].abs().max().item()) < noise]
    return [_relative(ours[key], value) for key, value in theirs.items() if key not in zero], len(zero)


def _features(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[dict[str, float], list[str]]:
    """Return the largest difference of each feature, and the names of what is farther apart than it may be."""
    largest, far = {}, []
    for feature, results in theirs.items():
        found = {key: _relative(ours[feature][key], value) for key, value in results.items() if key in ours[feature]}
        far += [f"{feature}: {key}" for key in results if found.get(key, float("inf")) > tolerance(key, GRADIENTS)]
        if not torch.equal(ours[feature]["random state"], results["random state"]):
            far.append(f"{feature}: random state")
        largest[feature] = max(found.values())
    return largest, far


def difference(name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Row:
    """Return how far one architecture's results are apart."""
    parts = ("weights", "logits", "gradients", "tokens", "features")
    unequal = [f"names of {part}" for part in parts if list(ours[part]) != list(theirs[part])]
    if unequal:
        return Row(name, float("inf"), float("inf"), 0, 0, 0, 0, {}, tuple(unequal))
    other = [key for key, value in theirs["weights"].items() if not torch.equal(ours["weights"][key], value)]
    unequal += [f"initial {key}" for key in other if _relative(ours["weights"][key], theirs["weights"][key]) > WEIGHTS]
    unequal += [key for key, value in theirs["tokens"].items() if not torch.equal(ours["tokens"][key], value)]
    logits = [_relative(ours["logits"][key], value) for key, value in theirs["logits"].items()]
    logits.append(_relative(ours["loss"], theirs["loss"]))
    gradients, zero = _gradients(ours["gradients"], theirs["gradients"])
    features, far = _features(ours["features"], theirs["features"])
    unequal += far
    ways = sum("random state" not in key for key in theirs["tokens"])
    return Row(name, max(logits), max(gradients), len(gradients), zero, len(other), ways, features, tuple(unequal))


def compare(names: tuple[str, ...] = ()) -> list[Row]:
    """Return a row for each architecture, both sides run now."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = run(Path(folder) / "torch.pt", names, ours=False)
        ours = run(Path(folder) / "ours.pt", names, ours=True)
    return [difference(name, ours[name], theirs[name]) for name in theirs]


def page(rows: list[Row]) -> str:
    """Return the status page."""
    lines = [
        "# Sixteen architectures beside torch",
        "",
        "Printed by `python tests-integration/architectures --write`: small models with equal seeds, both sides run one",
        "after the other. Differences are the largest ones, relative to the largest value of their tensor; logits go",
        "with the loss. Gradients below 1e-7 of the model's largest on both sides (keys' biases) are counted, not",
        "compared. Initial weights are equal bit for bit, but for the number given, which are computed and not drawn",
        "and equal within 1e-6. Of each way of generating the tokens and the random state afterwards are equal.",
        "",
        f"| architecture | logits (<= {LOGITS:.0e}) | gradients (<= {GRADIENTS:.0e}) | compared, zero | computed weights "
        "| ways of generating | unequal |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row.name} | {row.logits:.1e} | {row.gradients:.1e} | {row.count}, {row.zero} | {row.computed} "
            f"| {row.ways or 'does not generate'} | {', '.join(row.unequal[:6]) or 'nothing'} |"
        )
    return "\n".join([*lines, *_feature_lines(rows)]) + "\n"


def _feature_lines(rows: list[Row]) -> list[str]:
    """Return the table of features; no lines where no architecture has any."""
    featured = [row for row in rows if row.features]
    if not featured:
        return []
    names = [row.name for row in featured]
    lines = [
        "",
        "What some of them can do besides: logits, gradients and weights after each, the largest relative difference",
        f"(<= {GRADIENTS:.0e}; in bfloat16 <= {BFLOAT16:.0e}). Eager attention equals sdpa's, checkpointed gradients equal the",
        "others with dropout on, tied weights are one tensor after loading, and the random state afterwards is torch's.",
        "",
        f"| feature | {' | '.join(names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    for feature in featured[0].features:
        lines.append(f"| {feature} | {' | '.join(f'{row.features[feature]:.1e}' for row in featured)} |")
    return lines
