"""A program that says only `import torch`: builds, trains and runs a seeded tiny model, and saves all it computed.

`python program.py MODEL OUT [LOAD]`; LOAD names a state dict, perhaps saved by another torch, to start from.
"""

import sys

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

STEPS, BATCH, LENGTH, VOCABULARY = 5, 3, 12, 67
SHAPE = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


GENERATION = {
    "greedy": {"do_sample": False},
    "no cache": {"do_sample": False, "use_cache": False},
    "static cache": {"do_sample": False, "cache_implementation": "static"},
    "processors": {"do_sample": False, "repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "bad_words_ids": [[5]]},
    "prompt lookup": {"do_sample": False, "prompt_lookup_num_tokens": 2},
    "sampled": {"do_sample": True, "top_k": 20},
    "warped": {"do_sample": True, "temperature": 0.7, "top_p": 0.9, "min_p": 0.01},
    "typical": {"do_sample": True, "typical_p": 0.8, "epsilon_cutoff": 0.001},
    "several": {"do_sample": True, "num_return_sequences": 2},
    "beams": {"do_sample": False, "num_beams": 3},
    "best beams": {"do_sample": False, "num_beams": 4, "num_return_sequences": 3, "length_penalty": 0.7},
    "sampled beams": {"do_sample": True, "num_beams": 3, "top_k": 12},
}
"""The ways of generating, by name; `prompt lookup` takes one sequence at a time."""


def build(name: str) -> torch.nn.Module:
    """Return the seeded model."""
    torch.manual_seed(3)
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    if name == "bert":
        return BertForMaskedLM(BertConfig(**SHAPE, intermediate_size=48, max_position_embeddings=40))
    if name == "gpt2":
        return GPT2LMHeadModel(GPT2Config(**SHAPE, n_positions=40, **ends))
    config = LlamaConfig(**SHAPE, intermediate_size=48, num_key_value_heads=2, max_position_embeddings=40, **ends)
    return LlamaForCausalLM(config)


def run(name: str, load: str | None) -> dict:
    """Return everything the program computed."""
    model = build(name)
    initial = {key: value.clone() for key, value in model.state_dict().items()}
    if load is not None:
        model.load_state_dict(torch.load(load)["initial"])
    torch.manual_seed(11)
    ids = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    mask = torch.ones_like(ids)
    mask[0, -4:] = 0

    model.eval()
    output = model(input_ids=ids, attention_mask=mask, labels=ids)
    output.loss.backward()
    gradients = {key: parameter.grad.clone() for key, parameter in model.named_parameters()}
    model.zero_grad()

    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(input_ids=ids, attention_mask=mask, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())

    result = {"initial": initial, "logits": output.logits.detach(), "loss": output.loss.item(), "losses": losses}
    result |= {"gradients": gradients, "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state()}
    if name != "bert":
        result["generated"] = generate(model.eval(), ids, torch.flip(mask, [1]))
    return result


def generate(model: torch.nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the tokens of every way of generating, padding on the left."""
    made = {}
    for name, options in GENERATION.items():
        torch.manual_seed(5)
        count = 1 if "prompt" in name else BATCH
        made[name] = model.generate(
            ids[-count:], attention_mask=mask[-count:], max_new_tokens=8, pad_token_id=0, **options
        )
        made[f"{name}, random state"] = torch.get_rng_state()
    return made


if __name__ == "__main__":
    torch.save(run(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None), sys.argv[2])
