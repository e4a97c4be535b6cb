"""pyACL's functions for memory: device blocks, pinned host memory, copies and fills."""

from __future__ import annotations

import ctypes
from typing import Any

from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import BAD_VALUE, PARAMETER, Machine
from mindtorch_npu.simulator.memory import DeviceMemory
from mindtorch_npu.simulator.stream import Task

H2H, H2D, D2H, D2D, DEFAULT = range(5)
HBM_ATTRIBUTES = (1, 4, 5)
RELAXED = 2
KINDS = range(6)
LARGEST = (1 << 64) - 1
MEMORY_KINDS, BAD_MEMORY_KIND = 12, 107016
IO_MEMORY, READ_ONLY, NOT_SUPPORTED = 4, 8, 207000


def _malloc(machine: Machine, size: int, policy: int) -> int:
    for stream in machine.device_streams(machine.context().device):
        if stream.recording is not None and stream.recording.mode != RELAXED and machine.thread.mode != RELAXED:
            raise stream.recording.refuse("asking for memory")
    return machine.memories[machine.context().device].malloc(size)


def _free(machine: Machine, address: int) -> None:
    machine.context()
    memory = machine.memory_of(address)
    if memory is None:
        raise DeviceFault(PARAMETER, f"EL0003: {address:#x} is no device memory")
    size = memory.size_of(address)
    machine.released(address, address + size, "memory")
    memory.free(address)
    if machine.races is not None:
        machine.races.forget(address, address + size)


def _malloc_host(machine: Machine, size: int) -> int:
    machine.context()
    if size <= 0:
        raise DeviceFault(PARAMETER, f"EL0003: the size {size} of an allocation is not positive")
    block = (ctypes.c_char * (size + 64))()
    address = (ctypes.addressof(block) + 63) // 64 * 64
    machine.pinned[address] = (size, block)
    return address


def _free_host(machine: Machine, address: int) -> None:
    found = machine.pinned.get(address)
    if found is None or found[1] is None:
        raise DeviceFault(PARAMETER, f"EL0003: {address:#x} is no pinned memory")
    del machine.pinned[address]
    machine.released(address, address + found[0], "pinned memory")


def _host_register(machine: Machine, address: int, size: int, kind: int = 0) -> int:
    machine.context()
    if kind & ~(IO_MEMORY | READ_ONLY):
        raise DeviceFault(NOT_SUPPORTED, f"EE1015: {kind} is no kind of registered memory")
    if not address or size <= 0 or kind or machine.memory_of(address) is not None:
        raise DeviceFault(PARAMETER, f"EL0003: {size} bytes at {address:#x} cannot be registered")
    if any(start < address + size and address < start + length for start, (length, _) in machine.pinned.items()):
        raise DeviceFault(PARAMETER, "EL0003: the memory is registered")
    machine.pinned[address] = (size, None)
    return address


def _host_unregister(machine: Machine, address: int) -> None:
    found = machine.pinned.get(address)
    if found is None or found[1] is not None:
        raise DeviceFault(PARAMETER, f"EL0003: {address:#x} is no registered memory")
    del machine.pinned[address]
    machine.released(address, address + found[0], "registered memory")


def _is_pinned(machine: Machine, address: int, size: int) -> bool:
    return any(start <= address and address + size <= start + length for start, (length, _) in machine.pinned.items())


def _check_range(machine: Machine, target: int, limit: int, source: int, size: int) -> None:
    if not target or not source:
        raise DeviceFault(PARAMETER, "EL0003: a copy from or to address 0")
    if size > limit:
        raise DeviceFault(BAD_VALUE, f"EL0003: {size} bytes do not fit in {limit}")
    device = machine.context().device
    for address in (target, source):
        memory = machine.memory_of(address)
        if memory is None:
            continue
        memory.find(address, size)
        owner = machine.memories.index(memory)
        other = machine.memory_of(source if address == target else target)
        if other is not None and other is not memory:
            peers = (owner, machine.memories.index(other))
            if peers not in machine.peers or peers[::-1] not in machine.peers:
                raise DeviceFault(BAD_VALUE, f"EE1001: no peer access between devices {peers[0]} and {peers[1]}")
        elif owner != device:
            raise DeviceFault(BAD_VALUE, f"EE1001: {address:#x} is memory of device {owner}, current is {device}")


def _check_kind(kind: int) -> None:
    if kind not in KINDS:
        raise DeviceFault(PARAMETER, f"EL0003: {kind} is no kind of copy")


def _memcpy(machine: Machine, target: int, limit: int, source: int, size: int, kind: int) -> None:
    size &= LARGEST  # what C makes of a negative size
    if size:
        _check_kind(kind)
        machine.refuse_while_recording("a synchronous copy")
        _check_range(machine, target, limit, source, size)
        machine.ordered(None, "rt.memcpy", [(source, source + size, False), (target, target + size, True)])
        machine.copy(target, source, size)


