"""x-transformers: a decoder with rotary positions trained for twenty steps, an encoder with relative ones, generation."""

import json

import torch
from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper

torch.manual_seed(0)
decoder = Decoder(dim=24, depth=2, heads=2, attn_dim_head=12, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
model = AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=decoder))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
tokens = torch.randint(0, 20, (2, 12))
losses = []
for _ in range(20):
    loss = model(tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
encoder = Encoder(dim=24, depth=1, heads=2, attn_dim_head=12, rel_pos_bias=True)
encoded = TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=encoder).eval()(tokens)
sampled = model.generate(tokens[:, :3], 5, temperature=1.0)
print(json.dumps({"losses": losses, "encoder": encoded.tolist(), "sampled": sampled.tolist()}))
