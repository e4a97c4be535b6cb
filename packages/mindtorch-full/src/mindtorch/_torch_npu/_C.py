"""`torch_npu._C`: of the native module what programs call, over the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mindtorch as torch
from mindtorch import npu
from mindtorch._ops import ops
from mindtorch._torch_npu._dtypes import DTYPES
from mindtorch._torch_npu._format import format_of, keep
from mindtorch._torch_npu.utils import _npu_trace
from mindtorch.distributed._hccl import ProcessGroupHCCL
from mindtorch.npu import options
from mindtorch.tensor.tensor import Tensor
from mindtorch_dispatch.extend.devices import borrowed_memory
from mindtorch_npu import runtime
from mindtorch_npu.device import current_device
from mindtorch_npu.graph_tasks import ExternalEvent, TaskGroup, graph_task_update_begin, graph_task_update_end
from mindtorch_npu.stream import Stream

_npu_emptyCache = npu.empty_cache
_npu_synchronize = npu.synchronize
_npu_setDevice = npu.set_device
_npurt = npu.npurt
_mstx = npu.mstx.native
_npu_get_soc_version = npu.get_soc_version
_npu_setOption = options.set_option
_npu_getOption = options.get_option
_NPUTaskGroupHandle = TaskGroup
_distributed_c10d = SimpleNamespace(ProcessGroupHCCL=ProcessGroupHCCL)
_cd = SimpleNamespace(DType=SimpleNamespace(**DTYPES))


def _empty_strided_npu(size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> Tensor:
    """Return a tensor of the current device that nothing was written to."""
    return torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="npu")


def _weak_ref_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor over the same memory, of which it keeps nothing: it is read only while the other one is there."""
    if tensor.device.type != "npu":
        raise RuntimeError(f"Expected a tensor on NPU, got {tensor.device.type}")
    storage = tensor.untyped_storage()
    block = borrowed_memory["npu"](storage.data_ptr(), storage.nbytes(), tensor.device.index)
    made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    borrowed = torch.UntypedStorage._from_allocation(block, tensor.device)
    made._set_storage(borrowed, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return keep(made, format_of(tensor))


def _get_silent_check_version() -> int:
    """Return how a device looks for numbers that are wrong in silence: 2, by itself and not by hooks of a program."""
    return 2


def _npu_getDevice() -> int:
    """Return the current device's index."""
    return current_device()


def _npu_getDeviceCount() -> int:
    """Return how many devices there are."""
    return runtime.device_count()


def _npu_getLocalDevice() -> int:
    """Return the current device's index, -1 before the runtime is initialised."""
    return current_device() if runtime.is_initialized() else -1


def _npu_getCurrentRawStream(device: int) -> int:
    """Return the handle of a device's current stream."""
    return npu.current_stream(device).npu_stream


_npu_getCurrentRawStreamNoWait = _npu_getCurrentRawStream


def _npu_canDeviceAccessPeer(device: int, peer: int) -> bool:
    """Return whether a device reads another one's memory."""
    return npu.can_device_access_peer(device, peer)


def _npu_get_cann_version(module: str = "CANN") -> str:
    """Return the version of CANN."""
    return npu.get_cann_version(module)


def _activate_npu_trace(mode: int) -> None:
    """Call what `torch_npu.utils._npu_trace` has registered, whatever is checked."""
    _npu_trace.activate()


def _npu_fused_infer_attention_score_out_graph(
    stream: Stream, handle: TaskGroup, event: ExternalEvent, *args: Any, out: list[Tensor], **kwargs: Any
) -> list[Tensor]:
    """Let a recorded group compute attention of inference with these arguments from now on, and return where to."""
    graph_task_update_begin(stream, handle)
    try:
        ops.npu.npu_fused_infer_attention_score.out(*args, out=out, **kwargs)
    finally:
        graph_task_update_end(stream)
    event.record(stream)
    return out
