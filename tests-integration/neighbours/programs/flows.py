"""A normalizing flow of zuko: losses of ten steps, samples."""

import json

import torch
import zuko

torch.manual_seed(0)
flow = zuko.flows.NSF(features=3, context=2, transforms=2, hidden_features=(16, 16))
optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
x, c = torch.randn(64, 3), torch.randn(64, 2)
losses = []
for _ in range(10):
    loss = -flow(c).log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(json.dumps({"losses": losses, "samples": flow(c[:2]).sample().tolist()}))
