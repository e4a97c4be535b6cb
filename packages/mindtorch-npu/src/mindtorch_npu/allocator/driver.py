"""What the allocator asks of the device: memory, events, waiting. Another driver makes it testable without a device."""

from __future__ import annotations

from typing import Any, Protocol

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import AclError, check
from mindtorch_npu.acl.recording import relaxed
from mindtorch_npu.device import mem_get_info

HUGE_FIRST = 0
OUT_OF_MEMORY = (207001, 207018)
SYNC = 1
HBM_HUGE = 4
VIRTUAL = ("reserve_mem_address", "release_mem_address", "malloc_physical", "free_physical", "map_mem", "unmap_mem")


class Driver(Protocol):
    """The device under an allocator."""

    def malloc(self, size: int) -> int | None:
        """Return the address of `size` bytes, None when there is no memory left."""
        ...

    def free(self, address: int) -> None:
        """Give memory back."""
        ...

    def mem_get_info(self) -> tuple[int, int]:
        """Return free and total bytes."""
        ...

    def record(self, stream: int) -> Any:
        """Return an event that marks the present end of a stream."""
        ...

    def complete(self, event: object) -> bool:
        """Return whether the event has been passed, and if so forget it."""
        ...

    def wait(self, event: object) -> None:
        """Wait until the event has been passed, and forget it."""
        ...

    def forget(self, event: Any) -> None:
        """Forget an event without waiting for it."""
        ...

    def synchronize(self) -> None:
        """Wait for the whole device."""
        ...


class AclDriver:
    """The driver of a real or simulated device."""

    def __init__(self, device: int) -> None:
        self.device = device
        self._behind: dict[int, int] = {}
        self._foreign: dict[int, int] = {}
        """Streams of other devices, and events on them, with their device: only in its context are they recorded."""

    def of_device(self, stream: int, device: int) -> None:
        """Remember that a stream is of another device than the memory which it uses."""
        if device != self.device:
            self._foreign[stream] = device

    def malloc(self, size: int) -> int | None:
        """Return the address of `size` bytes, None when there is no memory left; AclError for other failures."""
        acl = runtime.on(self.device)
        allocate = getattr(acl.rt, "malloc_align32", None) or acl.rt.malloc
        with relaxed(acl):
            address, code = allocate(size, HUGE_FIRST)
        if code in OUT_OF_MEMORY:
            acl.get_recent_err_msg()  # the allocator has its own text for this
            return None
        check(code, f"acl.rt.{allocate.__name__}({size}, {HUGE_FIRST})", acl)
        return int(address)

    def free(self, address: int) -> None:
        """Give memory back. Raises AclError."""
        acl = runtime.on(self.device)
        check(acl.rt.free(address), f"acl.rt.free({address:#x})", acl)

    @property
    def expandable(self) -> bool:
        """Whether addresses and memory can be had apart from each other here."""
        rt = runtime.on(self.device).rt
        return all(hasattr(rt, name) for name in VIRTUAL)

    def reserve(self, size: int) -> int:
        """Return a range of addresses without memory. Raises AclError."""
        acl = runtime.on(self.device)
        address, code = acl.rt.reserve_mem_address(size, 0, 0, 1)
        check(code, f"acl.rt.reserve_mem_address({size})", acl)
        return int(address)

    def unreserve(self, address: int) -> None:
        """Give a range of addresses back. Raises AclError."""
        acl = runtime.on(self.device)
        check(acl.rt.release_mem_address(address), "acl.rt.release_mem_address", acl)

    def map(self, address: int, size: int) -> bool:
        """Put memory behind addresses; False when the device has none left. Raises AclError for other failures."""
        acl = runtime.on(self.device)
        kind = {"handleType": 0, "allocationType": 0, "memAttr": HBM_HUGE, "location": {"id": self.device, "type": 1}}
        handle, code = acl.rt.malloc_physical(size, {**kind, "reserve": 0}, 0)
        if code in OUT_OF_MEMORY:
            acl.get_recent_err_msg()
            return False
        check(code, f"acl.rt.malloc_physical({size})", acl)
        check(acl.rt.map_mem(address, size, 0, handle, 0), "acl.rt.map_mem", acl)
        self._behind[address] = handle
        return True

    def unmap(self, address: int, size: int) -> None:
        """Take the memory behind addresses back. Raises AclError."""
        acl = runtime.on(self.device)
        check(acl.rt.unmap_mem(address), "acl.rt.unmap_mem", acl)
        check(acl.rt.free_physical(self._behind.pop(address)), "acl.rt.free_physical", acl)

    def mem_get_info(self) -> tuple[int, int]:
        """Return free and total bytes."""
        return mem_get_info(self.device)

    def record(self, stream: int) -> int:
        """Return an event that marks the present end of a stream."""
        device = self._foreign.get(stream, self.device)
        acl = runtime.on(device)
        create = getattr(acl.rt, "create_event_ex_with_flag", None) or acl.rt.create_event_with_flag
        event, code = create(SYNC)
        check(code, f"acl.rt.{create.__name__}({SYNC})", acl)
        check(acl.rt.record_event(event, stream), "acl.rt.record_event", acl)
        if device != self.device:
            self._foreign[event] = device
        return int(event)

    def complete(self, event: int) -> bool:
        """Return whether the event has been passed, and if so destroy it."""
        acl = runtime.on(self._foreign.get(event, self.device))
        status, code = acl.rt.query_event_status(event)
        check(code, "acl.rt.query_event_status", acl)
        if status:
            self.forget(event)
        return bool(status)

    def wait(self, event: int) -> None:
        """Wait until the event has been passed, and destroy it."""
        acl = runtime.on(self._foreign.get(event, self.device))
        code = acl.rt.synchronize_event(event)
        self.forget(event)
        check(code, "acl.rt.synchronize_event", acl)

    def forget(self, event: int) -> None:
        """Destroy an event without waiting for it."""
        runtime.on(self._foreign.pop(event, self.device)).rt.destroy_event(event)

    def synchronize(self) -> None:
        """Wait for the whole device."""
        acl = runtime.on(self.device)
        check(acl.rt.synchronize_device(), "acl.rt.synchronize_device()", acl)


__all__ = ["AclDriver", "AclError", "Driver"]
