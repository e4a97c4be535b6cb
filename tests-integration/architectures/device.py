"""A program that says `import torch` and computes each architecture twice: on the CPU and on an Ascend device.

`python device.py [ARCHITECTURE...]` prints a line for each: how far losses, logits and gradients are apart, and whether each
way of generating makes the same tokens.
"""

from __future__ import annotations

import copy
import sys

import torch
from models import ARCHITECTURES, Architecture

NEW_TOKENS = 6
WAYS = {
    "greedy": {"do_sample": False},
    "without cache": {"do_sample": False, "use_cache": False},
    "beams": {"do_sample": False, "num_beams": 3},
}


def step(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return loss, logits and gradients, on the host."""
    options = {} if "labels" in inputs else {"return_loss": True}
    output = model(**inputs, **options)
    output.loss.backward()
    made = {"loss": output.loss, **{name: value for name, value in output.items() if "logits" in name}}
    made |= {name: value.grad for name, value in model.named_parameters() if value.grad is not None}
    return {name: value.detach().cpu() for name, value in made.items()}


def tokens(model: torch.nn.Module, inputs: dict[str, torch.Tensor], options: dict[str, object]) -> torch.Tensor:
    """Return what a model goes on with."""
    with torch.no_grad():
        return model.generate(**inputs, **options, max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS - 2).cpu()


def compared(architecture: Architecture) -> str:
    """Return how far the device is from the CPU."""
    torch.manual_seed(3)
    here = architecture.model().eval()
    there = copy.deepcopy(here).to("npu")
    torch.manual_seed(11)
    inputs = architecture.inputs()
    moved = {name: value.to("npu") for name, value in inputs.items()}
    expected, found = step(here, inputs), step(there, moved)
    if expected.keys() != found.keys():
        return f"other gradients: {sorted(expected.keys() ^ found.keys())}"
    apart = max(float((expected[name] - found[name]).abs().max()) for name in expected)
    same = []
    if architecture.generates:
        for way, options in WAYS.items():
            both = [
                tokens(model, {key: value for key, value in given.items() if key != "labels"}, options)
                for model, given in ((here, inputs), (there, moved))
            ]
            same.append(f"{way}: {'same' if torch.equal(*both) else 'others'}")
    return f"{apart:.1e} {', '.join(same)}".strip()


def main(names: list[str]) -> None:
    """Print a line for each architecture."""
    for name in names or ARCHITECTURES:
        print(name, compared(ARCHITECTURES[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
