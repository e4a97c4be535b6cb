"""Dropout whose masks are drawn before they are needed, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn, npu
from mindtorch._torch_npu.operators.gradients import npu_dropout_do_mask, npu_dropout_gen_mask
from mindtorch._torch_npu.utils._error_code import ErrCode, ops_error
from mindtorch.npu import Stream
from mindtorch.tensor.tensor import Tensor

__all__ = ["NpuPreGenDropout"]

_MEBIBITS = 1 << 20


@dataclass
class _PreGenDropoutTask:
    """The masks of one probability: bits, how many are used, and for how many millions of elements they are drawn."""

    device: str
    p: float
    mask: Tensor
    idx: int = 0
    max_mb: int = 16


class NpuPreGenDropout(nn.Dropout):
    """Dropout by masks that `enable_dropout_ensemble` lets a model draw after each forward, for the next one.

    Layers of one probability take their masks from one that is drawn for all of them. Without a layer's probability among
    those that were drawn for it raises RuntimeError.
    """

    prob: ClassVar[set[float]] = set()
    task_dict: ClassVar[dict[float, _PreGenDropoutTask]] = {}
    dropout_stream: ClassVar[Stream | None] = None

    def __init__(self, p: float, module_name: str | None = None) -> None:
        super().__init__(p)
        self.module_name = module_name
        NpuPreGenDropout.prob.add(p)

    def forward(self, x: Tensor) -> Tensor:
        """Return the tensor with its share of the masks applied."""
        if not isinstance(x, Tensor):
            raise RuntimeError("input type error!" + ops_error(ErrCode.TYPE))
        if self.p == 0:
            return x
        if self.p not in NpuPreGenDropout.task_dict:
            known = list(NpuPreGenDropout.task_dict)
            raise RuntimeError(
                f"NpuPreGenDropout input prob error! You Only Register prob:{known}" + ops_error(ErrCode.VALUE)
            )
        task = NpuPreGenDropout.task_dict[self.p]
        needed = (x.numel() + 127) // 128 * 16
        begin, task.idx = task.idx, task.idx + needed
        if task.idx > len(task.mask):  # too few were drawn: those from the beginning again, and more the next time
            begin, task.max_mb = 0, max(task.idx * 8 // _MEBIBITS + 1, task.max_mb)
        return npu_dropout_do_mask(x, task.mask[begin : begin + needed], self.p)[0]

    @classmethod
    def enable_dropout_ensemble(cls, model: nn.Module) -> None:
        """Draw masks for every probability now, and after each forward of the model again."""
        if cls.dropout_stream is None:
            NpuPreGenDropout.dropout_stream = npu.Stream()
        device = f"npu:{npu.current_device()}"
        for p in cls.prob:
            cls.task_dict[p] = _PreGenDropoutTask(device, p, _drawn(16, p, device))

        def wait(module: nn.Module, inputs: Any) -> None:
            if cls.dropout_stream is not None:
                npu.current_stream().wait_stream(cls.dropout_stream)

        def draw(module: nn.Module, inputs: Any, outputs: Any) -> None:
            for task in cls.task_dict.values():
                task.mask, task.idx = _drawn(task.max_mb, task.p, task.device), 0

        model.register_forward_pre_hook(wait)
        model.register_forward_hook(draw)


def _drawn(mebibits: int, p: float, device: str) -> Tensor:
    return npu_dropout_gen_mask([mebibits, 1024, 1024], p, dtype=torch.float32, device=torch.device(device))
