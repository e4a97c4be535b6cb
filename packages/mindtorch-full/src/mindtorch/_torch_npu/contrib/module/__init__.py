"""`torch_npu.contrib.module`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._submodules import offer
from mindtorch._torch_npu.contrib.function import matmul_transpose
from mindtorch._torch_npu.contrib.module._attention import MultiheadAttention
from mindtorch._torch_npu.contrib.module._ensemble import NpuPreGenDropout, _PreGenDropoutTask
from mindtorch._torch_npu.contrib.module._quantized import (
    LinearA8W8Quant,
    LinearQuant,
    LinearWeightQuant,
    QuantConv2d,
)
from mindtorch._torch_npu.contrib.module._regions import (
    DCNv2,
    ModulatedDeformConv,
    ModulatedDeformConv2dFunction,
    PSROIPool,
    ROIAlign,
)
from mindtorch.autograd import Function
from mindtorch.autograd.function import FunctionCtx
from mindtorch.nn import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    Mish,
    SiLU,
    SyncBatchNorm,
)
from mindtorch.npu import Stream
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "BiLSTM", "ChannelShuffle", "DCNv2", "DropoutWithByteMask", "FastBatchNorm1d", "FastBatchNorm2d",
    "FastBatchNorm3d", "FastSyncBatchNorm", "Focus", "LabelSmoothingCrossEntropy", "LinearA8W8Quant", "LinearQuant",
    "LinearWeightQuant", "Mish", "ModulatedDeformConv", "MultiheadAttention", "NpuCachedDropout", "NpuDropPath",
    "NpuFairseqDropout", "NpuPreGenDropout", "PSROIPool", "Prefetcher", "QuantConv2d", "ROIAlign", "SiLU", "Swish",
]  # fmt: skip

Swish = SiLU
FastBatchNorm1d, FastBatchNorm2d, FastBatchNorm3d, FastSyncBatchNorm = (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    SyncBatchNorm,
)


class ChannelShuffle(nn.Module):
    """Takes channels of two tensors by turns, in two halves where `split_shuffle` says so, as ShuffleNet does."""

    def __init__(self, in_channels: int, groups: int = 2, split_shuffle: bool = True) -> None:
        super().__init__()
        self.split_shuffle = split_shuffle
        self.group_len = in_channels // groups
        self.out_channels = torch.arange(in_channels).reshape(groups, self.group_len).t().reshape(-1)

    def check_self(self, x: Tensor) -> None:
        """Bring the order of channels to a tensor's device."""
        self.out_channels = self.out_channels.to(x.device)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Return the channels in their new order."""
        self.check_self(x1)
        made = torch.cat((x1, x2), 1).index_select(1, self.out_channels)
        return (made[:, : self.group_len], made[:, self.group_len :]) if self.split_shuffle else made


def indexselect_full_implementation_forward(x1: Tensor, x2: Tensor, fp_index: Tensor) -> Tensor:
    """Return channels of two tensors in an order."""
    return torch.cat([x1, x2], 1).index_select(1, fp_index)


def indexselect_half_implementation_forward(
    x1: Tensor, x2: Tensor, fp_index1: Tensor, fp_index2: Tensor
) -> tuple[Tensor, Tensor]:
    """Return channels of two tensors in an order, in two parts."""
    both = torch.cat([x1, x2], 1)
    return both.index_select(1, fp_index1), both.index_select(1, fp_index2)


class IndexSelectFullImplementation(Function):
    """Channels of two tensors in an order; what of the result's gradient is each tensor's, two more orders say."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, x1: Tensor, x2: Tensor, fp_index: Tensor, bp_index1: Tensor, bp_index2: Tensor
    ) -> Tensor:
        context: Any = ctx
        context.back = bp_index1, bp_index2
        return indexselect_full_implementation_forward(x1, x2, fp_index)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> Any:
        context: Any = ctx
        return *(grads[0].index_select(1, order) for order in context.back), None, None, None


