"""torchdiffeq: a field is learned from its solutions, by the solver's steps and by the adjoint equation."""

import json

import torch
from torchdiffeq import odeint, odeint_adjoint, odeint_event


class Field(torch.nn.Module):
    """What moves a point of the plane."""

    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y**3)


def main():
    torch.manual_seed(2)
    torch.set_default_dtype(torch.float64)  # steps are chosen by comparing errors: rounding must not choose others
    times = torch.linspace(0.0, 1.0, 6)
    wanted = odeint(lambda t, y: y @ torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]), torch.tensor([[1.0, 0.5]]), times)
    found = {}
    for method, solve in [("dopri5", odeint), ("rk4", odeint), ("dopri8", odeint_adjoint), ("implicit_adams", odeint)]:
        torch.manual_seed(3)
        field = Field()
        optimizer = torch.optim.RMSprop(field.parameters(), lr=0.01)
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = (solve(field, wanted[0], times, method=method) - wanted).abs().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        found[method] = losses
    start = torch.tensor([10.0, 0.0], requires_grad=True)
    fall = lambda t, y: torch.stack([y[1], torch.full_like(y[0], -9.8)])  # noqa: E731
    landed, path = odeint_event(fall, start, torch.tensor(0.0), event_fn=lambda t, y: y[0], odeint_interface=odeint)
    landed.backward()
    found["landed"] = [landed.item(), *start.grad.tolist(), *path[-1].tolist()]
    print(json.dumps(found))


main()
