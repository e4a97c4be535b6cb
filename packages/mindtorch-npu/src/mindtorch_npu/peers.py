"""Memory of one device in the kernels and copies of another."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import check
from mindtorch_npu.device import check_index, current_device
from mindtorch_npu.typing import DeviceLike


def can_device_access_peer(device: int, peer_device: int) -> bool:
    """Return whether one device can read another's memory; False, with a warning, where there is no device.

    >>> torch.npu.can_device_access_peer(0, 1)
    True
    """
    if not runtime.is_available():
        warnings.warn(f"no peer access: {runtime.unavailable_reason() or 'no NPUs are available'}", stacklevel=2)
        return False
    runtime.init()
    return _can_access(check_index(device), check_index(peer_device, "Invalid peer device id"))


def _can_access(index: int, peer: int) -> bool:
    acl = runtime.init()
    if index == peer or not hasattr(acl.rt, "device_can_access_peer"):
        return False
    can, code = acl.rt.device_can_access_peer(index, peer)
    check(code, f"acl.rt.device_can_access_peer({index}, {peer})", acl)
    return bool(can)


def enable_peer_access(device: DeviceLike) -> None:
    """Let the current device reach the memory of `device`; copies between them need it in both directions.

    Raises RuntimeError where there is no peer access.

    >>> torch.npu.enable_peer_access(1)
    >>> torch.ones(2, device="npu:0").to("npu:1").device
    device(type='npu', index=1)
    """
    acl, peer = _peer(device)
    check(acl.rt.device_enable_peer_access(peer, 0), f"acl.rt.device_enable_peer_access({peer}, 0)", acl)


def disable_peer_access(device: DeviceLike) -> None:
    """Take back what `enable_peer_access` allowed. Raises RuntimeError where there is no peer access.

    >>> torch.npu.enable_peer_access(1)
    >>> torch.npu.disable_peer_access(1)
    >>> torch.ones(2, device="npu:0").to("npu:1").device
    device(type='npu', index=1)
    """
    acl, peer = _peer(device)
    check(acl.rt.device_disable_peer_access(peer), f"acl.rt.device_disable_peer_access({peer})", acl)


def _peer(device: DeviceLike) -> tuple[Any, int]:
    """Return pyACL with the current device, and the index of a device that it has access to."""
    runtime.init()
    here, peer = current_device(), check_index(device, "Invalid peer device id")
    if not _can_access(here, peer):
        raise RuntimeError(f"NPU {here} has no access to the memory of NPU {peer}")
    return runtime.on(here), peer