class IndexSelectHalfImplementation(Function):
    """Channels of two tensors in an order, in two parts."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, x1: Tensor, x2: Tensor, fp_index1: Tensor, fp_index2: Tensor, bp_index1: Tensor,
        bp_index2: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        context: Any = ctx
        context.back = bp_index1, bp_index2
        return indexselect_half_implementation_forward(x1, x2, fp_index1, fp_index2)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> Any:
        context: Any = ctx
        whole = torch.cat(grads, 1)
        return *(whole.index_select(1, order) for order in context.back), None, None, None, None


class DropoutWithByteMask(nn.Dropout):
    """`torch.nn.Dropout`."""


class NpuFairseqDropout(nn.Dropout):
    """`torch.nn.Dropout` with the name of its module."""

    def __init__(self, p: float, module_name: str | None = None) -> None:
        super().__init__(p)
        self.module_name = module_name

    @classmethod
    def enable_dropout_ensemble(cls, model: nn.Module) -> None:
        """Let masks be drawn before they are needed: advice, they are drawn when they are."""


class NpuCachedDropout(NpuFairseqDropout):
    """`NpuFairseqDropout`; its masks are drawn when they are needed."""


class NpuDropPath(nn.Module):
    """Leaves out whole samples by chance, and scales those that stay."""

    def __init__(self, drop_prob: float | None = None) -> None:
        super().__init__()
        self.drop_prob = drop_prob or 0.0

    def forward(self, x: Tensor) -> Tensor:
        """Return the samples that stay, scaled, and zeros."""
        if not self.training or self.drop_prob == 0.0:
            return x
        keep = 1.0 - self.drop_prob
        kept = x.new_empty((x.shape[0],) + (1,) * (x.dim() - 1)).bernoulli_(keep)
        return x.div(keep) * kept

    @classmethod
    def enable_droppath_ensemble(cls, model: nn.Module) -> None:
        """Let masks be drawn before they are needed: advice, they are drawn when they are."""


def autopad(k: int | list[int], p: int | list[int] | None = None) -> int | list[int]:
    """Return the padding that keeps sizes as they are, unless one is given."""
    if p is not None:
        return p
    return k // 2 if isinstance(k, int) else [one // 2 for one in k]


def fast_slice(x: Tensor) -> Tensor:
    """Return every second pixel of an image in channels of their own."""
    return torch.cat([x[..., row::2, column::2] for column in (0, 1) for row in (0, 1)], 1)


class Conv(nn.Module):
    """A convolution, its norm and its activation."""

    def __init__(
        self, c1: int, c2: int, k: int = 1, s: int = 1, p: int | None = None, g: int = 1, act: bool | nn.Module = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, k, s, autopad(k, p), groups=g, bias=False)  # type: ignore[arg-type]
        self.bn = nn.BatchNorm2d(c2)
        self.act = SiLU() if act is True else act if isinstance(act, nn.Module) else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Return the activations."""
        return self.act(self.bn(self.conv(x)))

    def fuseforward(self, x: Tensor) -> Tensor:
        """Return the activations without the norm."""
        return self.act(self.conv(x))


class Focus(nn.Module):
    """Puts every second pixel of an image into channels of their own, and convolves them."""

    def __init__(
        self, c1: int, c2: int, k: int = 1, s: int = 1, p: int | None = None, g: int = 1, act: bool | nn.Module = True
    ) -> None:
        super().__init__()
        self.conv = Conv(c1 * 4, c2, k, s, p, g, act)

    def forward(self, x: Tensor) -> Tensor:
        """Return the activations."""
        return self.conv(fast_slice(x))


class LabelSmoothingCrossEntropy(nn.Module):
    """The cross entropy with labels that are a little uncertain."""

    def __init__(self, num_classes: int = 1000, smooth_factor: float = 0.0) -> None:
        super().__init__()
        self.num_classes, self.smooth_factor = num_classes, smooth_factor

    def forward(self, pred: Tensor, target: Tensor) -> Tensor:
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

    def forward(self, inputs: Tensor) -> Tensor:
        """Return what both readings say at every place."""
        return self.rnn(inputs)[0]


class Prefetcher:
    """Brings the next batch to the device while the present one is used."""

    def __init__(self, loader: Iterable[Any], stream: Stream | None = None) -> None:
        self._batches: Iterator[Any] = iter(loader)
        self.stream = stream if stream is not None else torch.npu.Stream()
        self._next: Any = None
        self.preload()

    def preload(self) -> None:
        """Bring the next batch."""
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
        self.preload()
        return found[0], found[1]


offer(
    globals(),
    {
        "activations": "Mish SiLU Swish",
        "bidirectional_lstm": "BiLSTM",
        "channel_shuffle": (
            "ChannelShuffle IndexSelectFullImplementation IndexSelectHalfImplementation "
            "indexselect_full_implementation_forward indexselect_half_implementation_forward"
        ),
        "crossentropy": "LabelSmoothingCrossEntropy",
        "deform_conv": {
            "DCNv2": DCNv2,
            "ModulatedDeformConv": ModulatedDeformConv,
            "ModulatedDeformConv2dFunction": ModulatedDeformConv2dFunction,
        },
        "_ensemble_dropout": {"NpuPreGenDropout": NpuPreGenDropout, "_PreGenDropoutTask": _PreGenDropoutTask},
        "drop_path": "NpuDropPath",
        "ensemble_dropout": "NpuCachedDropout NpuFairseqDropout",
        "focus": "Conv Focus autopad fast_slice",
        "linear_a8w8_quant": "LinearA8W8Quant",
        "linear_quant": "LinearQuant",
        "linear_weight_quant": "LinearWeightQuant",
        "multihead_attention": {"Matmul_transpose": matmul_transpose, "MultiheadAttention": MultiheadAttention},
        "npu_modules": "DropoutWithByteMask",
        "prefetcher": "Prefetcher",
        "ps_roi_pooling": "PSROIPool",
        "quant_conv2d": "QuantConv2d",
        "roi_align": "ROIAlign",
    },
)
