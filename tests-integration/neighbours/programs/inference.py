"""sbi: posteriors by two methods from one table of simulations; their losses, densities and samples."""

import json
import os
import tempfile

import torch
from sbi.inference import NLE, NPE
from sbi.utils import BoxUniform

os.chdir(tempfile.mkdtemp())  # the library keeps its logs where it runs
torch.manual_seed(0)
prior = BoxUniform(-torch.ones(2), torch.ones(2))
theta = prior.sample((120,))
x = theta + 0.2 * torch.randn(120, 2)
found = {}
for method, density in ((NPE, "maf"), (NPE, "mdn"), (NLE, "maf")):
    torch.manual_seed(1)
    inference = method(prior, density_estimator=density, show_progress_bars=False)
    estimator = inference.append_simulations(theta, x).train(max_num_epochs=3, training_batch_size=40)
    named = f"{method.__name__} {density}"
    found[named] = [inference.summary["training_loss"], [float(one.abs().sum()) for one in estimator.parameters()]]
    if method is NPE:
        posterior = inference.build_posterior(estimator)
        found[named].append(posterior.log_prob(theta[:5], x=x[:1], norm_posterior=False).tolist())
    else:
        potential = inference.build_posterior(estimator).potential_fn
        potential.set_x(x[:1])
        found[named].append(potential(theta[:5]).tolist())
print(json.dumps(found))
