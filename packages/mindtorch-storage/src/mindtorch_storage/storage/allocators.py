"""Who allocates the memory of storages: main memory here, that of devices whoever registered for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mindtorch_storage.absent_devices import start_error
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import memory


class Registered:
    """What upper layers plug in: device memory, and what imports the backend that has it."""

    allocators: ClassVar[dict[str, Callable[[int, Device], memory.Allocation]]] = {}
    load_backend: Callable[[str], None] | None = None


def register_allocator(device_type: str, allocate: Callable[[int, Device], memory.Allocation]) -> None:
    """Let storages of this device type be made: `allocate(nbytes, device)` returns their memory."""
    Registered.allocators[device_type] = allocate


def set_backend_loader(load: Callable[[str], None]) -> None:
    """Call `load(device_type)` when storages of a device type are first made; it may register an allocator."""
    Registered.load_backend = load


def allocate(nbytes: int, device: Device) -> memory.Allocation:
    """Return new memory of a device; RuntimeError or AssertionError, in torch's words, where nobody has any."""
    if device.type == "cpu":
        return memory.allocate(nbytes)
    if device.type == "meta":
        return memory.MetaAllocation(nbytes)
    if device.type not in Registered.allocators and Registered.load_backend is not None:
        Registered.load_backend(device.type)
    allocator = Registered.allocators.get(device.type)
    if allocator is not None:
        return allocator(nbytes, device)
    text = f"torch.UntypedStorage(): Storage device not recognized: {device.type}"
    if device.type == "maia":
        text = "PyTorch is not linked with support for maia devices"
    raise start_error(device.type) or RuntimeError(text)
