"""Ways of learning written with torch alone: rewards, tasks, posteriors, adapters, pruning and physics."""

import copy
import json
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal
from torch.func import functional_call, grad, vmap
from torch.nn.utils import prune


def rewards():
    """Clipped policy gradients with advantages over time, then a critic and a squashed policy with its temperature."""
    policy, value = nn.Linear(4, 2), nn.Linear(4, 1)
    nn.init.orthogonal_(policy.weight, 0.01)
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], 2.5e-3, eps=1e-5)
    losses = []
    for _ in range(2):
        seen, reward = torch.randn(32, 4), torch.randn(32)
        with torch.no_grad():
            chosen = Categorical(logits=policy(seen))
            action = chosen.sample()
            before, worth = chosen.log_prob(action), value(seen).squeeze(1)
            advantage, last = torch.zeros(32), 0.0
            for t in reversed(range(31)):
                advantage[t] = last = reward[t] + 0.99 * worth[t + 1] - worth[t] + 0.95 * 0.99 * last
        for part in torch.randperm(32).split(16):
            now = Categorical(logits=policy(seen[part]))
            ratio = (now.log_prob(action[part]) - before[part]).exp()
            gain = (advantage[part] - advantage[part].mean()) / (advantage[part].std() + 1e-8)
            loss = -torch.min(gain * ratio, gain * ratio.clamp(0.8, 1.2)).mean() - 0.01 * now.entropy().mean()
            loss = loss + 0.5 * F.mse_loss(value(seen[part]).squeeze(1), advantage[part] + worth[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    actor, critic = nn.Linear(4, 4), nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    slow, heat = copy.deepcopy(critic).requires_grad_(False), torch.zeros(1, requires_grad=True)
    optimizers = [torch.optim.Adam(one, 1e-2) for one in (actor.parameters(), critic.parameters(), [heat])]
    for _ in range(3):
        seen, after, reward = torch.randn(16, 4), torch.randn(16, 4), torch.randn(16, 1)
        mean, spread = actor(seen).chunk(2, 1)
        drawn = Normal(mean, spread.tanh().exp())
        raw = drawn.rsample()
        action = raw.tanh()
        likely = (drawn.log_prob(raw) - torch.log(1 - action**2 + 1e-6)).sum(1, keepdim=True)
        target = reward + 0.99 * slow(torch.cat([after, action.detach()], 1))
        parts = [
            (heat.exp().detach() * likely - critic(torch.cat([seen, action], 1))).mean(),
            F.mse_loss(critic(torch.cat([seen, action.detach()], 1)), target),
            -(heat.exp() * (likely.detach() - 2)).mean(),
        ]
        for one, loss in zip(optimizers, parts, strict=True):
            one.zero_grad()
            loss.backward(inputs=one.param_groups[0]["params"])
        for one in optimizers:
            one.step()
        for ours, theirs in zip(slow.parameters(), critic.parameters(), strict=True):
            ours.lerp_(theirs.detach(), 0.05)
        losses += [loss.item() for loss in parts]
    return losses


def tasks():
    """A start from which one step learns a sine: the step is part of the function that is learned."""
    net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
    parameters = dict(net.named_parameters())
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)

    def error(values, x, y):
        return F.mse_loss(functional_call(net, values, (x,)), y)

    def after_a_step(x, y, others, wanted):
        slopes = grad(error)(parameters, x, y)
        return error({name: parameters[name] - 0.01 * slopes[name] for name in slopes}, others, wanted)

    losses = []
    for _ in range(4):
        height, phase = torch.rand(5, 1, 1) * 4 + 0.1, torch.rand(5, 1, 1) * 3
        x, others = torch.rand(5, 10, 1) * 10 - 5, torch.rand(5, 10, 1) * 10 - 5
        loss = vmap(after_a_step)(x, height * (x + phase).sin(), others, height * (others + phase).sin()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def posteriors():
    """Hamiltonian steps through a normal density, and a regression whose weights are distributions."""
    inverse = torch.linalg.inv(torch.tensor([[1.0, 0.8], [0.8, 1.0]]))
    energy = lambda q: 0.5 * q @ inverse @ q  # noqa: E731
    place, path = torch.zeros(2), []
    for _ in range(10):
        q, p = place.clone().requires_grad_(), torch.randn(2)
        start = energy(q) + p @ p / 2
        for _ in range(5):
            p = p - 0.1 * torch.autograd.grad(energy(q), q)[0]
            q = (q + 0.2 * p).detach().requires_grad_()
            p = p - 0.1 * torch.autograd.grad(energy(q), q)[0]
        if math.log(torch.rand(()).item()) < (start - energy(q) - p @ p / 2).item():
            place = q.detach()
        path += place.tolist()
    middle, width = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.full((3,), -3.0))
    optimizer = torch.optim.NAdam([middle, width], 1e-2)
    x = torch.randn(20, 3)
    for _ in range(4):
        weights = Normal(middle, F.softplus(width))
        error = F.gaussian_nll_loss(x @ weights.rsample(), x.sum(1), torch.full((20,), 0.1))
        loss = error + 0.05 * torch.distributions.kl_divergence(weights, Normal(0.0, 1.0)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        path.append(loss.item())
    return path


class Adapter(nn.Module):
    """A layer that stays, with a low rank beside it that learns."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Linear(layer.in_features, 2, bias=False)
        self.up = nn.Parameter(torch.zeros(layer.out_features, 2))

    def forward(self, x):
        return self.layer(x) + self.down(x) @ self.up.T


def small_models():
    """A teacher's answers are learned by adapters; the student is pruned and its choice of branch exported."""
    x, teacher, student = (
        torch.randn(32, 10),
        nn.Linear(10, 3),
        nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 3)),
    )
    for name, layer in list(student.named_children()):
        if isinstance(layer, nn.Linear):
            setattr(student, name, Adapter(layer))
    optimizer = torch.optim.SGD([one for one in student.parameters() if one.requires_grad], 0.5, momentum=0.9)
    losses = []
    for _ in range(4):
        with torch.no_grad():
            wanted = (teacher(x) / 4).softmax(1)
        loss = F.kl_div(F.log_softmax(student(x) / 4, 1), wanted, reduction="batchmean") * 16
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    layers = [(student[place].layer, "weight") for place in (0, 2)]
    prune.global_unstructured(layers, pruning_method=prune.L1Unstructured, amount=0.5)
    left = [float((layer.weight == 0).sum()) for layer, _ in layers]
    for layer, name in layers:
        prune.remove(layer, name)

    class Choice(nn.Module):
        def __init__(self):
            super().__init__()
            self.student, self.teacher = student, teacher

        def forward(self, x):
            return torch.cond(x.mean() > 0, lambda x: self.student(x), lambda x: self.teacher(x), (x,))

    program = torch.export.export(Choice(), (x,)).module()
    given = [x.abs(), -x.abs()]
    return [*losses, *left, *(value for one in given for value in program(one)[0].tolist())]


def physics():
    """Burgers' equation from its residuals, by LBFGS."""
    net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 1)).double()
    points = torch.rand(30, 2, dtype=torch.float64) * torch.tensor([2.0, 1.0]) - torch.tensor([1.0, 0.0])
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=6, line_search_fn="strong_wolfe")

    def closure():
        x, t = points[:, :1].clone().requires_grad_(), points[:, 1:].clone().requires_grad_()
        u = net(torch.cat([x, t], 1))
        along, later = torch.autograd.grad(u.sum(), (x, t), create_graph=True)
        (bend,) = torch.autograd.grad(along.sum(), x, create_graph=True)
        begin = net(torch.cat([x, torch.zeros_like(t)], 1)) + torch.sin(math.pi * x)
        loss = (later + u * along - 0.01 / math.pi * bend).pow(2).mean() + begin.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        return loss

    return [float(optimizer.step(closure)) for _ in range(2)]


def main():
    found = {}
    for part in (rewards, tasks, posteriors, small_models, physics):
        torch.manual_seed(3)
        found[part.__name__] = part()
    print(json.dumps(found))


main()
