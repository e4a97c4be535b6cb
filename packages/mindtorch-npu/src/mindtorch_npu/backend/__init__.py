"""Operators on Ascend devices: the part of this distribution that knows tensors (extra `backend`).

Found through the entry point `npu` of the group `mindtorch.backends`. Importing it registers the device's memory and its
kernels with the call path. A row without a kernel is composed of others, or raises the call path's error, which names
operator, device and dtype; nothing is computed on the host in its place.
"""

from mindtorch_dispatch import determinism
from mindtorch_dispatch.execute.arrays import install_arrays
from mindtorch_dispatch.extend.devices import borrowed_memory, stream_records
from mindtorch_npu import runtime, switches
from mindtorch_npu.backend import ops as _ops
from mindtorch_npu.backend.arrays import (
    BorrowedAllocation,
    DeviceAllocation,
    DeviceArray,
    NpuArrays,
    PinnedAllocation,
    allocate,
    record_stream,
)
from mindtorch_npu.backend.binding import MissingOperatorError, launches
from mindtorch_npu.backend.planned import planned as _planned
from mindtorch_npu.backend.register import rows
from mindtorch_npu.device import set_device_class
from mindtorch_storage.device import intern_device
from mindtorch_storage.storage import register_allocator
from mindtorch_storage.storage.memory import register_pinning

install_arrays("npu", NpuArrays())
register_allocator("npu", allocate)
register_pinning(PinnedAllocation, runtime.is_available)
stream_records["npu"] = record_stream
borrowed_memory["npu"] = BorrowedAllocation
determinism.on_change("npu", switches.set_deterministic)
set_device_class(intern_device)
_planned.start(DeviceArray, DeviceAllocation, launches)

FAMILIES = _ops.FAMILIES

__all__ = ["FAMILIES", "DeviceArray", "MissingOperatorError", "allocate", "launches", "rows"]
