"""BoTorch: a Gaussian process fitted, and the points that two acquisition functions choose."""

import json
import warnings

import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

warnings.simplefilter("ignore")
torch.manual_seed(0)
x = torch.rand(8, 2, dtype=torch.double)
y = (x - 0.4).square().sum(1, keepdim=True).neg()
model = SingleTaskGP(x, y)
fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
found = {"mean": model.posterior(torch.rand(4, 2, dtype=torch.double)).mean.tolist()}
for acquisition, q in ((LogExpectedImprovement(model, y.max()), 1), (qLogExpectedImprovement(model, y.max()), 2)):
    point, value = optimize_acqf(acquisition, bounds, q=q, num_restarts=2, raw_samples=16)
    found[type(acquisition).__name__] = [point.tolist(), value.tolist()]
print(json.dumps(found))
