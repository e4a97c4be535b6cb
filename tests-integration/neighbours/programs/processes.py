"""gpytorch: a Gaussian process is fitted and predicts; then one with inducing points and a variational bound."""

import json

import gpytorch
import torch


class Exact(gpytorch.models.ExactGP):
    """A process whose kernel is scaled."""

    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(1.5)
        )

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Inducing(gpytorch.models.ApproximateGP):
    """A process that a few points stand for."""

    def __init__(self, points):
        held = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, held))
        self.mean_module = gpytorch.means.LinearMean(1)
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.PeriodicKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def fit(model, bound, x, y):
    optimizer = torch.optim.Adam(bound.parameters(), lr=0.1)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = -bound(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    # Cholesky factors of nearly singular matrices: in float32 rounding decides after a few steps.
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(2)
    x = torch.linspace(0, 1, 30)
    y = torch.sin(6 * x) + torch.randn(30) / 10
    asked = torch.linspace(0, 1.2, 7)
    found = {}
    for name, make in [("exact", lambda rule: Exact(x, y, rule)), ("inducing", lambda _: Inducing(x[::5, None]))]:
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        model = make(likelihood)
        if name == "exact":
            bound, given, wanted = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model), x, asked
        else:
            bound, given, wanted = gpytorch.mlls.VariationalELBO(likelihood, model, 30), x[:, None], asked[:, None]
        losses = fit(model, bound, given, y)
        model.eval()
        with torch.no_grad(), gpytorch.settings.fast_pred_var():
            told = likelihood.eval()(model(wanted))
            low, high = told.confidence_region()
            drawn = told.sample(torch.Size([2])).shape
        found[name] = {"losses": losses, "mean": told.mean.tolist(), "low": low.tolist(), "high": high.tolist()}
        found[name]["drawn"] = list(drawn)
    print(json.dumps(found))


main()
