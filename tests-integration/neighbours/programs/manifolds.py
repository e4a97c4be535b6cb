"""geoopt and higher: descent on curved spaces, and gradients through the steps of an optimiser."""

import json

import geoopt
import higher
import torch


def descended(parameter, optimizer, loss_of, steps=4):
    """Return the losses of some steps."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(parameter)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    ball, stiefel, positive = geoopt.PoincareBall(c=1.0), geoopt.Stiefel(), geoopt.SymmetricPositiveDefinite()
    point = geoopt.ManifoldParameter(torch.randn(4, 3) * 0.1, manifold=ball)
    goal = ball.random(4, 3, std=0.1)
    found = {
        "ball": descended(point, geoopt.optim.RiemannianAdam([point], lr=0.05), lambda p: ball.dist2(p, goal).sum())
    }
    frame = geoopt.ManifoldParameter(stiefel.random(5, 3), manifold=stiefel)
    descent = geoopt.optim.RiemannianSGD([frame], lr=0.1, momentum=0.9)
    found["frames"] = descended(frame, descent, lambda p: (p.sum() - 1) ** 2)
    found["matrices"] = positive.dist(positive.random(2, 3, 3), positive.random(2, 3, 3)).tolist()
    model, inputs = torch.nn.Linear(4, 2), torch.randn(8, 4)
    with higher.innerloop_ctx(model, torch.optim.Adam(model.parameters(), 0.1)) as (inner, steps):
        for _ in range(3):
            steps.step(inner(inputs).pow(2).mean())
        loss = inner(inputs).pow(2).mean()
        slopes = torch.autograd.grad(loss, list(inner.parameters(time=0)))
    found["through the steps"] = [loss.item(), *(value for slope in slopes for value in slope.flatten().tolist())]
    print(json.dumps(found))


main()
