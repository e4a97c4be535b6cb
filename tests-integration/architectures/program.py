"""A program that says only `import torch`: a step of each architecture, its tokens and features, saved to a file.

`python program.py OUT [ARCHITECTURE...]`
"""

from __future__ import annotations

import sys

import torch
from features import FEATURED, features
from models import ARCHITECTURES, BATCH, Architecture

NEW_TOKENS = 8
GENERATION = {
    "greedy": {"do_sample": False},
    "without cache": {"do_sample": False, "use_cache": False},
    "static cache": {"do_sample": False, "cache_implementation": "static"},
    "sampled": {"do_sample": True, "top_k": 20},
    "warped": {"do_sample": True, "temperature": 0.7, "top_p": 0.9, "min_p": 0.01},
    "beams": {"do_sample": False, "num_beams": 3},
    "best beams": {"do_sample": False, "num_beams": 4, "num_return_sequences": 3, "length_penalty": 0.7},
    "sampled beams": {"do_sample": True, "num_beams": 3, "top_k": 12},
    "processors": {"do_sample": False, "repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
    "assisted": {"do_sample": False, "num_assistant_tokens": 3},
}
"""The ways of generating, by name; `assisted` takes one sequence and drafts with a model of other weights."""

NOT_OFFERED = {"whisper": {"assisted"}}
"""Whisper wants an assistant with its own encoder."""


def step(architecture: Architecture) -> dict:
    """Return the seeded weights, and what one step forward and backward gives."""
    torch.manual_seed(3)
    model = architecture.model().eval()
    torch.manual_seed(11)
    inputs = architecture.inputs()
    options = {} if "labels" in inputs else {"return_loss": True}
    output = model(**inputs, **options)
    output.loss.backward()
    found = {name: value for name, value in output.items() if "logits" in name}
    return {
        "weights": {name: value.detach().clone() for name, value in model.state_dict().items()},
        "loss": output.loss.detach(),
        "logits": {name: value.detach() for name, value in found.items()},
        "gradients": {name: value.grad for name, value in model.named_parameters() if value.grad is not None},
    }


def tokens(name: str, architecture: Architecture) -> dict[str, torch.Tensor]:
    """Return the tokens of every way of generating that the architecture offers, and the random state after each."""
    made: dict[str, torch.Tensor] = {}
    if not architecture.generates:
        return made
    torch.manual_seed(3)
    model, assistant = architecture.model().eval(), architecture.model().eval()
    torch.manual_seed(11)
    inputs = {key: value for key, value in architecture.inputs().items() if key != "labels"}
    for way, options in GENERATION.items():
        if way in NOT_OFFERED.get(name, ()):
            continue
        torch.manual_seed(5)
        count = 1 if way == "assisted" else BATCH
        given = {key: value[-count:] for key, value in inputs.items()}
        more = {"assistant_model": assistant} if way == "assisted" else {}
        options = {**options, **more, "max_new_tokens": NEW_TOKENS, "min_new_tokens": NEW_TOKENS - 2}
        made[way] = model.generate(**given, **options)
        made[f"{way}, random state"] = torch.get_rng_state()
    return made


def main(out: str, names: list[str]) -> None:
    """Save what each architecture computes to ``out``."""
    results = {}
    for name in names or ARCHITECTURES:
        one = ARCHITECTURES[name]
        results[name] = {
            **step(one),
            "tokens": tokens(name, one),
            "features": features(one) if name in FEATURED else {},
        }
    torch.save(results, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
