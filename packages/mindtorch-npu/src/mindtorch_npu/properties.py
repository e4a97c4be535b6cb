"""What a device is: name, sizes, capability, peers, load."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl import loader
from mindtorch_npu.acl.errors import check
from mindtorch_npu.device import current_device, device_index

CAPABILITY = "TORCH_NPU_DEVICE_CAPABILITY"
_CUBE, _VECTOR, _L2 = 0, 1, 2
_HBM, _DDR = 1, 0


@dataclass(frozen=True, repr=False)
class NpuDeviceProperties:
    """A device's constants; what has no meaning on this device is None."""

    name: str
    total_memory: int
    cube_core_num: int | None
    vector_core_num: int | None
    L2_cache_size: int | None
    uuid: uuid.UUID | None
    major: int | None = None
    minor: int | None = None
    is_integrated: bool | None = None
    is_multi_gpu_board: bool | None = None
    max_threads_per_multi_processor: int | None = None
    warp_size: int | None = None
    gcnArchName: str | None = None

    @property
    def multi_processor_count(self) -> int | None:
        """The number of vector cores."""
        return self.vector_core_num

    def __repr__(self) -> str:
        cache = f"{self.L2_cache_size // 2**20}MB" if self.L2_cache_size is not None else "None"
        return (
            f"_NPUDeviceProperties(name='{self.name}', total_memory={self.total_memory // 2**20}MB, "
            f"cube_core_num={self.cube_core_num}, vector_core_num={self.vector_core_num}, uuid={self.uuid}, "
            f"L2_cache_size={cache})"
        )


def check_index(device: Any, text: str = "Invalid device id") -> int:
    """Return the index of a device that exists; AssertionError with torch's text otherwise."""
    index = device_index(device)
    if not 0 <= index < runtime.device_count():
        raise AssertionError(text)
    return index


def soc_name() -> str:
    """Return the chip's name, which says so when it is simulated. Raises what initialising raises."""
    name = runtime.init().get_soc_name() or "Ascend (name unknown)"
    return f"{name} (simulated)" if loader.simulated() else name


_FAMILIES = (
    ("Ascend910_93", "A3"),
    ("Ascend910B", "910b"),
    ("Ascend910", "910"),
    ("Ascend310P", "310p"),
    ("Ascend310B", "310b"),
)


def chip_family() -> str:
    """Return the chip's family as the operators' documents name it; the SoC's name where it is none of them."""
    name = runtime.init().get_soc_name() or ""
    return next((family for start, family in _FAMILIES if name.startswith(start)), name)


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return free and total bytes of a device's memory, those of other processes counted as taken."""
    index = device_index(device)
    before = current_device()
    acl = runtime.on(index)
    try:
        for attribute in (_HBM, _DDR):  # an unsupported attribute answers zeros and success
            free, total, code = acl.rt.get_mem_info(attribute)
            check(code, f"acl.rt.get_mem_info({attribute})", acl)
            if total > 0:
                return int(free), int(total)
    finally:
        runtime.on(before)
    return 0, 0


def get_device_properties(device: Any = None) -> NpuDeviceProperties:
    """Return the constants of a device. Raises AssertionError for an index without a device."""
    runtime.init()
    index = check_index(device)
    acl = runtime.init()

    def ask(what: int) -> int | None:
        value, code = acl.get_device_capability(index, what)
        return int(value) if code == 0 else None

    identity = None
    if hasattr(acl.rt, "device_get_uuid"):
        answer, code = acl.rt.device_get_uuid(index)
        identity = uuid.UUID(bytes=bytes(answer["bytes"])) if code == 0 else None
    capability = get_device_capability(index) or (None, None)
    return NpuDeviceProperties(
        soc_name(), mem_get_info(index)[1], ask(_CUBE), ask(_VECTOR), ask(_L2), identity, *capability
    )


def get_device_name(device: Any = None) -> str:
    """Return the chip's name; all devices of a host have the same."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int] | None:
    """Return (major, minor) of TORCH_NPU_DEVICE_CAPABILITY, None without it: an Ascend chip has no such number."""
    text = os.environ.get(CAPABILITY)
    if not text:
        return None
    try:
        major, minor = (int(part) for part in text.split("."))
    except ValueError:
        raise ValueError(f"{CAPABILITY} must be major.minor, such as 9.0, not {text!r}") from None
    return major, minor


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Return whether one device can read another's memory."""
    acl = runtime.init()
    index, peer = check_index(device), check_index(peer_device, "Invalid peer device id")
    if index == peer or not hasattr(acl.rt, "device_can_access_peer"):
        return False
    can, code = acl.rt.device_can_access_peer(index, peer)
    check(code, f"acl.rt.device_can_access_peer({index}, {peer})", acl)
    return bool(can)


def utilization(device: Any = None) -> int:
    """Return the load of the matrix or vector cores, the larger, in percent."""
    rates = utilization_rates(device)
    return max(rates["cube_utilization"], rates["vector_utilization"], 0)


def utilization_rates(device: Any = None) -> dict[str, int]:
    """Return the load by unit in percent; -1 where the device does not tell."""
    acl, index = runtime.init(), device_index(device)
    rates, code = acl.rt.get_device_utilization_rate(index)
    check(code, f"acl.rt.get_device_utilization_rate({index})", acl)
    return dict(rates)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the chip computes in bfloat16."""
    acl = runtime.init()
    value, code = acl.get_cann_attribute(1)
    return code == 0 and bool(value)
