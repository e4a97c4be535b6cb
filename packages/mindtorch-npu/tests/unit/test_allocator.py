"""Rounding, segments, reuse, deferred release, limits: the allocator over a device that is only arithmetic."""

from __future__ import annotations

import random

import pytest

from mindtorch_npu.allocator import NpuAllocator, OutOfMemoryError, parse
from mindtorch_npu.allocator.sizes import round_size, segment_size

from .allocator_model import CONFIGS, MIB, Model, Run, check_invariants


def make(conf: str = "", capacity: int = 1024 * MIB) -> tuple[NpuAllocator, Model]:
    model = Model(capacity)
    return NpuAllocator(0, model, parse(conf)), model


@pytest.mark.parametrize(
    ("size", "rounded"), [(1, 512), (479, 512), (480, 512), (481, 1024), (512, 1024), (1024, 1536), (MIB, MIB + 512)]
)
def test_rounding(size, rounded):
    assert round_size(size, parse("")) == rounded


@pytest.mark.parametrize(
    ("size", "segment"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 1, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (11 * MIB + 1, 12 * MIB),
    ],
)
def test_segments(size, segment):
    assert segment_size(size, parse("")) == segment


@pytest.mark.parametrize(("size", "rounded"), [(1200 * 1024, 1280 * 1024), (2 * MIB + 1, 2560 * 1024), (100, 512)])
def test_rounding_to_divisions(size, rounded):
    assert round_size(size, parse("roundup_power2_divisions:4")) == rounded


@pytest.mark.parametrize(
    ("conf", "error", "text"),
    [
        ("max_split_size_mb:19", ValueError, "CachingAllocator option max_split_size_mb too small, must be >= 20"),
        ("large_segment_size_mb:10", ValueError, "CachingAllocator option large_segment_size_mb must be > 10 MB"),
        ("garbage_collection_threshold:1.5", ValueError, "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"),
        ("roundup_power2_divisions:3", ValueError, "For roundups, the divisions has to be power of 2 "),
        ("roundup_power2_divisions:[3:4]", ValueError, "For roundups, the intervals have to be power of 2 "),
        (
            "throw_on_npumalloc_oom:none",
            ValueError,
            "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'none'",
        ),
        ("max_split_size_mb:x", ValueError, "stoull"),
        ("whatever:1", ValueError, "Unrecognized key 'whatever' in NPU allocator config."),
        (
            "expandable_segments:yes",
            ValueError,
            "Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'yes'",
        ),
        (
            "max_split_size_mb",
            RuntimeError,
            "Error, expecting a value after 'max_split_size_mb' in NPU allocator config",
        ),
    ],
)
def test_options_that_are_wrong(conf, error, text):
    with pytest.raises(error) as caught:
        parse(conf)
    assert str(caught.value) == text


def test_a_freed_block_is_used_again_by_its_stream_only():
    allocator, _ = make()
    first = allocator.malloc(1000, stream=1)
    allocator.free(first)
    assert allocator.malloc(1000, stream=2) != first
    assert allocator.malloc(1000, stream=1) == first


def test_a_block_returns_when_the_streams_that_used_it_have_finished():
    allocator, model = make()
    address = allocator.malloc(1000)
    allocator.record_stream(address + 10, 7)
    allocator.free(address)
    assert allocator.memory_stats()["active"]["all"]["current"] == 1
    assert allocator.snapshot()[0]["blocks"][0]["state"] == "active_pending_free"
    assert allocator.malloc(1000) != address
    model.reached[7] = 1
    assert allocator.malloc(1000) == address


def test_best_fit_and_split():
    allocator, _ = make()
    blocks = [allocator.malloc(size) for size in (5000, 100, 2000, 100)]
    allocator.free(blocks[0]), allocator.free(blocks[2])
    assert allocator.malloc(1500) == blocks[2]
    assert allocator.malloc(3000) == blocks[0]


