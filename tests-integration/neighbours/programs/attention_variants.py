"""Attention of performers, reformers, linformers and perceivers, local attention and rotary positions: values and gradients."""

import json

import torch
from linformer import Linformer
from local_attention import LocalAttention, LocalTransformer
from perceiver_pytorch import Perceiver
from performer_pytorch import PerformerLM
from reformer_pytorch import ReformerLM
from rotary_embedding_torch import RotaryEmbedding


def trained(model, *inputs, steps=3):
    """Return the losses of some steps on one input."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(*inputs).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(0)
    query, key = torch.randn(1, 2, 6, 16), torch.randn(1, 2, 6, 16)
    words = torch.randint(0, 32, (2, 16))
    rotary = RotaryEmbedding(dim=8, use_xpos=True)
    found = {"rotary": [each.sum().item() for each in rotary.rotate_queries_and_keys(query, key)]}
    local = LocalAttention(dim=16, window_size=4, causal=True, look_backward=1, autopad=True)
    found["local"] = local(query, key, key).flatten()[:20].tolist()
    language = LocalTransformer(
        num_tokens=32, dim=16, depth=2, max_seq_len=16, causal=True, local_attn_window_size=4, heads=2, dim_head=8
    )
    loss = language(words, return_loss=True)
    loss.backward()
    found["local transformer"] = [loss.item(), language.token_emb.weight.grad.abs().sum().item()]
    found["linformer"] = trained(
        Linformer(dim=16, seq_len=8, depth=2, heads=2, k=4, one_kv_head=True, share_kv=True), torch.randn(1, 8, 16)
    )
    found["perceiver"] = trained(
        Perceiver(
            input_channels=3, input_axis=2, num_freq_bands=2, max_freq=4.0, depth=2, num_latents=8, latent_dim=16,
            cross_heads=1, latent_heads=2, cross_dim_head=8, latent_dim_head=8, num_classes=4,
        ),
        torch.randn(1, 6, 6, 3),
    )  # fmt: skip
    found["performer"] = trained(
        PerformerLM(num_tokens=32, max_seq_len=16, dim=16, depth=2, heads=2, causal=False, dim_head=8), words
    )
    found["reformer"] = trained(
        ReformerLM(
            num_tokens=32, dim=16, depth=2, max_seq_len=32, heads=2, dim_head=8, bucket_size=4, n_hashes=2, causal=True,
            lsh_dropout=0.0, ff_chunks=2, axial_position_emb=False,
        ),
        torch.randint(0, 32, (1, 32)),
    )  # fmt: skip
    print(json.dumps(found))


main()
