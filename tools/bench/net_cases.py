"""Programs of users, written with `torch.nn` alone: images, gradients per sample."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.func import hessian as hessian_of
from torch.func import jvp as pushed

Step = Callable[[], object]


class Block(nn.Module):
    """Two convolutions of 3 × 3 beside what is passed on."""

    def __init__(self, channels: int, features: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, features, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(features, features, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(features) for _ in range(2)])
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or channels != features:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, features, 1, stride, bias=False), nn.BatchNorm2d(features)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of both ways."""
        inner = self.relu(self.norms[0](self.first(x)))
        return self.relu(self.norms[1](self.second(inner)) + self.shortcut(x))


def _resnet() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    layers.append(nn.MaxPool2d(3, 2, 1))
    channels = 64
    for features, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(channels, features, stride), Block(features, features, 1)]
        channels = features
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def resnet_train() -> Step:
    """ResNet-18, one step."""
    model = _resnet()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    images, labels = torch.randn(4, 3, 224, 224), torch.randint(0, 1000, (4,))

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def resnet_forward() -> Step:
    """ResNet-18, inference."""
    model, images = _resnet().eval(), torch.randn(4, 3, 224, 224)

    def step() -> None:
        with torch.no_grad():
            model(images)

    return step


def sample_gradients() -> Step:
    """A small perceptron's gradients, one for each sample."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    weights = {name: value.detach() for name, value in model.named_parameters()}
    inputs, labels = torch.randn(64, 32), torch.randint(0, 10, (64,))

    def loss(weights: dict[str, torch.Tensor], one: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(functional_call(model, weights, (one[None],)), label[None])

    each = vmap(grad(loss), (None, 0, 0))
    return lambda: each(weights, inputs, labels)


def hessian() -> Step:
    """Forward over reverse."""
    x = torch.randn(16)
    second = hessian_of(lambda one: (one.sin() * one.exp()).sum())
    return lambda: second(x)


def jvp() -> Step:
    """A loss of a small perceptron along a direction of its weights."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    weights = {name: value.detach() for name, value in model.named_parameters()}
    direction = {name: torch.randn_like(value) for name, value in weights.items()}
    inputs, labels = torch.randn(64, 32), torch.randn(64, 10)

    def loss(weights: dict[str, torch.Tensor]) -> torch.Tensor:
        return F.mse_loss(functional_call(model, weights, (inputs,)), labels)

    return lambda: pushed(loss, (weights,), (direction,))
