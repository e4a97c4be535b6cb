"""torchsde and torchcde: stochastic differential equations and those that a path controls, with their gradients."""

import json

import torch
import torchcde
import torchsde

torch.set_default_dtype(torch.float64)  # the gradients of the controlled equations magnify rounding
torch.manual_seed(0)
found = {}


class Diffusion(torch.nn.Module):
    noise_type = "diagonal"

    def __init__(self, sde_type: str) -> None:
        super().__init__()
        self.sde_type = sde_type
        self.drift, self.noise = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return torch.sigmoid(self.noise(y))


start, times = torch.full((4, 3), 0.1), torch.linspace(0, 1, 5)
for method, kind, solve in (
    ("euler", "ito", torchsde.sdeint),
    ("milstein", "ito", torchsde.sdeint),
    ("srk", "ito", torchsde.sdeint),
    ("midpoint", "stratonovich", torchsde.sdeint_adjoint),
):
    sde = Diffusion(kind)
    motion = torchsde.BrownianInterval(0.0, 1.0, size=(4, 3), entropy=7, levy_area_approximation="space-time")
    path = solve(sde, start, times, dt=0.05, method=method, bm=motion)
    path.pow(2).sum().backward()
    found[method] = [path[-1].tolist(), sde.drift.weight.grad.tolist(), sde.noise.weight.grad.tolist()]


class Field(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(8, 24)

    def forward(self, t, z):
        return self.linear(z).tanh().view(4, 8, 3)


data = torch.randn(4, 10, 3)
for name, coefficients, spline in (
    ("hermite", torchcde.hermite_cubic_coefficients_with_backward_differences(data), torchcde.CubicSpline),
    ("natural", torchcde.natural_cubic_coeffs(data), torchcde.CubicSpline),
    ("linear", torchcde.linear_interpolation_coeffs(data, rectilinear=0), torchcde.LinearInterpolation),
):
    field, control = Field(), spline(coefficients)
    options = {"method": "rk4", "options": {"step_size": 0.5}, "adjoint": name != "linear"}
    states = torchcde.cdeint(X=control, func=field, z0=torch.full((4, 8), 0.1), t=control.interval, **options)
    states[:, -1].pow(2).sum().backward()
    found[name] = [states[:, -1].tolist(), field.linear.weight.grad.sum(1).tolist()]
print(json.dumps(found))
