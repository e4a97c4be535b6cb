"""Vector quantizers: codes, losses and code books of ten training steps."""

import json

import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

torch.manual_seed(0)
x = torch.randn(2, 24, 16)
found = {}
encoder = torch.nn.Linear(16, 16)
quantizer = VectorQuantize(dim=16, codebook_size=12, decay=0.8, kmeans_init=True, kmeans_iters=3, rotation_trick=True)
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)
losses = []
for _ in range(20):
    quantized, codes, commit = quantizer(encoder(x))
    loss = (quantized - x).square().mean() + commit.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
found["losses"], found["codes"], found["book"] = losses, codes.tolist(), quantizer.codebook.tolist()
for name, module in {
    "residual": ResidualVQ(dim=16, num_quantizers=3, codebook_size=8),
    "scalar": FSQ(levels=[5, 4, 3], dim=16),
    "lookup-free": LFQ(dim=16, codebook_size=16, entropy_loss_weight=0.1),
}.items():
    out = module.eval()(x)
    found[name] = [out[0].tolist(), out[1].tolist()]
print(json.dumps(found))
