"""The memory of one simulated device: blocks at addresses that are no host addresses and are never used twice."""

from __future__ import annotations

import bisect
import ctypes
import itertools
import mmap
import threading

from mindtorch_npu.simulator.faults import DeviceFault

PARAMETER, TOO_LONG, NO_MEMORY = 100000, 107000, 207001
ALIGNMENT = 512
GRANULARITY = 2 << 20
POISON = b"\xff"
"""What fresh and freed memory holds: not-a-number as a float, -1 as an integer."""


class Block:
    """One allocation: where it starts, its bytes, and whether the device gave it padding."""

    __slots__ = ("address", "data", "host", "size")
    data: bytearray | mmap.mmap

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.data = bytearray(POISON) * size
        self.host = ctypes.addressof(ctypes.c_char.from_buffer(self.data))


class Range(Block):
    """Addresses that were reserved, and the memory behind parts of them."""

    __slots__ = ("mapped", "sizes")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.data = mmap.mmap(-1, size)  # the system gives pages when they are touched
        self.host = ctypes.addressof(ctypes.c_char.from_buffer(self.data))
        self.mapped: dict[int, int] = {}
        self.sizes: dict[int, int] = {}

    def covers(self, address: int, size: int) -> bool:
        """Return whether memory is behind all of these addresses."""
        end = address + size
        for start in sorted(self.mapped):
            if start <= address < start + self.sizes[start]:
                address = start + self.sizes[start]
        return address >= end


class DeviceMemory:
    """Blocks by address. Every access names a range, which must lie within one live block."""

    def __init__(self, device: int, capacity: int, padding: int) -> None:
        self.capacity = capacity
        self.padding = padding
        self.used = 0
        self.peak = 0
        self._base = (0x12 + device) << 40
        self._next = self._base
        self._starts: list[int] = []
        self._blocks: dict[int, Block] = {}
        self._ranges: dict[int, Range] = {}
        self._physical: dict[int, int] = {}
        self._handles = itertools.count(0x7100_0000_0000, 16)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._starts) + len(self._physical)

    @property
    def free_bytes(self) -> int:
        """Bytes that no block takes."""
        return self.capacity - self.used

    def _cost(self, size: int) -> int:
        # The device rounds every block to 32 bytes and adds 32 that kernels may read past its end.
        return (size + 31) // 32 * 32 + (32 if self.padding else 0)

    def malloc(self, size: int) -> int:
        """Return the address of a new block full of poison; DeviceFault when it does not fit."""
        if size <= 0:
            raise DeviceFault(PARAMETER, f"EL0003: the size {size} of an allocation is not positive")
        with self._lock:
            cost = self._cost(size)
            if self.used + cost > self.capacity:
                raise DeviceFault(
                    NO_MEMORY, f"EL0004: {size} bytes do not fit in {self.capacity - self.used} free bytes"
                )
            address = self._next
            self._next += (cost + 2 * ALIGNMENT) // ALIGNMENT * ALIGNMENT  # a gap, so that an overrun meets no block
            self.used += cost
            self.peak = max(self.peak, self.used)
            self._blocks[address] = Block(address, size)
            self._starts.append(address)  # addresses only grow
        return address

    def size_of(self, address: int) -> int:
        """Return the size of the live block that starts at an address, 0 when there is none."""
        with self._lock:
            block = self._blocks.get(address)
        return 0 if block is None else block.size

    def free(self, address: int) -> None:
        """Give a block back and poison it; DeviceFault unless `address` is where a live block starts."""
        with self._lock:
            block = self._blocks.pop(address, None)
            if block is None:
                raise DeviceFault(PARAMETER, f"EL0003: no live block starts at {address:#x}")
            del self._starts[bisect.bisect_left(self._starts, address)]
            self.used -= self._cost(block.size)
            ctypes.memset(block.host, 0xFF, block.size)

    # -- addresses and memory apart ------------------------------------------------------------------------------------

    def reserve(self, size: int) -> int:
        """Return a range of addresses with nothing behind it."""
        if size <= 0 or size % GRANULARITY:
            raise DeviceFault(PARAMETER, f"EL0003: {size} bytes are no multiple of {GRANULARITY}")
        with self._lock:
            address = -(-self._next // GRANULARITY) * GRANULARITY
            self._next = address + size + GRANULARITY
            self._ranges[address] = Range(address, size)
        return address

    def unreserve(self, address: int) -> None:
        """Take a range back; DeviceFault while memory is behind it."""
        with self._lock:
            found = self._ranges.get(address)
            if found is None or found.mapped:
                raise DeviceFault(PARAMETER, f"EL0003: no range without memory starts at {address:#x}")
            del self._ranges[address]

    def take(self, size: int) -> int:
        """Return the handle of memory without address; DeviceFault when there is no more."""
        if size <= 0 or size % GRANULARITY:
            raise DeviceFault(PARAMETER, f"EL0003: {size} bytes are no multiple of {GRANULARITY}")
        with self._lock:
            if self.used + size > self.capacity:
                raise DeviceFault(
                    NO_MEMORY, f"EL0004: {size} bytes do not fit in {self.capacity - self.used} free bytes"
                )
            self.used += size
            self.peak = max(self.peak, self.used)
            handle = next(self._handles)
            self._physical[handle] = size
        return handle

    def give_back(self, handle: int) -> None:
        """Free memory without address; DeviceFault while it is mapped."""
        with self._lock:
            size = self._physical.get(handle)
            if size is None or any(handle in found.mapped.values() for found in self._ranges.values()):
                raise DeviceFault(PARAMETER, f"EL0003: {handle:#x} is no memory that is not mapped")
            del self._physical[handle]
            self.used -= size

    def map(self, address: int, size: int, handle: int) -> None:
        """Put memory behind addresses of a range; it is full of poison."""
        with self._lock:
            found = self._range_around(address, size)
            if found is None or self._physical.get(handle) != size or address in found.mapped:
                raise DeviceFault(PARAMETER, f"EL0003: {size} bytes cannot be mapped to {address:#x}")
            found.mapped[address] = handle
            found.sizes[address] = size
            ctypes.memset(found.host + address - found.address, 0xFF, size)

    def unmap(self, address: int) -> None:
        """Take the memory behind addresses away."""
        with self._lock:
            found = self._range_around(address, 1)
            if found is None or address not in found.mapped:
                raise DeviceFault(PARAMETER, f"EL0003: nothing is mapped to {address:#x}")
            del found.mapped[address]
            ctypes.memset(found.host + address - found.address, 0xFF, found.sizes.pop(address))

    def _range_around(self, address: int, size: int) -> Range | None:
        for found in self._ranges.values():
            if found.address <= address and address + size <= found.address + found.size:
                return found
        return None

    def owns(self, address: int) -> bool:
        """True for addresses of this device, live or not."""
        return self._base <= address < self._base + (1 << 40)

    def find(self, address: int, size: int) -> tuple[Block, int]:
        """Return the live block around `size` bytes at `address` and where in it they start; DeviceFault otherwise."""
        with self._lock:
            place = bisect.bisect_right(self._starts, address) - 1
            block = self._blocks[self._starts[place]] if place >= 0 else None
            found = self._range_around(address, size) if self._ranges else None
            if found is not None and found.covers(address, size):
                return found, address - found.address
        if block is None or address + size > block.address + block.size:
            raise DeviceFault(
                PARAMETER, f"EZ9999: {size} bytes at {address:#x} are not memory of this device, or have been freed"
            )
        return block, address - block.address
