"""`from torch_npu.contrib import transfer_to_npu`: from then on what a program asks of CUDA goes to the Ascend devices.

The device type `cuda` means `npu` wherever a device is named, and the functions and classes of `torch.cuda` are those of
`torch.npu`; the backend `nccl` is `hccl`.
"""

import sys
from types import ModuleType
from typing import Any

import mindtorch
from mindtorch import distributed, npu
from mindtorch.tensor.tensor import Tensor
from mindtorch_storage.device import let_stand_for

RENAMED = {"NPUGraph": "CUDAGraph", "NPUPluggableAllocator": "CUDAPluggableAllocator"}
MODULES = ("amp", "graphs", "memory", "nvtx", "random", "streams")


def _public(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]))


def _take_over(theirs: Any, ours: ModuleType) -> None:
    for name in _public(ours):
        value = getattr(ours, name)
        if not isinstance(value, ModuleType):
            setattr(theirs, RENAMED.get(name, name), value)


def transfer() -> None:
    """Let CUDA mean the Ascend devices in this process."""
    let_stand_for("cuda", "npu")
    _take_over(mindtorch.cuda, npu)
    for name in MODULES:
        theirs = getattr(mindtorch.cuda, name, None) or sys.modules.get(f"mindtorch.cuda.{name}")
        if theirs is not None:
            _take_over(theirs, getattr(npu, name))
    for name in ("_record_memory_history", "_dump_snapshot", "_snapshot"):
        setattr(mindtorch.cuda.memory, name, getattr(npu.memory, name))
    Tensor.cuda = Tensor.npu  # type: ignore[method-assign]
    Tensor.is_cuda = Tensor.is_npu
    distributed.Backend.stands_for["nccl"] = "hccl"
    distributed.is_nccl_available = npu.is_available


transfer()
