"""`torch_npu.utils`: what programs use of it."""

from __future__ import annotations

import os
from collections.abc import Sequence

import mindtorch as torch
from mindtorch._submodules import offer
from mindtorch._torch_npu._absent import placeholders
from mindtorch._torch_npu.operators.layout import npu_change_data_ptr
from mindtorch._torch_npu.utils._error_code import ErrCode, pta_error
from mindtorch.npu._versions import get_cann_version
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils.flop_counter import FlopCounterMode

__all__ = [
    "FlopsCounter", "get_cann_version", "get_part_combined_tensor", "is_combined_tensor_valid", "npu_combine_tensors",
    "register_asd_hook", "reset_thread_affinity", "save_async", "set_asd_loss_scale", "set_thread_affinity",
]  # fmt: skip

_before: dict[str, set[int]] = {}


def npu_combine_tensors(list_of_tensor: Sequence[Tensor | None], require_copy_value: bool = True) -> Tensor | None:
    """Return one flat tensor over which the given tensors become views; all are of one dtype, packed, on the device."""
    tensors = [one for one in list_of_tensor if one is not None]
    if len(tensors) < len(list_of_tensor):
        raise RuntimeError("Tensors to combine must not have `None`.")
    for one in tensors:
        if one.dtype != tensors[0].dtype:
            raise RuntimeError("Tensors to combine must have the same dtype.")
        if one.device.type != "npu":
            raise RuntimeError(f"Tensors to combine must be on NPU, got {one.device.type}.")
        if not one.is_contiguous():
            raise RuntimeError("Tensors to combine must be contiguous.")
    total = sum(one.numel() for one in tensors)
    if not total:
        return None
    whole = torch.zeros(total, dtype=tensors[0].dtype, device=tensors[0].device)
    begin = 0
    for one in tensors:
        kept = one.detach().clone() if require_copy_value else None
        npu_change_data_ptr(one, whole, begin)
        if kept is not None:
            one.detach().copy_(kept)
        begin += one.numel()
    return whole


def get_part_combined_tensor(combined_tensor: Tensor | None, index: int, size: int) -> Tensor | None:
    """Return a flat part of a combined tensor, as a view of it, None of nothing."""
    if combined_tensor is None or size == 0:
        return None
    if index + size > combined_tensor.numel():
        raise RuntimeError(
            f"(index + size) ({index + size}) > torch_npu.get_storage_size(combined_tensor) ({combined_tensor.numel()})"
        )
    part = torch.empty(size, dtype=combined_tensor.dtype, device=combined_tensor.device)
    npu_change_data_ptr(part, combined_tensor, index)
    return part


def is_combined_tensor_valid(combined_tensor: Tensor | None, list_of_tensor: Sequence[Tensor | None]) -> bool:
    """Return whether tensors still lie packed within a combined one."""
    if not list_of_tensor:
        return True
    if combined_tensor is None:
        return False
    begin = combined_tensor.data_ptr()
    end = begin + combined_tensor.numel() * combined_tensor.element_size()
    return all(one is not None and begin <= one.data_ptr() < end and one.is_contiguous() for one in list_of_tensor)


class FlopsCounter:
    """Counts the operations on numbers between `start` and `stop`, but not between `pause` and `resume`."""

    def __init__(self) -> None:
        self._mode: FlopCounterMode | None = None
        self._recorded = self._traversed = 0
        self._paused = False

    def start(self) -> None:
        """Begin to count."""
        if self._mode is None:
            self._mode = FlopCounterMode(display=False)
            self._mode.__enter__()

    def _take(self) -> None:
        """Add what was counted since it was last added."""
        if self._mode is None:
            return
        self._mode.__exit__(None, None, None)
        found = int(self._mode.get_total_flops())
        self._traversed += found
        self._recorded += 0 if self._paused else found
        self._mode = None

    def pause(self) -> None:
        """Count what follows as gone through, and not as recorded."""
        self._take()
        self._paused = True
        self.start()

    def resume(self) -> None:
        """Record again."""
        self._take()
        self._paused = False
        self.start()

    def stop(self) -> None:
        """Count no more, and begin at nothing again."""
        self._take()
        self._recorded = self._traversed = 0
        self._paused = False

    def get_flops(self) -> list[int]:
        """Return how many were recorded, and how many were gone through."""
        if self._mode is not None:
            self._take()
            self.start()
        return [self._recorded, self._traversed]


def save_async(obj: object, f: object, *args: object, **options: object) -> None:
    """Save as `torch.save` does. It is saved when this returns, which no program can tell from later."""
    options.pop("model", None)
    torch.save(obj, f, *args, **options)  # type: ignore[arg-type]


def set_thread_affinity(core_range: list[int]) -> None:
    """Let this thread run on the cores from the first number to the last."""
    if len(core_range) != 2 or core_range[0] > core_range[1]:
        raise ValueError("core_range must be two numbers, the first not above the second")
    _before.setdefault("cores", os.sched_getaffinity(0))
    os.sched_setaffinity(0, range(core_range[0], core_range[1] + 1))


def reset_thread_affinity() -> None:
    """Let this thread run where it could before `set_thread_affinity`."""
    cores = _before.pop("cores", None)
    if cores is not None:
        os.sched_setaffinity(0, cores)


def set_asd_loss_scale(loss_scale: float = 1.0) -> None:
    """Take the scale of a loss for the device's own look for wrong numbers: advice. ValueError for none."""
    if loss_scale == 0:
        raise ValueError("loss scale cannot be 0." + pta_error(ErrCode.VALUE))


def register_asd_hook(x: Tensor | None, weight: Tensor) -> None:
    """Take a tensor whose gradient is to be looked at: advice, a device of today looks by itself."""
    if x is not None and not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor or None, but got {type(x).__name__}" + pta_error(ErrCode.TYPE))


offer(
    globals(),
    {
        "_asd_detector": "register_asd_hook set_asd_loss_scale",
        "affinity": {"_set_thread_affinity": set_thread_affinity, "_reset_thread_affinity": reset_thread_affinity},
        "cpp_extension": placeholders("torch_npu.utils.cpp_extension"),
        "combine_tensors": "npu_combine_tensors get_part_combined_tensor is_combined_tensor_valid",
        "flops_count": "FlopsCounter",
        "profiler": placeholders("torch_npu.utils.profiler"),
        "serialization": {"load": torch.load, "save": torch.save, "save_async": save_async},
        "syncbatchnorm": {"SyncBatchNorm": torch.nn.SyncBatchNorm},
    },
)
