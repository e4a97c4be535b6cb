"""`torch_npu.utils`: what programs use of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import mindtorch as torch
from mindtorch_npu.acl import loader
from mindtorch_npu.checks import cann_version

__all__ = [
    "get_cann_version", "npu_combine_tensors", "reset_thread_affinity", "save_async", "set_thread_affinity",
]  # fmt: skip

_before: dict[str, Any] = {}


def get_cann_version(module: str = "CANN") -> str:
    """Return the version of the active CANN installation, an empty text without one."""
    if module not in ("CANN", "RUNTIME", "COMPILER", "HCCL", "TOOLKIT", "OPP", "DRIVER"):
        raise ValueError(f"module {module} is not supported")
    root = next(loader.cann_roots(), None)
    return (cann_version(root) or "") if root is not None else ""


def npu_combine_tensors(list_of_tensors: Iterable[Any], require_copy_value: bool = True) -> Any:
    """Return one flat tensor over which the given tensors become views; all are of one dtype and device."""
    tensors = list(list_of_tensors)
    if not tensors:
        return None
    if len({(one.dtype, one.device) for one in tensors}) > 1:
        raise RuntimeError("tensors of several dtypes or devices cannot be combined")
    whole = torch.zeros(sum(one.numel() for one in tensors), dtype=tensors[0].dtype, device=tensors[0].device)
    begin = 0
    for one in tensors:
        part = whole[begin : begin + one.numel()].view(one.shape)
        if require_copy_value:
            part.copy_(one.detach())
        one.data = part
        begin += one.numel()
    return whole


def save_async(obj: Any, f: Any, *args: Any, **options: Any) -> None:
    """Save as `torch.save` does. It is saved when this returns, which no program can tell from later."""
    torch.save(obj, f, *args, **options)


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
