"""Models that torch compiles, for archives."""

from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple  # noqa: UP035 - the compiler reads these

import torch
from torch import nn


class Color(Enum):
    RED = 1
    BLUE = 2


class Out(NamedTuple):
    total: torch.Tensor
    count: int


@torch.jit.script
class Sum:
    def __init__(self, start: int):
        self.value = start
        self.seen: List[int] = []  # noqa: UP006

    def add(self, number: int) -> int:
        self.value += number
        self.seen.append(self.value)
        return self.value


class Values(nn.Module):
    """Classes, enumerations, containers, strings, attributes that change, control flow, a method beside forward."""

    def __init__(self):
        super().__init__()
        self.color = Color.BLUE
        self.calls = 0
        self.factors = {"x": 1.5}
        self.linear = nn.Linear(3, 3)
        self.register_buffer("shift", torch.arange(3.0))
        self.absent: Optional[torch.Tensor] = None  # noqa: UP045

    def forward(self, x: torch.Tensor, n: int = 2, mask: Optional[torch.Tensor] = None) -> Out:  # noqa: UP045
        total = Sum(3)
        self.calls += 1
        if self.color == Color.BLUE:
            x = x + total.add(1)
        if mask is not None:
            x = x * mask
        words = f"calls={self.calls} sum={total.seen[-1]}".split(" ")
        parts: Dict[int, List[torch.Tensor]] = {}  # noqa: UP006
        for i in range(n):
            parts[i] = [x * i, self.linear(x) + self.shift]
        with torch.no_grad():
            y = x * self.factors["x"]
        for key, values in parts.items():
            y = y + values[0] - values[1] * key
        while bool(y.sum() > 50):
            y = y / 2
        if isinstance(self.absent, torch.Tensor):
            y = y * self.absent
        if x.size(0) > 100:
            raise ValueError("too many")
        zeros = torch.zeros(3, dtype=torch.int64, device=x.device)
        small = min(n, 3) + max([1, n]) + abs(-2) + 7 // 2 + 7 % 3
        return Out(y.sum() + float(2**3) + 7 / 2 + zeros.sum() + small, self.calls + len(words))

    @torch.jit.export
    def other(self, numbers: List[int]) -> Tuple[int, str]:  # noqa: UP006
        total = 0
        for number in numbers:
            total += number if number > 2 else -number
        return total, f"{total} of {len(numbers)}"


class Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int = 1):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(after)
        self.down = nn.Conv2d(before, after, 1, stride) if before != after or stride != 1 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(self.conv(x)).relu_()
        if self.down is not None:
            x = self.down(x)
        return y + x


class Images(nn.Module):
    """Lists and dictionaries of modules."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(3, 8), Block(8, 8), Block(8, 16, 2)])
        self.heads = nn.ModuleDict({"a": nn.Linear(16, 4)})

    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:  # noqa: UP006
        for block in self.blocks:
            x = block(x)
        x = nn.functional.adaptive_avg_pool2d(x, 1).flatten(1)
        x = nn.functional.interpolate(x[:, None], scale_factor=2.0, mode="nearest")[:, 0, ::2]
        for _, head in self.heads.items():
            x = head(x)
        return x.softmax(1, dtype=torch.float64), x.argmax(1)


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 3)
        self.rnn = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(8)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.norm(self.rnn(self.embed(x))[0]))


class Plain(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)
