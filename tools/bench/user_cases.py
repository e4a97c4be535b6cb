"""Programs as users write them, with `torch` alone: graphs, agents, diffusion, experts, long texts, sound, quantisation."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[], object]


def _training(model: nn.Module, loss: Callable[[], torch.Tensor]) -> Step:
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def _inference(model: nn.Module, *inputs: torch.Tensor) -> Step:
    model.eval()

    def step() -> None:
        with torch.no_grad():
            model(*inputs)

    return step


class Graph(nn.Module):
    """Two layers that sum the features of adjacent nodes."""

    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, classes)])

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        """Return the scores of every node."""
        source, target = edges
        degree = torch.zeros(len(x)).index_add_(0, target, torch.ones(target.numel())).clamp_(min=1)
        for number, layer in enumerate(self.layers):
            sent = layer(x)
            x = torch.zeros_like(sent).index_add_(0, target, sent[source]) / degree[:, None]
            x = F.relu(x) if number == 0 else x
        return x


def graph_train() -> Step:
    """A graph of 2,000 nodes and 20,000 edges."""
    model, x = Graph(64, 64, 8), torch.randn(2000, 64)
    edges, labels = torch.randint(0, 2000, (2, 20_000)), torch.randint(0, 8, (2000,))
    return _training(model, lambda: F.cross_entropy(model(x, edges), labels))


def _policy() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4))


def agent_act() -> Step:
    """An agent's choice for one observation."""
    model, seen = _policy(), torch.randn(1, 8)

    def step() -> None:
        with torch.no_grad():
            torch.distributions.Categorical(logits=model(seen)).sample().item()

    return step


def agent_train() -> Step:
    """A policy's step on 256 of its choices, clipped as in PPO."""
    model, seen = _policy(), torch.randn(256, 8)
    chosen, advantage, before = torch.randint(0, 4, (256,)), torch.randn(256), torch.full((256,), -1.4)

    def loss() -> torch.Tensor:
        choices = torch.distributions.Categorical(logits=model(seen))
        ratio = (choices.log_prob(chosen) - before).exp()
        gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        return -gain - 0.01 * choices.entropy().mean()

    return _training(model, loss)


class Denoiser(nn.Module):
    """A small U-Net that is told the time."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, 2 * width))
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(2 * width, 3, 3, padding=1)
        self.down, self.up = nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ConvTranspose2d(2 * width, width, 4, 2, 1)
        self.norms = nn.ModuleList([nn.GroupNorm(8, width), nn.GroupNorm(8, 2 * width)])
        self.width = width

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        """Return the noise in `x`."""
        angles = time[:, None] * torch.exp(torch.arange(self.width // 2) * -0.3)
        told = self.time(torch.cat([angles.sin(), angles.cos()], 1))[:, :, None, None]
        wide = F.silu(self.norms[0](self.first(x)))
        deep = F.silu(self.norms[1](self.down(wide) + told))
        return self.last(torch.cat([self.up(deep), wide], 1))


def diffusion_train() -> Step:
    """Noise of 16 images of 32 × 32."""
    model, images = Denoiser(32), torch.randn(16, 3, 32, 32)

    def loss() -> torch.Tensor:
        noise, time = torch.randn_like(images), torch.rand(16)
        kept = (1 - time)[:, None, None, None]
        return F.mse_loss(model(kept * images + (1 - kept) * noise, time * 1000), noise)

    return _training(model, loss)


class Experts(nn.Module):
    """Every token goes to the two of eight nets that its router prefers."""

    def __init__(self, width: int, count: int = 8) -> None:
        super().__init__()
        self.router = nn.Linear(width, count)
        self.nets = nn.ModuleList(
            [nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)) for _ in range(count)]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of what the chosen nets make of each token."""
        weights, chosen = self.router(x).softmax(-1).topk(2)
        out = torch.zeros_like(x)
        for number, net in enumerate(self.nets):
            token, place = torch.where(chosen == number)
            out = out.index_add(0, token, net(x[token]) * weights[token, place, None])
        return out


def experts_train() -> Step:
    """512 tokens of 128."""
    model, x = Experts(128), torch.randn(512, 128)
    return _training(model, lambda: model(x).square().mean())


def long_text() -> Step:
    """Two layers of a transformer over 2,048 tokens that see those before them."""
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, norm_first=True)
    model, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(1, 2048, 256)
    return _inference(model, x, nn.Transformer.generate_square_subsequent_mask(2048))


class Sound(nn.Module):
    """Convolutions over a spectrogram."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(201, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2))
        self.head = nn.Sequential(nn.Conv1d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.classes = nn.Linear(128, 10)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        """Return the scores of each recording."""
        window = torch.hann_window(400)
        spectrum = torch.stft(wave, 400, 160, window=window, return_complex=True).abs()
        result: torch.Tensor = self.classes(self.head(self.body((spectrum + 1e-6).log())))
        return result


def sound_train() -> Step:
    """Eight recordings of a second."""
    model, wave, labels = Sound(), torch.randn(8, 16_000), torch.randint(0, 10, (8,))
    return _training(model, lambda: F.cross_entropy(model(wave), labels))


def _separable(channels: int, features: int, stride: int) -> list[nn.Module]:
    depth = nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False)
    point = nn.Conv2d(channels, features, 1, bias=False)
    return [depth, nn.BatchNorm2d(channels), nn.ReLU6(), point, nn.BatchNorm2d(features), nn.ReLU6()]


def _mobile() -> nn.Module:
    blocks = [(16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()]
    layers += [layer for block in blocks for layer in _separable(*block)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 100))


def mobile_train() -> Step:
    """Eight images of 96 × 96 through separable convolutions."""
    model, images, labels = _mobile(), torch.randn(8, 3, 96, 96), torch.randint(0, 100, (8,))
    return _training(model, lambda: F.cross_entropy(model(images), labels))


def mobile_forward() -> Step:
    """The same net on one image."""
    return _inference(_mobile(), torch.randn(1, 3, 96, 96))


def quantised_train() -> Step:
    """A perceptron whose weights and activations are rounded to eight bits in training."""
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10))
    x, labels, zeros = torch.randn(64, 256), torch.randint(0, 10, (64,)), torch.zeros(512, dtype=torch.int32)

    def linear(layer: nn.Linear, value: torch.Tensor) -> torch.Tensor:
        scale = layer.weight.detach().abs().amax(1) / 127
        weight = torch.fake_quantize_per_channel_affine(layer.weight, scale, zeros[: len(scale)], 0, -127, 127)
        return F.linear(torch.fake_quantize_per_tensor_affine(value, 0.05, 0, -128, 127), weight, layer.bias)

    return _training(model, lambda: F.cross_entropy(linear(model[2], F.relu(linear(model[0], x))), labels))
