"""What a program sets before it uses a device holds from its first use on."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
MIB = 1 << 20


def test_options_of_the_allocator_that_are_set_before_it_is_made(npu):
    mindtorch.npu.memory._set_allocator_settings("max_split_size_mb:50,max_non_split_rounding_mb:20")
    large = mindtorch.empty(100 * MIB, dtype=mindtorch.uint8, device="npu")
    del large
    held = mindtorch.npu.memory_reserved()
    small = mindtorch.empty(75 * MIB, dtype=mindtorch.uint8, device="npu")
    assert mindtorch.npu.memory_reserved() - held >= 75 * MIB  # 20 MiB more than asked for are too many
    del small
    mindtorch.npu.memory._set_allocator_settings("max_non_split_rounding_mb:30")
    mindtorch.npu.empty_cache()
    large = mindtorch.empty(100 * MIB, dtype=mindtorch.uint8, device="npu")
    del large
    held = mindtorch.npu.memory_reserved()
    mindtorch.empty(75 * MIB, dtype=mindtorch.uint8, device="npu")
    assert mindtorch.npu.memory_reserved() == held


def test_a_tensor_of_a_device_loses_its_memory(npu):
    made = mindtorch.randn(2, 3, device="npu").set_()
    assert (tuple(made.shape), made.device.type, made.untyped_storage().device.type) == ((0,), "npu", "npu")
