"""Small programs of the kinds that users write: sound, channels last, quantised, linear algebra, transforms, generation."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[], object]


def _inference(function: Callable[..., object], *inputs: torch.Tensor) -> Step:
    def step() -> object:
        with torch.inference_mode():
            return function(*inputs)

    return step


def log_mel() -> Step:
    """Log-mel spectrograms, as speech models read them."""
    samples, window, bands = torch.randn(4, 16000), torch.hann_window(400), torch.rand(80, 201)

    def value(samples: torch.Tensor) -> torch.Tensor:
        powers = torch.stft(samples, 400, 160, window=window, return_complex=True).abs().square()
        return (bands @ powers).clamp(min=1e-10).log10()

    return _inference(value, samples)


def denoise_spectrum() -> Step:
    """Images filtered by their two-dimensional spectra."""
    images, kept = torch.randn(8, 64, 64), torch.rand(64, 33) > 0.3
    return _inference(lambda x: torch.fft.irfft2(torch.fft.rfft2(x) * kept, s=(64, 64)), images)


def quantised_encoder() -> Step:
    """Two dynamically quantised layers of a feed-forward block, 32 tokens."""
    block = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
    quantised = torch.ao.quantization.quantize_dynamic(block, {nn.Linear}, dtype=torch.qint8)
    return _inference(quantised, torch.randn(32, 256))


def photograph_channels_last() -> Step:
    """A small residual net in the layout of photographs."""
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for channels in (32, 64):
        layers += [nn.Conv2d(channels, channels, 3, padding=1, groups=channels), nn.BatchNorm2d(channels), nn.ReLU()]
        layers += [nn.Conv2d(channels, 64, 1), nn.BatchNorm2d(64), nn.ReLU()]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).eval()
    net = net.to(memory_format=torch.channels_last)
    return _inference(net, torch.randn(4, 3, 96, 96).to(memory_format=torch.channels_last))


def whiten() -> Step:
    """Features turned to their principal axes: covariance, eigenvectors, product."""
    features = torch.randn(512, 32)

    def value(x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(0)
        values, vectors = torch.linalg.eigh(centred.T @ centred / (len(x) - 1))
        return centred @ vectors / (values + 1e-5).sqrt()

    return _inference(value, features)


def poses() -> Step:
    """Rigid motions between 64 pairs of point sets, by singular values."""
    first, second = torch.randn(64, 20, 3), torch.randn(64, 20, 3)

    def value(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        a, b = a - a.mean(1, keepdim=True), b - b.mean(1, keepdim=True)
        left, _, right = torch.linalg.svd(a.mT @ b)
        return right.mT @ left.mT

    return _inference(value, first, second)


def meta_step() -> Step:
    """A gradient through a gradient step, as in meta-learning."""
    weights, x, y = torch.randn(10, 10, requires_grad=True), torch.randn(32, 10), torch.randn(32, 10)

    def step() -> None:
        (inner,) = torch.autograd.grad(F.mse_loss(x @ weights, y), weights, create_graph=True)
        F.mse_loss(x @ (weights - 0.1 * inner), y).backward()

    return step


def curvature() -> Step:
    """The Hessian of a small function by transforms."""
    weights, point = torch.randn(20, 20), torch.randn(20)
    hessian = torch.func.hessian(lambda x: (weights @ x).tanh().square().sum())
    return lambda: hessian(point)


def sample_words() -> Step:
    """Sixteen words drawn from the best fifty of 32,000, with a repetition penalty."""
    scores, seen = torch.randn(1, 32000), torch.randint(32000, (1, 64))

    def value(scores: torch.Tensor) -> torch.Tensor:
        for _ in range(16):
            found = scores.gather(1, seen)
            penalised = scores.scatter(1, seen, torch.where(found < 0, found * 1.2, found / 1.2)) / 0.8
            best = penalised.topk(50).values[:, -1:]
            chances = penalised.masked_fill(penalised < best, float("-inf")).softmax(-1)
            word = torch.multinomial(chances, 1)
        return word

    return _inference(value, scores)


def boxes() -> Step:
    """Overlaps of 300 boxes with 100, and the best for each, as detectors match them."""
    corners, sizes = torch.rand(400, 2), torch.rand(400, 2) * 0.2
    given = torch.cat([corners, corners + sizes], 1)

    def value(boxes: torch.Tensor) -> object:
        first, second = boxes[:300], boxes[300:]
        low = torch.maximum(first[:, None, :2], second[None, :, :2])
        high = torch.minimum(first[:, None, 2:], second[None, :, 2:])
        common = (high - low).clamp(min=0).prod(2)
        areas = [(one[:, 2:] - one[:, :2]).prod(1) for one in (first, second)]
        return (common / (areas[0][:, None] + areas[1] - common)).max(1)

    return _inference(value, given)


def pulses_1d() -> Step:
    """Three blocks of one-dimensional convolutions and pooling over 8 recordings of 2,000 samples, AdamW step."""
    layers: list[nn.Module] = []
    for channels, features in ((1, 16), (16, 32), (32, 32)):
        layers += [nn.Conv1d(channels, features, 5, padding=2), nn.BatchNorm1d(features), nn.ReLU(), nn.MaxPool1d(2)]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(net.parameters())
    signals, classes = torch.randn(8, 1, 2000), torch.randint(4, (8,))

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(net(signals), classes).backward()
        optimizer.step()

    return step


def windows_of_series() -> Step:
    """Forecasts of a series by a dilated causal net, forward of 16 windows of 256."""
    layers: list[nn.Module] = [nn.Conv1d(4, 32, 1)]
    for dilation in (1, 2, 4, 8):
        layers += [nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(32, 32, 3, dilation=dilation), nn.GELU()]
    return _inference(nn.Sequential(*layers, nn.Conv1d(32, 1, 1)).eval(), torch.randn(16, 4, 256))


def qr_of_batch() -> Step:
    """Orthogonal factors of many small matrices."""
    return _inference(torch.linalg.qr, torch.randn(100, 4, 4))


def eigenvalues_of_batch() -> Step:
    """Eigenvalues of many small symmetric matrices."""
    matrices = torch.randn(100, 4, 4)
    return _inference(torch.linalg.eigvalsh, matrices + matrices.mT)


def _channels_last(module: nn.Module) -> Step:
    module = module.eval().to(memory_format=torch.channels_last)
    return _inference(module, torch.randn(8, 64, 28, 28).to(memory_format=torch.channels_last))


def pool_channels_last() -> Step:
    """Largest of windows whose channels lie side by side."""
    return _channels_last(nn.MaxPool2d(2))


def norm_channels_last() -> Step:
    """Batch norm of what lies so."""
    return _channels_last(nn.BatchNorm2d(64))


def pointwise_channels_last() -> Step:
    """Windows of one element of what lies so."""
    return _channels_last(nn.Conv2d(64, 64, 1))


def columns_spectrum() -> Step:
    """Transforms along the first dimension."""
    return _inference(lambda x: torch.fft.fft(x, dim=0), torch.randn(256, 256, dtype=torch.complex64))


def log_of_sums() -> Step:
    """Sums of numbers that are kept as logarithms."""
    return _inference(torch.logaddexp, torch.randn(64, 512), torch.randn(64, 512))
