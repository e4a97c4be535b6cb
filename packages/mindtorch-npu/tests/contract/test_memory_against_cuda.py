"""The memory functions against those of `torch.cuda`, whose Python sources run without a device on given numbers."""

from __future__ import annotations

import inspect
import pickle

import pytest

from mindtorch_npu import memory, runtime
from mindtorch_npu.allocator import OutOfMemoryError, allocator_of

torch = pytest.importorskip("torch", reason="oracle")
MIB = 2**20
NAMES = [name for name in memory.__all__ if name not in ("current_device", "mem_get_info")]


@pytest.fixture
def used(npu):
    """An allocator with something of everything in its counters."""
    runtime.init()
    blocks = [memory.caching_allocator_alloc(size) for size in (100, 5000, 3 * MIB, 30 * MIB)]
    memory.caching_allocator_delete(blocks[1])
    memory.caching_allocator_delete(blocks[2])
    return npu


@pytest.mark.parametrize("abbreviated", [False, True])
@pytest.mark.parametrize("scale", [1, 1000, 1_000_000])
def test_summary(used, monkeypatch, abbreviated, scale):
    stats = {key: value * scale for key, value in memory.memory_stats(0).items()}
    monkeypatch.setattr(memory, "memory_stats", lambda device=None: stats)
    monkeypatch.setattr(torch.cuda.memory, "memory_stats", lambda device=None: stats)
    ours, theirs = memory.memory_summary(0, abbreviated), torch.cuda.memory_summary(0, abbreviated)
    assert {len(line) for line in ours.splitlines()} == {77}
    words = (
        ("CUDA", "NPU"),
        ("cudaMalloc", "npuMalloc"),
        ("| GPU reserved memory  ", "| Reserved memory      "),
        ("GPU reserved", "NPU reserved"),
        ("GPU segments", "NPU segments"),
    )
    for one, other in words:
        theirs = theirs.replace(one, other)
    assert [line.split() for line in ours.splitlines()] == [line.split() for line in theirs.splitlines()]
    assert ours.splitlines()[5:] == theirs.splitlines()[5:]


def test_statistics_have_the_documented_names(used):
    documented = torch.cuda.memory.memory_stats.__doc__
    stats = memory.memory_stats(0)
    assert len(stats) == 108 + 8 + 7
    assert list(stats) == sorted(stats)
    for name in ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free"):
        assert name in stats
        assert name in documented
    for key in (
        "active",
        "active_bytes",
        "allocated_bytes",
        "inactive_split",
        "requested_bytes",
        "reserved_bytes",
        "segment",
    ):
        assert f'"{key}.' in documented
        assert f"{key}.large_pool.peak" in stats


@pytest.mark.parametrize("name", [n for n in NAMES if hasattr(torch.cuda.memory, n)])
def test_signature(name):
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (memory, torch.cuda.memory))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.default, p.kind) for p in theirs.parameters.values()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_torchs(name):
    assert hasattr(torch.cuda.memory, name)


def test_before_initialisation(npu):
    assert memory.memory_stats() == torch.cuda.memory_stats() == {}
    assert memory.memory_allocated() == memory.max_memory_reserved() == 0
    assert memory.empty_cache() is None
    assert "| Allocated memory      |      0 B   |" in memory.memory_summary()
    assert not runtime.is_initialized()


@pytest.mark.parametrize("fraction", [1, "half", None])
def test_fraction_of_another_type(npu, fraction):
    with pytest.raises(TypeError, match=r"^Invalid type for fraction argument, must be `float`$"):
        memory.set_per_process_memory_fraction(fraction)


@pytest.mark.parametrize("fraction", [-0.1, 1.1])
def test_fraction_out_of_range(npu, fraction):
    with pytest.raises(ValueError, match=rf"^Invalid fraction value: {fraction}. Allowed range: 0~1$"):
        memory.set_per_process_memory_fraction(fraction)


@pytest.mark.parametrize("stream", ["s", 1.5, []])
def test_stream_of_another_type(npu, stream):
    with pytest.raises(TypeError, match="Invalid type for stream argument"):
        memory.caching_allocator_alloc(512, stream=stream)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"enabled": "some"}, "expected state to be 'state', 'all', or None"),
        ({"context": "some"}, "expected context to be 'state', 'alloc', 'all', or None"),
        ({"stacks": "some"}, "expected stacks to be 'python', or 'all'"),
    ],
)
def test_history_refuses_other_words(npu, arguments, text):
    with pytest.raises(RuntimeError) as caught:
        memory.record_memory_history(**arguments)
    assert str(caught.value) == text


def test_fraction_limits_and_frees(npu):
    total = memory.mem_get_info()[1]
    memory.set_per_process_memory_fraction(0.5)
    assert memory.get_per_process_memory_fraction() == 0.5
    with pytest.raises(OutOfMemoryError, match=r"NPU out of memory. Tried to allocate 514.00 MiB.*total capacity"):
        memory.caching_allocator_alloc(total // 2)
    held = memory.caching_allocator_alloc(int(total * 0.49))
    memory.caching_allocator_delete(held)
    memory.set_per_process_memory_fraction(1.0)
    memory.caching_allocator_delete(memory.caching_allocator_alloc(int(total * 0.7)))
    assert memory.memory_stats()["num_ooms"] == 1


def test_out_of_memory_and_again(npu):
    half = memory.mem_get_info()[1] // 2 - MIB
    held = memory.caching_allocator_alloc(half)
    with pytest.raises(OutOfMemoryError, match="Tried to allocate"):
        memory.caching_allocator_alloc(half + 4 * MIB)
    memory.caching_allocator_delete(held)
    memory.caching_allocator_delete(memory.caching_allocator_alloc(half + 4 * MIB))


def test_huge_request(npu):
    with pytest.raises(OutOfMemoryError, match="more than 1EB"):
        memory.caching_allocator_alloc(2**60)


def test_raw_allocation_counts_one_block(npu):
    before = memory.memory_allocated()
    address = memory.caching_allocator_alloc(1)
    assert memory.memory_allocated() == before + 512
    memory.caching_allocator_delete(address)
    assert memory.memory_allocated() == before
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        memory.caching_allocator_delete(address)


def test_snapshot_opens_in_torchs_viewer(npu, tmp_path):
    from torch.cuda import _memory_viz

    memory.record_memory_history()
    kept = memory.caching_allocator_alloc(3 * MIB)
    memory.caching_allocator_delete(memory.caching_allocator_alloc(100))
    file = tmp_path / "dump.pickle"
    memory.dump_snapshot(str(file))
    snapshot = pickle.loads(file.read_bytes())
    text = _memory_viz.trace(snapshot)
    assert "cudaMalloc" in text
    assert "free completed" in text
    assert "segments" in _memory_viz.segsum(snapshot)
    actions = [entry["action"] for entry in snapshot["device_traces"][0]]
    assert actions == ["segment_alloc", "alloc", "segment_alloc", "alloc", "free_requested", "free_completed"]
    frames = snapshot["device_traces"][0][1]["frames"]
    assert any(frame["name"] == "test_snapshot_opens_in_torchs_viewer" for frame in frames)
    memory.record_memory_history(enabled=None)
    memory.caching_allocator_delete(kept)
    assert len(allocator_of(0).history.entries) == 0
