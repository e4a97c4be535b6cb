"""A program that says only `import torch`: builds, trains and runs a seeded tiny model, and saves all it computed.

`python program.py MODEL OUT [LOAD]`; LOAD names a state dict, perhaps saved by another torch, to start from.
"""

import sys

import torch
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

STEPS, BATCH, LENGTH, VOCABULARY = 5, 3, 12, 67
SHAPE = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


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
        model.eval()
        torch.manual_seed(5)
        options = {"max_new_tokens": 8, "pad_token_id": 0}
        result["greedy"] = model.generate(ids, do_sample=False, **options)
        result["sampled"] = model.generate(ids, do_sample=True, top_k=20, **options)
        result["beams"] = model.generate(ids, do_sample=False, num_beams=3, **options)
    return result


if __name__ == "__main__":
    torch.save(run(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None), sys.argv[2])
