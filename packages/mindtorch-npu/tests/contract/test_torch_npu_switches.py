"""Switches, marks and questions of torch_npu: what they choose, tell and refuse."""

from __future__ import annotations

import json
import warnings

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import host, runtime, switches  # noqa: E402
from mindtorch_npu.acl import configuration  # noqa: E402


@pytest.mark.parametrize("mode", ["warn", "error"])
def test_copies_that_wait_are_told_where_that_is_wanted(npu, mode):
    host._allocator.clear()
    x = torch.ones(3, device="npu")
    torch.npu.set_sync_debug_mode(mode)
    try:
        assert torch.npu.get_sync_debug_mode() == {"warn": 1, "error": 2}[mode]
        for wait in (lambda: x.cpu(), lambda: x.sum().item(), lambda: torch.ones(3).to("npu"), lambda: x.nonzero()):
            told = (
                pytest.warns(UserWarning, match="synchronizing NPU") if mode == "warn" else pytest.raises(RuntimeError)
            )
            with told:
                wait()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            torch.ones(3).pin_memory().to("npu", non_blocking=True)
            x.clone().add_(1)
    finally:
        torch.npu.set_sync_debug_mode("default")
    torch.npu.synchronize()
    host._allocator.clear()
    assert x.tolist() == [1.0] * 3
    with pytest.raises(RuntimeError, match="expected one of 0,1,2"):
        torch.npu.set_sync_debug_mode(3)


def test_bits_are_the_same_between_the_way_there_and_back(npu):
    x = torch.ones(3, device="npu", requires_grad=True)
    for choose, there in (
        (torch.npu.enable_deterministic_with_backward, True),
        (torch.npu.disable_deterministic_with_backward, False),
    ):
        y = choose(x * 2) * 3
        assert torch.are_deterministic_algorithms_enabled() is there
        assert switches.is_deterministic() is there
        y.sum().backward()
        assert torch.are_deterministic_algorithms_enabled() is not there
    assert x.grad.tolist() == [12.0] * 3
    torch.use_deterministic_algorithms(False)


def test_fewer_bits_are_said_in_one_place(npu):
    assert torch.npu.aclnn.allow_hf32 is torch.npu.conv.allow_hf32
    with torch.npu.aclnn.flags(allow_hf32=True):
        assert torch.npu.conv.allow_hf32
        torch.npu.aclnn.allow_hf32 = False
        assert not torch.npu.conv.allow_hf32
    with pytest.raises(TypeError, match="allow_hf32 must be a bool"):
        torch.npu.aclnn.allow_hf32 = 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "is invalid"),
        ("not a json{{{", "Failed to parse user acl json"),
        ("", "Failed to parse user acl json"),
        (json.dumps({"defaultDevice": {"default_device": "0"}}), "contains 'defaultDevice'"),
    ],
)
def test_a_file_of_settings_that_cannot_be_used_is_refused(npu, monkeypatch, tmp_path, content, text):
    path = tmp_path / "acl.json"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv(configuration.PATH, str(path))
    with pytest.raises(RuntimeError, match=text):
        runtime.init()
    path.write_text('{"dump": {}}')
    given = []
    monkeypatch.setattr(npu, "call", lambda name: None)
    monkeypatch.setattr(configuration, "settings_file", lambda: given.append(str(path)) or given[-1])
    runtime.init()
    assert given == [str(path)]


def test_another_mode_of_operators_is_warned_of(npu, monkeypatch):
    monkeypatch.setenv(configuration.MODE, "999")
    with pytest.warns(UserWarning, match=r"ACL_OP_INIT_MODE not in \[0, 1, 2\]"):
        runtime.init()


def test_an_event_tells_when_it_was_passed(npu):
    first, second = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    with pytest.raises(ValueError, match="enable_timing=True"):
        first.recorded_time()
    first.record()
    torch.ones(3, device="npu").add_(1)
    second.record()
    assert 0 < first.recorded_time() <= second.recorded_time()
    with pytest.raises(ValueError, match="enable_timing=True"):
        torch.npu.Event().recorded_time()


