"""What models can do besides a step: other attention, checkpoints of memory, other dtypes, loading, tied and resized weights.

Each feature returns tensors, which are compared with torch's, and asserts what must hold on one side alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import torch
from models import VOCABULARY, Architecture, Inputs

Results = dict[str, torch.Tensor]

FEATURED = ("llama", "gpt2", "bart", "bert")
"""The architectures whose features are compared: rotary and learned positions, an encoder with a decoder, an encoder."""

BFLOAT16 = 2e-2
"""How far results in bfloat16 may be apart, of the largest value; its numbers have eight bits."""


def tolerance(name: str, otherwise: float) -> float:
    """Return how far a feature's result may be from torch's."""
    return BFLOAT16 if "bfloat16" in name else otherwise


def _logits(model: torch.nn.Module, inputs: Inputs) -> torch.Tensor:
    with torch.no_grad():
        return model(**inputs).logits


def _gradients(model: torch.nn.Module, inputs: Inputs) -> torch.Tensor:
    """Return the gradients of all parameters, one after the other."""
    model.zero_grad()
    model(**inputs).loss.backward()
    return torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])


def _near(one: torch.Tensor, other: torch.Tensor, part: float = 1e-4) -> bool:
    return (one - other).abs().max().item() <= part * other.abs().max().item()


def attention(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return logits and gradients with both implementations of attention."""
    # A row that may see nothing is an average of everything for the one, and nothing for the other.
    inputs = {**inputs, "attention_mask": torch.ones_like(inputs["attention_mask"])}
    found = {}
    for kind in ("eager", "sdpa"):
        model.set_attn_implementation(kind)
        assert model.config._attn_implementation == kind
        found[f"{kind} logits"], found[f"{kind} gradients"] = _logits(model, inputs), _gradients(model, inputs)
    assert _near(found["eager logits"], found["sdpa logits"])
    assert _near(found["eager gradients"], found["sdpa gradients"])
    return found


def gradient_checkpointing(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return the gradients of a model that keeps few activations, dropout on: they are computed twice alike."""
    model.train()
    torch.manual_seed(8)
    expected = _gradients(model, inputs)
    state = torch.get_rng_state()
    found = {}
    for reentrant in (False, True):
        model.gradient_checkpointing_enable({"use_reentrant": reentrant})
        if reentrant:
            model.enable_input_require_grads()
        torch.manual_seed(8)
        found[f"gradients, reentrant {reentrant}"] = _gradients(model, inputs)
        assert _near(found[f"gradients, reentrant {reentrant}"], expected)
        assert torch.equal(torch.get_rng_state(), state)
    model.gradient_checkpointing_disable()
    return found


def bfloat16(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return what a model saved in float32 computes when it is loaded in bfloat16, and under autocast."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = type(model).from_pretrained(folder, dtype=torch.bfloat16).eval()
    assert {one.dtype for one in loaded.parameters()} == {torch.bfloat16}
    with torch.autocast("cpu", torch.bfloat16):
        under = model(**inputs)
        under.loss.backward()
    weights = torch.cat([one.detach().flatten() for one in loaded.parameters()])
    return {
        "bfloat16 weights": weights,
        "bfloat16 logits": _logits(loaded, inputs),
        "bfloat16 autocast": under.logits.detach(),
    }


def loading(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return logits of models made without memory and given weights: by hand, and from files in pieces."""
    with torch.device("meta"):
        empty = type(model)(model.config)
    assert {one.device.type for one in [*empty.parameters(), *empty.buffers()]} == {"meta"}
    assert sum(one.numel() for one in empty.parameters()) == sum(one.numel() for one in model.parameters())
    state = {name: value.clone() for name, value in model.state_dict().items()}
    with torch.device("meta"):
        assigned = type(model)(model.config)
    missing, unexpected = assigned.load_state_dict(state, strict=False, assign=True)
    assert not unexpected
    assert all(one.device.type == "cpu" for one in assigned.parameters())
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder, max_shard_size="20KB")
        loaded = type(model).from_pretrained(folder).eval()
        low = type(model).from_pretrained(folder, low_cpu_mem_usage=True).eval()
    assert all(torch.equal(loaded.state_dict()[name], value) for name, value in state.items())
    assert torch.equal(_logits(loaded, inputs), _logits(low, inputs))
    return {"loaded": _logits(loaded, inputs), "missing": torch.tensor([len(missing)])}


def tied_weights(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return the gradient of a weight that is both the input's and the output's; it stays one after loading."""
    model.config.tie_word_embeddings = True
    model.tie_weights()
    assert model.get_input_embeddings().weight is model.get_output_embeddings().weight
    model.zero_grad()
    model(**inputs).loss.backward()
    gradient = model.get_input_embeddings().weight.grad.clone()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        loaded = type(model).from_pretrained(folder).eval()
    assert loaded.get_input_embeddings().weight is loaded.get_output_embeddings().weight
    return {"gradient": gradient, "loaded": _logits(loaded, inputs)}


def resized_embeddings(model: torch.nn.Module, inputs: Inputs) -> Results:
    """Return the weights of a vocabulary made longer, with rows drawn near the mean and with fresh ones, then shorter."""
    found = {}
    for drawn in (True, False):
        torch.manual_seed(6)
        size = model.get_input_embeddings().weight.shape[0] + 5
        model.resize_token_embeddings(size, mean_resizing=drawn)
        assert model.get_input_embeddings().weight.shape[0] == model.config.vocab_size == size
        found[f"input, mean {drawn}"] = model.get_input_embeddings().weight.detach().clone()
        found[f"output, mean {drawn}"] = model.get_output_embeddings().weight.detach().clone()
        found[f"logits, mean {drawn}"] = _logits(model, inputs)
    model.resize_token_embeddings(VOCABULARY, pad_to_multiple_of=8)
    found["shorter"] = _logits(model, inputs)
    assert found["shorter"].shape[-1] == -(-VOCABULARY // 8) * 8
    return found


FEATURES: dict[str, Callable[[torch.nn.Module, Inputs], Results]] = {
    "eager and sdpa attention": attention,
    "gradient checkpointing": gradient_checkpointing,
    "loading in bfloat16": bfloat16,
    "loading without memory": loading,
    "tied weights": tied_weights,
    "resized embeddings": resized_embeddings,
}
"""The features, by name; each gets a model of its own."""


def features(architecture: Architecture) -> dict[str, Results]:
    """Return the results of every feature, and the random state after it."""
    found = {}
    for name, feature in FEATURES.items():
        torch.manual_seed(3)
        model = architecture.model().eval()
        torch.manual_seed(11)
        inputs = architecture.inputs()
        found[name] = feature(model, inputs)
        found[name]["random state"] = torch.get_rng_state()
    return found
