"""Variational inference with pyro: losses and the posterior."""

import json

import pyro
import pyro.distributions as dist
import torch

pyro.set_rng_seed(0)
data = torch.randn(30) * 0.5 + 2


def model(values):
    mean = pyro.sample("mean", dist.Normal(0.0, 10.0))
    scale = pyro.sample("scale", dist.LogNormal(0.0, 1.0))
    with pyro.plate("data", len(values)):
        pyro.sample("value", dist.Normal(mean, scale), obs=values)


guide = pyro.infer.autoguide.AutoDiagonalNormal(model)
svi = pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), pyro.infer.Trace_ELBO())
losses = [svi.step(data) / 100 for _ in range(20)]
print(json.dumps({"losses": losses, "median": {name: value.item() for name, value in guide.median().items()}}))