def test_marks_go_through_one_place(npu, monkeypatch):
    seen = []
    monkeypatch.setattr(torch.npu.mstx.native, "_mark", staticmethod(lambda *given: seen.append(given)))
    monkeypatch.setattr(torch.npu.mstx.native, "_mark_on_host", staticmethod(lambda *given: seen.append(given)))
    stream = torch.npu.current_stream()
    torch.npu.mstx.mark("a", stream, "b")
    torch.npu.mstx.mark("c")
    with pytest.warns(UserWarning, match="Invalid message"):
        torch.npu.mstx.mark("")
    assert seen == [("a", stream.stream_id, 0, 20, "b"), ("c", "default")]


def test_a_time_limit_is_an_unsigned_number(npu):
    with pytest.raises(ValueError, match="can't convert negative value to unsigned int"):
        torch.npu.set_op_timeout_ms(-1)
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        torch.npu.set_op_timeout_ms(2**32)


def test_typed_storages_go_to_a_device(npu):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = torch.FloatStorage([1, 2, 3]).npu(1)
        assert there.device == torch.device("npu:1")
        assert there.cpu().tolist() == [1.0, 2.0, 3.0]


def test_what_runs_after_the_end_of_the_runtime_has_a_device_again(npu, monkeypatch):
    torch.ones(1, device="npu")
    monkeypatch.setattr(runtime, "_at_exit", [])
    runtime._finalize()
    assert runtime.thread_device() is None


def test_a_graph_is_recorded_without_a_cache(npu, monkeypatch):
    from mindtorch_npu.allocator import allocator_of

    torch.npu.init()
    monkeypatch.setattr(allocator_of(0), "caching", False)
    x, graph = torch.ones(512, 512, device="npu"), torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x @ x
    graph.replay()
    assert (y == 512).all()
    held = torch.npu.memory_reserved()
    assert held > 0
    del y
    graph.reset()
    torch.npu.empty_cache()
    assert torch.npu.memory_reserved() < held
    torch.npu.graph.default_capture_stream = None


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.float64])
def test_distinct_slices(npu, dim, dtype):
    x = torch.tensor([[3, 1, 3, 3], [2, 1, 2, 2], [3, 1, 3, 3], [3, 1, 3, 3]], dtype=dtype)
    for one in (
        lambda y: torch.unique(y, dim=dim, return_inverse=True, return_counts=True),
        lambda y: torch.unique_consecutive(y, dim=dim, return_inverse=True, return_counts=True),
    ):
        for found, expected in zip(one(x.npu()), one(x), strict=True):
            assert torch.equal(found.cpu(), expected)


def test_doubles_are_turned_round(npu):
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    for one in (x, x.T):
        assert torch.equal(one.npu().flip(0).cpu(), one.flip(0))
        assert torch.equal(one.npu().flip(0, 1).cpu(), one.flip(0, 1))


def test_transforms_keep_the_matrices_of_the_lengths_last_asked_for(npu):
    cache = torch.npu.backends.fft_plan_cache
    before = cache.max_size
    cache.clear()
    x = torch.randn(2, 7, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))
    for _ in range(2):
        assert torch.allclose(torch.fft.ifft(x.npu()).cpu(), torch.fft.ifft(x), atol=1e-5)
        assert cache.size == 1
    assert torch.allclose(torch.fft.fft(x.npu()).cpu(), torch.fft.fft(x), atol=1e-5)
    assert cache.size == 2
    cache.max_size = 1
    assert cache.size == 1
    with pytest.raises(RuntimeError, match="read-only"):
        cache.size = 1
    with pytest.raises(RuntimeError, match="must be a number"):
        cache.max_size = -1
    cache.max_size = before
    cache.clear()
    assert cache.size == 0
