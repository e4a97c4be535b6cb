"""`torch.npu._recovery`: a device that was stopped goes on, and tensors whose memory may be spoilt are known."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.npu.options import stop_device
from mindtorch_npu import damage, hooks, runtime
from mindtorch_npu.device import check_index, synchronize

__all__ = [
    "check_npu_storage_is_safe", "check_npu_tensor_is_safe", "get_npu_tensor_unsafe_check_flag",
    "mark_all_npu_tensor_unsafe", "restart_device", "set_npu_tensor_unsafe_check_flag", "stop_device",
    "update_npu_storage_to_safe", "update_npu_tensor_to_safe",
]  # fmt: skip


def _address(storage: Any) -> int:
    if not isinstance(storage, (torch.TypedStorage, torch.UntypedStorage)):
        raise RuntimeError(f"param type should be TypedStorage or UntypedStorage, could not be {type(storage)}")
    return int(storage.data_ptr())


def _storage(tensor: Any) -> torch.UntypedStorage:
    if not isinstance(tensor, torch.Tensor):
        raise RuntimeError(f"param type should be Tensor, could not be {type(tensor)}")
    return tensor.untyped_storage()


def check_npu_storage_is_safe(storage_obj: torch.UntypedStorage) -> bool:
    """Return whether a storage's memory is not marked. RuntimeError for what is none."""
    return _address(storage_obj) not in damage.unsafe


def check_npu_tensor_is_safe(tensor_obj: torch.Tensor) -> bool:
    """Return whether a tensor's memory is not marked. RuntimeError for what is none."""
    return check_npu_storage_is_safe(_storage(tensor_obj))


def update_npu_storage_to_safe(storage_obj: torch.UntypedStorage) -> None:
    """Take the mark of a storage's memory away."""
    damage.written(_address(storage_obj))


def update_npu_tensor_to_safe(tensor_obj: torch.Tensor) -> None:
    """Take the mark of a tensor's memory away."""
    update_npu_storage_to_safe(_storage(tensor_obj))


def mark_all_npu_tensor_unsafe(device: int) -> None:
    """Mark the memory of all tensors of a device: what they hold may be spoilt."""
    segments = hooks.allocator(device).snapshot()
    blocks = (block for segment in segments for block in segment["blocks"])
    damage.mark(block["address"] for block in blocks if block["state"] == "active_allocated")


def set_npu_tensor_unsafe_check_flag(flag: bool) -> None:
    """Let operators refuse marked memory, or not."""
    damage.checking["on"] = bool(flag)


def get_npu_tensor_unsafe_check_flag() -> bool:
    """Return whether operators refuse marked memory."""
    return damage.checking["on"]


def restart_device(
    device_id: int, rebuild_all_resources: bool = False, disable_tensor_unsafe_check: bool = False
) -> None:
    """Let a stopped device go on. AclError where it does not answer.

    With `rebuild_all_resources` what its tensors hold is lost: they are marked, and operators refuse them until they are
    written, unless `disable_tensor_unsafe_check` says that the program sees to it.
    """
    runtime.init()
    index = check_index(device_id)
    if rebuild_all_resources and not disable_tensor_unsafe_check:
        mark_all_npu_tensor_unsafe(index)
        set_npu_tensor_unsafe_check_flag(True)
    synchronize(index)