def test_large_blocks_are_split_only_when_more_than_a_mebibyte_is_left():
    allocator, _ = make()
    a = allocator.malloc(20 * MIB - 1024 * 1024 - 512)
    assert allocator.snapshot()[0]["blocks"][0]["size"] == 20 * MIB
    allocator.free(a)
    allocator.malloc(18 * MIB)
    assert len(allocator.snapshot()[0]["blocks"]) == 2


def test_cached_memory_is_given_back_before_an_error():
    allocator, model = make(capacity=100 * MIB)
    for size in (40, 50):
        allocator.free(allocator.malloc(size * MIB))
    address = allocator.malloc(90 * MIB)
    stats = allocator.memory_stats()
    assert stats["num_alloc_retries"] == 1
    assert stats["num_ooms"] == 0
    assert len(model.live) == 1
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.malloc(30 * MIB)
    assert str(caught.value).startswith(
        "NPU out of memory. Tried to allocate 32.00 MiB. NPU 0 has a total capacity of 100.00 MiB of which 8.00 MiB is free. "
    )
    allocator.free(address)
    check_invariants(allocator, model)


def test_observers_and_rejection():
    seen = []
    allocator, _ = make("throw_on_npumalloc_oom:True", capacity=10 * MIB)
    allocator.observers.append(lambda *numbers: seen.append(numbers))
    with pytest.raises(OutOfMemoryError, match="preemptively rejected"):
        allocator.malloc(30 * MIB)
    assert allocator.memory_stats()["num_oom_rejections"] == 1
    assert not seen
    plain, _ = make(capacity=10 * MIB)
    plain.observers.append(lambda *numbers: seen.append(numbers))
    with pytest.raises(OutOfMemoryError):
        plain.malloc(30 * MIB)
    assert seen == [(0, 32 * MIB, 10 * MIB, 10 * MIB)]


def test_oversize_blocks_stay_whole():
    allocator, _ = make("max_split_size_mb:20")
    big = allocator.malloc(60 * MIB)
    allocator.free(big)
    assert allocator.malloc(15 * MIB) != big
    assert allocator.malloc(50 * MIB) == big
    assert allocator.memory_stats()["oversize_allocations"]["current"] == 1


def test_private_pool():
    allocator, _ = make()
    allocator.begin_pool((0, 1), lambda stream: stream == 3)
    own, other = allocator.malloc(100, 3), allocator.malloc(100, 0)
    allocator.end_pool((0, 1))
    assert sorted(s["segment_pool_id"] for s in allocator.snapshot()) == [(0, 0), (0, 1)]
    assert allocator.memory_stats()["reserved_bytes_by_private_pools"]["0_1"]["current"] == 2 * MIB
    allocator.free(own), allocator.free(other)
    assert allocator.malloc(100, 3) not in (own, 0)
    with pytest.raises(RuntimeError):
        allocator.end_pool((0, 1))


def test_nothing_and_foreign_addresses():
    allocator, model = make()
    assert allocator.malloc(0) == 0
    assert not model.live
    allocator.free(0)
    for call in (lambda: allocator.free(5), lambda: allocator.record_stream(5, 0)):
        with pytest.raises(RuntimeError, match="invalid device pointer: 0x5"):
            call()


@pytest.mark.parametrize("conf", CONFIGS)
@pytest.mark.parametrize("seed", range(3))
def test_random_operations_keep_the_invariants(conf, seed):
    run = Run(seed, conf)
    for step in range(1500):
        run.step()
        if step % 10 == 0:
            check_invariants(run.allocator, run.model)
    run.finish()


def test_peaks_and_sums_begin_anew():
    allocator, _ = make()
    sizes = random.Random(3).choices(range(1, 10000), k=20)
    blocks = [allocator.malloc(size) for size in sizes]
    for block in blocks[5:]:
        allocator.free(block)
    allocator.stats.reset_peak(), allocator.stats.reset_accumulated()
    allocation = allocator.memory_stats()["allocation"]["all"]
    assert allocation == {"current": 5, "peak": 5, "allocated": 0, "freed": 0}
