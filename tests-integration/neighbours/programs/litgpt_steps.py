"""LitGPT: models of several families, ten steps of one, generation with a cache."""

import json

import torch
from litgpt import GPT, Config
from litgpt.generate.base import generate

torch.manual_seed(0)
sizes = {"n_layer": 2, "n_head": 4, "n_embd": 32, "padded_vocab_size": 61, "block_size": 24, "intermediate_size": 48}
tokens = torch.randint(0, 61, (2, 12))
found = {}
for family in ("pythia-14m", "tiny-llama-1.1b", "phi-2", "Gemma-2b"):
    config = Config.from_name(family, **sizes, n_query_groups=2 if family == "tiny-llama-1.1b" else 4, head_size=8)
    model = GPT(config)
    model.apply(model._init_weights)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(5):
        logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        model.set_kv_cache(batch_size=1)
        made = generate(model, tokens[0, :4], 10, temperature=1.0, top_k=1)
    found[family] = [losses, logits.flatten()[::29].tolist(), made.tolist()]
print(json.dumps(found))
