"""Cases of the curves: a name is that of a curve and a size, as `add_256`."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

Step = Callable[[], object]


def _elements(function: Callable[[torch.Tensor], object]) -> Callable[[int], Step]:
    def case(size: int) -> Step:
        x = torch.randn(size)
        return lambda: function(x)

    return case


def _perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def _forward(model: nn.Module, x: torch.Tensor) -> Step:
    model.eval()

    def step() -> None:
        with torch.no_grad():
            model(x)

    return step


def _train(batch: int) -> Step:
    model, x, labels = _perceptron(), torch.randn(batch, 256), torch.randint(0, 10, (batch,))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x), labels).backward()
        optimizer.step()

    return step


def _attention(length: int) -> Step:
    query, key, value = (torch.randn(1, 4, length, 64) for _ in "qkv")
    return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _encoder(length: int) -> Step:
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    x = torch.randn(1, length, 128)

    def step() -> None:
        layer.zero_grad()
        layer(x).sum().backward()

    return step


_CURVES: dict[str, Callable[[int], Step]] = {
    "add": _elements(lambda x: x + x),
    "gelu": _elements(F.gelu),
    "sum": _elements(torch.sum),
    "cumsum": _elements(lambda x: x.cumsum(0)),
    "to_bfloat16": _elements(lambda x: x.to(torch.bfloat16)),
    "perceptron": lambda batch: _forward(_perceptron(), torch.randn(batch, 256)),
    "perceptron_train": _train,
    "convolution": lambda batch: _forward(nn.Conv2d(32, 32, 3, padding=1), torch.randn(batch, 32, 28, 28)),
    "attention": _attention,
    "encoder_train": _encoder,
    "lstm": lambda length: _forward(nn.LSTM(64, 128), torch.randn(length, 4, 64)),
}


def __getattr__(name: str) -> Callable[[], Step]:
    curve, _, size = name.rpartition("_")
    if curve not in _CURVES or not size.isdecimal():
        raise AttributeError(name)
    return lambda: _CURVES[curve](int(size))
