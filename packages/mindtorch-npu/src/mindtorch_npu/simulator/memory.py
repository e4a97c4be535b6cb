"""The memory of one simulated device: blocks at addresses that are no host addresses and are never used twice."""

from __future__ import annotations

import bisect
import ctypes
import threading

from mindtorch_npu.simulator.faults import DeviceFault

PARAMETER, TOO_LONG, NO_MEMORY = 100000, 107000, 207001
ALIGNMENT = 512
POISON = b"\xff"
"""What fresh and freed memory holds: not-a-number as a float, -1 as an integer."""


class Block:
    """One allocation: where it starts, its bytes, and whether the device gave it padding."""

    __slots__ = ("address", "data", "host", "size")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.data = bytearray(POISON) * size
        self.host = ctypes.addressof(ctypes.c_char.from_buffer(self.data))


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
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._starts)

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

    def free(self, address: int) -> None:
        """Give a block back and poison it; DeviceFault unless `address` is where a live block starts."""
        with self._lock:
            block = self._blocks.pop(address, None)
            if block is None:
                raise DeviceFault(PARAMETER, f"EL0003: no live block starts at {address:#x}")
            del self._starts[bisect.bisect_left(self._starts, address)]
            self.used -= self._cost(block.size)
            ctypes.memset(block.host, 0xFF, block.size)

    def owns(self, address: int) -> bool:
        """True for addresses of this device, live or not."""
        return self._base <= address < self._base + (1 << 40)

    def find(self, address: int, size: int) -> tuple[Block, int]:
        """Return the live block around `size` bytes at `address` and where in it they start; DeviceFault otherwise."""
        with self._lock:
            place = bisect.bisect_right(self._starts, address) - 1
            block = self._blocks[self._starts[place]] if place >= 0 else None
        if block is None or address + size > block.address + block.size:
            raise DeviceFault(
                PARAMETER, f"EZ9999: {size} bytes at {address:#x} are not memory of this device, or have been freed"
            )
        return block, address - block.address
