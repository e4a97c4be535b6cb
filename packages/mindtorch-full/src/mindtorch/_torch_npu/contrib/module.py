"""`torch_npu.contrib.module`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch.nn import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    ChannelShuffle,
    Mish,
    MultiheadAttention,
    SiLU,
    SyncBatchNorm,
)

__all__ = [
    "BiLSTM", "ChannelShuffle", "DropoutWithByteMask", "FastBatchNorm1d", "FastBatchNorm2d", "FastBatchNorm3d",
    "FastSyncBatchNorm", "Focus", "LabelSmoothingCrossEntropy", "Mish", "MultiheadAttention", "NpuCachedDropout",
    "NpuDropPath", "NpuFairseqDropout", "Prefetcher", "SiLU", "Swish",
]  # fmt: skip

Swish = SiLU
FastBatchNorm1d, FastBatchNorm2d, FastBatchNorm3d, FastSyncBatchNorm = (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    SyncBatchNorm,
)


class DropoutWithByteMask(nn.Dropout):
    """`torch.nn.Dropout`."""


class NpuFairseqDropout(nn.Dropout):
    """`torch.nn.Dropout` with the name of its module."""

    def __init__(self, p: float, module_name: str | None = None) -> None:
        super().__init__(p)
        self.module_name = module_name


class NpuCachedDropout(NpuFairseqDropout):
    """`NpuFairseqDropout`; its masks are drawn when they are needed."""


class NpuDropPath(nn.Module):
    """Leaves out whole samples by chance, and scales those that stay."""

    def __init__(self, drop_prob: float | None = None) -> None:
        super().__init__()
        self.drop_prob = drop_prob or 0.0

    def forward(self, x: Any) -> Any:
        """Return the samples that stay, scaled, and zeros."""
        if not self.training or self.drop_prob == 0.0:
            return x
        keep = 1.0 - self.drop_prob
        kept = x.new_empty((x.shape[0],) + (1,) * (x.dim() - 1)).bernoulli_(keep)
        return x.div(keep) * kept


class Focus(nn.Module):
    """Puts every second pixel of an image into channels of their own, and convolves them."""

    def __init__(
        self, c1: int, c2: int, k: int = 1, s: int = 1, p: int | None = None, g: int = 1, act: Any = True
    ) -> None:
        super().__init__()
        padding = k // 2 if p is None else p
        self.conv = nn.Conv2d(4 * c1, c2, k, s, padding, groups=g, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = SiLU() if act is True else act if isinstance(act, nn.Module) else nn.Identity()

    def forward(self, x: Any) -> Any:
        """Return the activations."""
        parts = [x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.act(self.bn(self.conv(torch.cat(parts, 1))))


class LabelSmoothingCrossEntropy(nn.Module):
    """The cross entropy with labels that are a little uncertain."""

    def __init__(self, num_classes: int = 1000, smooth_factor: float = 0.0) -> None:
        super().__init__()
        self.num_classes, self.smooth_factor = num_classes, smooth_factor

    def forward(self, pred: Any, target: Any) -> Any:
        """Return the mean over the samples."""
        on = 1.0 - self.smooth_factor
        off = self.smooth_factor / (self.num_classes - 1)
        labels = torch.full_like(pred, off).scatter_(1, target.long().unsqueeze(1), on)
        return -(torch.log_softmax(pred, -1) * labels).sum(-1).mean()


class BiLSTM(nn.Module):
    """One layer that reads a sequence from both ends."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.rnn = nn.LSTM(input_size, hidden_size, bidirectional=True)

    def forward(self, inputs: Any) -> Any:
        """Return what both readings say at every place."""
        return self.rnn(inputs)[0]


class Prefetcher:
    """Brings the next batch to the device while the present one is used."""

    def __init__(self, loader: Any, stream: Any = None) -> None:
        self._batches: Iterator[Any] = iter(loader)
        self.stream = stream if stream is not None else torch.npu.Stream()
        self._next: Any = None
        self._load()

    def _load(self) -> None:
        batch = next(self._batches, None)
        if batch is None:
            self._next = None
            return
        with torch.npu.stream(self.stream):
            self._next = tuple(one.npu(non_blocking=True) if hasattr(one, "npu") else one for one in batch)

    def next(self) -> tuple[Any, Any]:
        """Return the next input and target on the device, None twice at the end."""
        torch.npu.current_stream().wait_stream(self.stream)
        found = self._next
        if found is None:
            return None, None
        for one in found:
            if hasattr(one, "record_stream"):
                one.record_stream(torch.npu.current_stream())
        self._load()
        return found[0], found[1]
