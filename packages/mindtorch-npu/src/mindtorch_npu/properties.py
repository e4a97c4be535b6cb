"""What a device is: name, sizes, capability, load."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from mindtorch_npu import hooks, runtime
from mindtorch_npu.acl.errors import check
from mindtorch_npu.device import check_index, device_index, mem_get_info
from mindtorch_npu.typing import DeviceLike

_CUBE, _VECTOR, _L2 = 0, 1, 2


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
    regs_per_multiprocessor: int | None = None

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


_FAMILIES = (
    (r"Ascend910_93", "A3"),
    (r"Ascend910B\d", "910b"),  # a 910B without a number is of the first generation
    (r"Ascend910", "910"),
    (r"Ascend310P", "310p"),
    (r"Ascend310B", "310b"),
    (r"Ascend950", "950"),
)


def chip_family() -> str:
    """Return the chip's family as the operators' documents name it; the SoC's name where it is none of them."""
    name = runtime.init().get_soc_name() or ""
    return next((family for start, family in _FAMILIES if re.match(start, name)), name)


def get_device_properties(device: int | None = None) -> NpuDeviceProperties:
    """Return the constants of a device. Raises AssertionError for an index without a device.

    >>> torch.npu.get_device_properties(0).name
    'Ascend910B3 (simulated)'
    """
    acl = runtime.init()
    index = check_index(device)

    def ask(what: int) -> int | None:
        value, code = acl.get_device_capability(index, what)
        return int(value) if code == 0 else None

    identity = None
    if hasattr(acl.rt, "device_get_uuid"):
        answer, code = acl.rt.device_get_uuid(index)
        identity = uuid.UUID(bytes=bytes(answer["bytes"])) if code == 0 else None
    capability = hooks.device_capability(index) or (None, None)
    return NpuDeviceProperties(
        hooks.device_name(index), mem_get_info(index)[1], ask(_CUBE), ask(_VECTOR), ask(_L2), identity, *capability
    )


def get_device_name(device: DeviceLike | None = None) -> str:
    """Return the chip's name; all devices of a host have the same.

    >>> torch.npu.get_device_name(0)
    'Ascend910B3 (simulated)'
    """
    return hooks.device_name(device)


def get_device_capability(device: DeviceLike | None = None) -> tuple[int, int] | None:
    """Return (major, minor), None where the chip has no such number.

    >>> print(torch.npu.get_device_capability(0))
    None
    """
    return hooks.device_capability(device)


def utilization(device: DeviceLike | None = None) -> int:
    """Return the load of the matrix or vector cores, the larger, in percent.

    >>> torch.npu.utilization(0)
    0
    """
    rates = utilization_rates(device)
    return max(rates["cube_utilization"], rates["vector_utilization"], 0)


def utilization_rates(device: DeviceLike | None = None) -> dict[str, int]:
    """Return the load by unit in percent; -1 where the device does not tell."""
    acl, index = runtime.init(), device_index(device)
    rates, code = acl.rt.get_device_utilization_rate(index)
    check(code, f"acl.rt.get_device_utilization_rate({index})", acl)
    return dict(rates)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the chip computes in bfloat16; False without a device.

    >>> torch.npu.is_bf16_supported()
    True
    """
    if not runtime.is_available():
        return False
    acl = runtime.init()
    value, code = acl.get_cann_attribute(1)
    return code == 0 and bool(value)
