"""`torch.npu.npurt()`: functions of the runtime that return its codes."""

from __future__ import annotations

import ctypes

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")


def test_memory_of_the_host_is_registered(npu):
    runtime, memory = torch.npu.npurt(), torch.arange(4096, dtype=torch.uint8)
    assert runtime is torch.npu.npurt()
    start, size = memory.data_ptr(), memory.numel()
    assert runtime.npuHostUnregister(start) != 0
    assert runtime.npuHostRegister(start, 0, 0) != 0
    assert runtime.npuHostRegister(0, size, 0) != 0
    assert runtime.npuHostRegister(start, size, 0x10000000) == 0
    assert npu.pinned[start][0] == size
    assert runtime.npuHostRegister(start, size, 0x10000000) != 0
    assert runtime.npuHostUnregister(start) == 0
    assert runtime.npuHostUnregister(start) != 0


def test_a_stream_is_made_and_used(npu):
    runtime, place = torch.npu.npurt(), ctypes.c_void_p()
    assert runtime.npuStreamCreate(0) != 0
    assert runtime.npuStreamDestroy(0) != 0
    assert runtime.npuStreamCreate(ctypes.addressof(place)) == 0
    with torch.npu.stream(torch.npu.ExternalStream(place.value)):
        x = torch.ones(10, device="npu") + 1
    torch.npu.synchronize()
    assert x.sum().item() == 20
    assert runtime.npuStreamDestroy(place.value) == 0
    assert place.value not in npu.streams
