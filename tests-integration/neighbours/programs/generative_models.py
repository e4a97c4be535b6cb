"""Generative models written with torch alone: adversaries, codebooks, diffusion and flows, each trained for a few steps."""

import json
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal


def adversaries():
    """A critic with a penalty on its gradient, and one with spectral norms and the hinge loss."""
    losses = []
    for hinge in (False, True):
        bound = nn.utils.spectral_norm if hinge else lambda layer: layer
        generator = nn.Sequential(
            nn.Linear(8, 32),
            nn.BatchNorm1d(32),
            nn.Unflatten(1, (8, 2, 2)),
            nn.ConvTranspose2d(8, 1, 4, 2, 1),
            nn.Tanh(),
        )
        critic = nn.Sequential(
            bound(nn.Conv2d(1, 8, 3, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), bound(nn.Linear(32, 1))
        )
        steps = [torch.optim.Adam(one.parameters(), 2e-3, betas=(0.5, 0.999)) for one in (generator, critic)]
        real = torch.randn(16, 1, 4, 4).clamp(-1, 1)
        for _ in range(4):
            fake = generator(torch.randn(16, 8))
            if hinge:
                loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake.detach())).mean()
            else:
                share = torch.rand(16, 1, 1, 1)
                between = (share * real + (1 - share) * fake.detach()).requires_grad_(True)
                (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
                penalty = ((slope.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
                loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty
            steps[1].zero_grad()
            loss.backward()
            steps[1].step()
            cheat = -critic(generator(torch.randn(16, 8))).mean()
            steps[0].zero_grad()
            cheat.backward()
            steps[0].step()
            losses += [loss.item(), cheat.item()]
    return losses


def codebooks():
    """A quantizer whose vectors follow running averages; gradients pass it straight through."""
    encoder, decoder = nn.Conv2d(1, 8, 4, 2, 1), nn.ConvTranspose2d(8, 1, 4, 2, 1)
    vectors = torch.randn(8, 16)
    counts, sums = torch.zeros(16), vectors.clone()
    optimizer = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], 3e-3)
    images, losses = torch.rand(8, 1, 12, 12), []
    for _ in range(6):
        found = encoder(images).permute(0, 2, 3, 1)
        flat = found.reshape(-1, 8)
        far = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ vectors + vectors.pow(2).sum(0, keepdim=True)
        index = far.argmin(1)
        chosen = F.one_hot(index, 16).type(flat.dtype)
        nearest = F.embedding(index.view(found.shape[:-1]), vectors.t())
        counts.lerp_(chosen.sum(0), 0.1)
        sums.lerp_(flat.detach().t() @ chosen, 0.1)
        smooth = (counts + 1e-5) / (counts.sum() + 16e-5) * counts.sum()
        commitment = F.mse_loss(found, nearest)
        passed = found + (nearest - found).detach()
        loss = F.mse_loss(decoder(passed.permute(0, 3, 1, 2)), images) + 0.25 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        vectors = sums / smooth
        share = chosen.mean(0)
        losses += [loss.item(), torch.exp(-(share * (share + 1e-10).log()).sum()).item()]
    return losses


def diffusion():
    """Noise is learned from a cosine schedule; samples by all steps, and by few of them."""
    count = 20
    places = torch.linspace(0, count, count + 1, dtype=torch.float64) / count
    kept = torch.cos((places + 0.008) / 1.008 * math.pi / 2) ** 2
    beta = torch.clip(1 - kept[1:] / kept[:-1], 0, 0.999).float()
    kept = torch.cumprod(1 - beta, 0)
    model = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, 4))

    def noise_of(x, t):
        return model(torch.cat([x, t[:, None] / count], 1))

    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    data, losses = torch.rand(32, 4) * 2 - 1, []
    for _ in range(6):
        t, noise = torch.randint(0, count, (32,)), torch.randn(32, 4)
        level = kept.gather(0, t)[:, None]
        loss = F.smooth_l1_loss(noise_of(level.sqrt() * data + (1 - level).sqrt() * noise, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.inference_mode():
        x = torch.randn(2, 4)
        for step in reversed(range(count)):
            noise = noise_of(x, torch.full((2,), step))
            mean = (x - beta[step] / (1 - kept[step]).sqrt() * noise) / (1 - beta[step]).sqrt()
            x = mean + beta[step].sqrt() * torch.randn_like(x) * (step > 0)
        few = torch.randn(2, 4)
        for step, after in ((19, 12), (12, 5), (5, -1)):
            noise = noise_of(few, torch.full((2,), step))
            clean = (few - (1 - kept[step]).sqrt() * noise) / kept[step].sqrt()
            level = kept[after] if after >= 0 else torch.tensor(1.0)
            few = level.sqrt() * clean + (1 - level).sqrt() * noise
    return [*losses, *x.flatten().tolist(), *few.flatten().tolist()]


def flows():
    """Couplings with a learned linear map between them; its inverse gives the data back."""
    data = torch.randn(64, 4) @ torch.randn(4, 4) + 1
    rotation, _ = torch.linalg.qr(torch.randn(4, 4))
    weight = nn.Parameter(rotation)
    nets = nn.ModuleList(nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 4)) for _ in range(2))
    base = Independent(Normal(torch.zeros(4), torch.ones(4)), 1)

    def forward(x):
        volume = torch.linalg.slogdet(weight)[1].expand(len(x))
        for net in nets:
            x = x @ weight
            first, second = x.chunk(2, 1)
            scale, shift = net(first).chunk(2, 1)
            scale = torch.tanh(scale)
            x = torch.cat([first, second * scale.exp() + shift], 1).flip(1)
            volume = volume + scale.sum(1)
        return x, volume + torch.linalg.slogdet(weight)[1]

    def inverse(z):
        for net in reversed(nets):
            first, second = z.flip(1).chunk(2, 1)
            scale, shift = net(first).chunk(2, 1)
            z = torch.cat([first, (second - shift) * (-torch.tanh(scale)).exp()], 1)
            z = torch.linalg.solve(weight.T, z.T).T
        return z

    optimizer = torch.optim.Adamax([weight, *nets.parameters()], 5e-3)
    losses = []
    for _ in range(6):
        z, volume = forward(data)
        loss = -(base.log_prob(z) + volume).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        back = inverse(forward(data)[0])
    return [*losses, bool((back - data).abs().max() < 1e-3)]


def main():
    found = {}
    for part in (adversaries, codebooks, diffusion, flows):
        torch.manual_seed(1)
        found[part.__name__] = part()
    print(json.dumps(found))


main()
