"""laplace-torch: diagonal, full and last-layer approximations of a fitted network's posterior."""

import json

import torch
from laplace import Laplace

torch.manual_seed(0)
x = torch.linspace(-1, 1, 20)[:, None]
y = (3 * x).sin() + 0.1 * torch.randn(20, 1)
model = torch.nn.Sequential(torch.nn.Linear(1, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(20):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)
found = {}
for weights, structure in (("all", "diag"), ("all", "full"), ("last_layer", "full"), ("last_layer", "kron")):
    fitted = Laplace(model, "regression", subset_of_weights=weights, hessian_structure=structure)
    fitted.fit(loader)
    mean, variance = fitted(x[:4])
    found[f"{weights} {structure}"] = [mean.tolist(), variance.tolist(), float(fitted.log_marginal_likelihood())]
print(json.dumps(found))
