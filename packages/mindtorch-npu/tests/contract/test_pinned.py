"""Pinned host memory: kept blocks, copies that go on after the call, and what `torch.cuda`'s statistics call them."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import host, runtime  # noqa: E402

from ..simulated import simulated  # noqa: E402


@pytest.fixture
def slow(monkeypatch):
    """A device whose every task takes a moment."""
    host._allocator.clear()
    with simulated(monkeypatch, "Ascend910B3:2,memory=256MiB,delay=0.02") as machine:
        yield machine
    gc.collect()
    host._allocator.clear()


@pytest.fixture
def pinning(npu):
    host._allocator.clear()
    yield npu
    gc.collect()
    host._allocator.clear()


def amounts():
    stats = host.host_memory_stats()
    return stats["allocations.current"], stats["active_requests.current"]


def test_a_pinned_copy_has_values_strides_and_says_so(pinning):
    x = torch.arange(24.0).reshape(4, 6)[:, ::2]
    made = x.pin_memory()
    assert made.is_pinned()
    assert not x.is_pinned()
    assert made.stride() == x.stride()
    assert torch.equal(made, x)
    assert made.pin_memory() is made
    assert made.data_ptr() in pinning.pinned
    assert made.untyped_storage().is_pinned()


def test_device_tensors_are_not_pinned(pinning):
    x = torch.ones(2, device="npu")
    assert not x.is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        x.pin_memory()


def test_without_an_accelerator_torchs_text(monkeypatch):
    monkeypatch.delenv("MINDTORCH_NPU_SIMULATOR", raising=False)
    from mindtorch_storage.storage import memory

    monkeypatch.setattr(memory, "pinned_memory", [])
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2).pin_memory()
    assert str(caught.value) == "Cannot access accelerator device when none is available."


def test_a_copy_from_pinned_memory_returns_before_it_is_done(slow):
    x = torch.arange(1000.0).pin_memory()
    device = x.to("npu", non_blocking=True)
    stream = torch.npu.current_stream()
    assert not stream.query()
    stream.synchronize()
    assert torch.equal(device.cpu(), torch.arange(1000.0))


def test_a_blocking_copy_from_pinned_memory_waits(slow):
    x = torch.arange(1000.0).pin_memory()
    device = x.to("npu")
    x.zero_()
    assert torch.equal(device.cpu(), torch.arange(1000.0))


def test_a_copy_from_pageable_memory_waits_whatever_was_asked(slow):
    x = torch.arange(1000.0)
    device = x.to("npu", non_blocking=True)
    x.zero_()
    assert torch.equal(device.cpu(), torch.arange(1000.0))


def test_a_copy_back_into_pinned_memory_goes_on(slow):
    source = torch.arange(1000.0).to("npu")
    target = torch.zeros(1000).pin_memory()
    target.copy_(source, non_blocking=True)
    assert not torch.npu.current_stream().query()
    torch.npu.synchronize()
    assert torch.equal(target, torch.arange(1000.0))


def test_a_copy_back_into_pageable_memory_is_done(slow):
    target = torch.zeros(1000)
    target.copy_(torch.arange(1000.0).to("npu"), non_blocking=True)
    assert torch.equal(target, torch.arange(1000.0))


def test_a_block_in_use_by_a_copy_is_not_given_out_again(slow):
    x = torch.arange(1024.0).pin_memory()
    address = x.data_ptr()
    device = x.to("npu", non_blocking=True)
    del x
    other = torch.zeros(1024).pin_memory()
    assert other.data_ptr() != address
    torch.npu.synchronize()
    third = torch.zeros(1024).pin_memory()
    assert third.data_ptr() == address
    assert torch.equal(device.cpu(), torch.arange(1024.0))


def test_blocks_are_used_again_and_given_back(pinning):
    x = torch.ones(3000, dtype=torch.uint8).pin_memory()
    assert amounts() == (1, 1)
    assert host.host_memory_stats()["active_bytes.current"] == 4096
    first = x.data_ptr()
    del x
    assert amounts() == (1, 0)
    y = torch.ones(4000, dtype=torch.uint8).pin_memory()
    assert y.data_ptr() == first
    del y
    torch.accelerator.memory.empty_host_cache()
    assert amounts() == (0, 0)
    assert not pinning.pinned


def test_an_array_over_pinned_memory_keeps_it(pinning):
    x = torch.arange(8.0).pin_memory()
    array = x.numpy()
    del x
    gc.collect()
    host.host_empty_cache()
    assert amounts()[1] == 1
    assert array.tolist() == list(range(8))
    del array
    gc.collect()
    assert amounts()[1] == 0


@pytest.mark.parametrize("size", [1, 4096, 4097, 1 << 20, (1 << 20) + 1])
def test_blocks_are_powers_of_two(size):
    whole = host.rounded(size)
    assert whole >= size
    assert whole & (whole - 1) == 0
    assert whole < 2 * max(size, 2048) + 1


def test_statistics_have_torchs_names(pinning):
    torch.ones(8).pin_memory()
    stats = host.host_memory_stats()
    expected = {f"{name}.{column}" for name in host.AMOUNTS for column in ("current", "peak", "allocated", "freed")}
    expected |= {"num_host_alloc", "num_host_free"}
    expected |= {f"{name}.{column}" for name in host.TIMES for column in ("total", "max", "min", "count", "avg")}
    assert set(stats) == expected
    assert list(stats) == sorted(stats)
    assert stats["num_host_alloc"] == stats["host_alloc_time.count"] == 1


def test_peaks_and_sums_begin_anew(pinning):
    x = torch.ones(8).pin_memory()
    y = torch.ones(8).pin_memory()
    del y
    host.reset_peak_host_memory_stats()
    assert host.host_memory_stats()["active_requests.peak"] == 1
    host.reset_accumulated_host_memory_stats()
    assert host.host_memory_stats()["active_requests.allocated"] == 0
    assert x.is_pinned()


def test_nothing_is_told_before_the_runtime_is_initialised(pinning):
    assert not runtime.is_initialized()
    assert host.host_memory_stats() == {}


def test_a_full_host_is_an_error_and_not_the_end(pinning):
    torch.npu.init()
    pinning.faults.add("rt.malloc_host", 207001)
    with pytest.raises(RuntimeError, match="207001"):
        torch.ones(8).pin_memory()
    assert torch.ones(8).pin_memory().is_pinned()


def test_loaders_pin_their_batches(pinning):
    loader = torch.utils.data.DataLoader(list(torch.arange(4.0)), batch_size=2, pin_memory=True)
    batches = list(loader)
    assert all(batch.is_pinned() for batch in batches)
    assert [batch.to("npu", non_blocking=True).cpu().tolist() for batch in batches] == [[0, 1], [2, 3]]