def _memcpy_async(machine: Machine, target: int, limit: int, source: int, size: int, kind: int, stream: int) -> None:
    found = machine.stream(stream)
    size &= LARGEST
    if not size:
        return
    _check_kind(kind)
    _check_range(machine, target, limit, source, size)
    on_device = (machine.memory_of(source) is not None, machine.memory_of(target) is not None)
    expected = {(False, False): H2H, (False, True): H2D, (True, False): D2H, (True, True): D2D}[on_device]
    if kind not in (expected, DEFAULT):
        raise DeviceFault(BAD_VALUE, f"EL0003: the copy is of kind {expected}, not {kind}")
    hosts = [address for address, there in zip((source, target), on_device, strict=True) if not there]
    waits = not all(_is_pinned(machine, address, size) for address in hosts)
    if waits and found.recording is not None:
        raise found.recording.refuse("copying memory that is not pinned")
    machine.ordered(found, "rt.memcpy_async", [(source, source + size, False), (target, target + size, True)])
    uses = Task("rt.memcpy_async", [(source, source + size), (target, target + size)])
    found.enqueue(lambda: machine.copy(target, source, size), uses=uses)
    if waits:
        found.wait()  # memory the system may move: the call returns when the copy is done
        machine.waited(found)
        machine.check_stream(found)


def _memset(machine: Machine, address: int, limit: int, value: int, size: int) -> None:
    if _check_fill(address, limit, size):
        machine.refuse_while_recording("a synchronous fill")
        _fill(machine, address, value, size)


def _check_fill(address: int, limit: int, size: int) -> bool:
    if not size & LARGEST:
        return False
    if not address:
        raise DeviceFault(PARAMETER, "EL0003: a fill of address 0")
    if size & LARGEST > limit:
        raise DeviceFault(BAD_VALUE, f"EL0003: {size} bytes do not fit in {limit}")
    return True


def _fill(machine: Machine, address: int, value: int, size: int) -> None:
    ctypes.memset(machine.host_address(address, size), value & 0xFF, size)


def _memset_async(machine: Machine, address: int, limit: int, value: int, size: int, stream: int) -> None:
    found = machine.stream(stream)
    if not _check_fill(address, limit, size):
        return
    machine.host_address(address, size)
    machine.ordered(found, "rt.memset_async", [(address, address + size, True)])
    uses = Task("rt.memset_async", [(address, address + size)])
    found.enqueue(lambda: _fill(machine, address, value, size), uses=uses)


def _mem_info(machine: Machine, attribute: int) -> tuple[int, int]:
    memory = machine.memories[machine.context().device]
    if not 0 <= attribute < MEMORY_KINDS:
        raise DeviceFault(BAD_MEMORY_KIND, f"EE1003: {attribute} is no kind of memory")
    if attribute not in HBM_ATTRIBUTES:
        return 0, 0
    return memory.free_bytes, memory.capacity


def _attributes(machine: Machine, address: int) -> dict[str, Any]:
    memory = machine.memory_of(address)
    if memory is not None:
        return {"location": {"id": machine.memories.index(memory), "type": 1}, "page_size": 2 << 20, "rsv": []}
    kind = 0 if _is_pinned(machine, address, 1) else 2
    return {"location": {"id": 0, "type": kind}, "page_size": 4096, "rsv": []}


def _own(machine: Machine) -> DeviceMemory:
    return machine.memories[machine.context().device]


def _physical(machine: Machine, size: int, kind: dict[str, Any], flags: int) -> int:
    if kind.get("location", {}).get("id") != machine.context().device:
        raise DeviceFault(PARAMETER, "EL0003: the location is another device's")
    return _own(machine).take(size)


def _reserve(machine: Machine, size: int, alignment: int, expected: int, flags: int) -> int:
    if flags not in (0, 1):
        raise DeviceFault(PARAMETER, f"EL0003: flags of reserved addresses must be 0, not {flags}")
    return _own(machine).reserve(size)


def _map(machine: Machine, address: int, size: int, offset: int, handle: int, flags: int) -> None:
    if flags or offset or not address or not handle:
        raise DeviceFault(PARAMETER, "EL0003: address and memory are needed, offset and flags must be 0")
    _own(machine).map(address, size, handle)


CALLS: dict[str, tuple[int, int, int, Any]] = {
    "rt.malloc": (2, 2, 1, _malloc),
    "rt.malloc_align32": (2, 2, 1, _malloc),
    "rt.malloc_cached": (2, 2, 1, _malloc),
    "rt.free": (1, 1, 0, _free),
    "rt.host_register": (2, 3, 1, _host_register),
    "rt.host_unregister": (1, 1, 0, _host_unregister),
    "rt.malloc_host": (1, 1, 1, _malloc_host),
    "rt.free_host": (1, 1, 0, _free_host),
    "rt.memcpy": (5, 5, 0, _memcpy),
    "rt.memcpy_async": (6, 6, 0, _memcpy_async),
    "rt.memset": (4, 4, 0, _memset),
    "rt.memset_async": (5, 5, 0, _memset_async),
    "rt.reserve_mem_address": (4, 4, 1, _reserve),
    "rt.release_mem_address": (1, 1, 0, lambda m, address: _own(m).unreserve(address)),
    "rt.malloc_physical": (3, 3, 1, _physical),
    "rt.free_physical": (1, 1, 0, lambda m, handle: _own(m).give_back(handle)),
    "rt.map_mem": (5, 5, 0, _map),
    "rt.unmap_mem": (1, 1, 0, lambda m, address: _own(m).unmap(address)),
    "rt.get_mem_info": (1, 1, 2, _mem_info),
    "rt.pointer_get_attributes": (1, 1, 1, _attributes),
}
