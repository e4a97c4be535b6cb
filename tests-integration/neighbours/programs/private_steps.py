"""Opacus: twenty steps with gradients of each sample clipped and noise added, and the privacy spent."""

import json
import warnings

import torch
from opacus import PrivacyEngine

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(24, 3))
data = torch.utils.data.TensorDataset(torch.randn(40, 2, 8), torch.randint(0, 3, (40,)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
engine = PrivacyEngine()
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=optimizer,
    data_loader=torch.utils.data.DataLoader(data, batch_size=8),
    noise_multiplier=1.1,
    max_grad_norm=1.0,
)
losses = []
for _ in range(4):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print(json.dumps({"losses": losses, "spent": engine.get_epsilon(1e-5)}))
