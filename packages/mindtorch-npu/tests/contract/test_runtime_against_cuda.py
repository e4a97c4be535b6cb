"""Streams, events, devices and properties against `torch.cuda`'s shapes and texts."""

from __future__ import annotations

import inspect
import threading

import pytest

from mindtorch_npu import AclError, device, external_stream, peers, properties, runtime, stream, stream_pools

torch = pytest.importorskip("torch", reason="oracle")


@pytest.mark.parametrize(
    "name", ["stream", "set_stream", "current_stream", "default_stream", "get_stream_from_external"]
)
def test_stream_functions_have_torchs_parameters(name):
    own = external_stream if name == "get_stream_from_external" else stream
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (own, torch.cuda))
    assert list(ours.parameters) == list(theirs.parameters)


@pytest.mark.parametrize("name", ["set_device", "synchronize"])
def test_device_functions_have_torchs_parameters(name):
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (device, torch.cuda))
    assert list(ours.parameters) == list(theirs.parameters)


@pytest.mark.parametrize("cls", ["Stream", "Event"])
def test_classes_have_torchs_methods(cls):
    theirs = [n for n in vars(getattr(torch.cuda, cls)) if not n.startswith("_") and n not in _ELSEWHERE]
    missing = [n for n in theirs if not hasattr(getattr(stream, cls), n)]
    assert not missing


_ELSEWHERE = ("from_ipc_handle", "ipc_handle")  # memory between processes has no NPU function yet


@pytest.mark.parametrize("given", ["cuda:0", "cpu"])
def test_another_device_type(npu, given):
    with pytest.raises(ValueError, match="Expected a") as caught:
        device.device_index(given)
    with pytest.raises(ValueError, match="Expected a") as theirs:
        torch.cuda._utils._get_device_index("cpu")
    assert str(caught.value) == str(theirs.value).replace("cuda", "npu").replace("cpu", given)


def test_streams_come_from_a_pool(npu):
    made = [stream.Stream() for _ in range(stream_pools.SIZES[stream_pools.NORMAL] + 1)]
    assert made[0] == made[-1]
    assert hash(made[0]) == hash(made[-1])
    assert len(set(made)) == stream_pools.SIZES[stream_pools.NORMAL]
    assert made[0] != stream.default_stream()
    own = stream.default_stream()
    assert repr(own) == f"<torch_npu.npu.Stream device=npu:0 npu_stream={own.npu_stream:#x}>"


def test_a_stream_is_found_by_its_number(npu):
    made = [
        stream.default_stream(), stream.default_stream(1), stream.Stream(), stream.Stream(1), stream.Stream(priority=-1),
        stream.Stream(is_sync_launch=True), external_stream.ExternalStream(npu.create_stream().handle),
    ]  # fmt: skip
    for one in made:
        again = stream.Stream(stream_id=one.stream_id, device_index=one.device_index, device_type=one.device_type)
        assert again == one
        assert again.npu_stream == one.npu_stream
    assert len({(one.device_index, one.stream_id) for one in made}) == len(made)
    assert [one.stream_id for one in made[:2]] == [0, 0]
    assert [one.stream_id >> 5 for one in made[2:6]] == [3, 3, 4, 2]


@pytest.mark.parametrize(
    ("number", "index", "kind"),
    [
        (99999, 0, 20),
        (0, 999, 20),
        (0, 0, 999),
        (0, -1, 20),
        (-1, 0, 20),
        (3 << 5 | 31, 0, 20),
        (1 << 30, 0, 20),
        (0, 0, None),
    ],
)
def test_a_number_of_no_stream_is_refused(npu, number, index, kind):
    with pytest.raises(RuntimeError):
        stream.Stream(stream_id=number, device_index=index, device_type=kind)


def test_a_stream_of_another_library_is_waited_for_by_that_library(npu, monkeypatch):
    stream.default_stream()
    own = external_stream.ExternalStream(npu.create_stream().handle)
    with pytest.raises(RuntimeError, match="Cannot query external NPU stream status"):
        own.query()
    with pytest.raises(RuntimeError, match="not supported in NPUStream::synchronize"):
        own.synchronize()
    monkeypatch.setenv("PER_STREAM_QUEUE", "1")
    with pytest.raises(RuntimeError, match=r"not supported in NPUStream::stream\(\)"):
        own.npu_stream


def test_a_device_has_a_default_stream_of_its_own(npu):
    first, second = stream.default_stream(0), stream.default_stream(1)
    assert 0 != first.npu_stream != second.npu_stream
    assert npu.streams[first.npu_stream].device == 0
    assert npu.streams[second.npu_stream].device == 1
    assert stream.default_stream() == first
    found = []
    thread = threading.Thread(target=lambda: found.append(stream.default_stream(0)))
    thread.start(), thread.join()
    assert found == [first]


def test_current_stream_is_the_threads(npu):
    own, seen = stream.Stream(), []
    with stream.stream(own):
        thread = threading.Thread(target=lambda: seen.append(stream.current_stream()))
        thread.start()
        thread.join()
        assert stream.current_stream() == own
    assert seen == [stream.default_stream()]
    assert stream.current_stream() == stream.default_stream()


def test_a_stream_brings_its_device(npu):
    other = stream.Stream(1)
    with other as entered:
        assert entered is other
        assert device.current_device() == 1
    assert device.current_device() == 0
    with stream.stream(None):
        assert device.current_device() == 0


@pytest.mark.parametrize("given", [1, "npu:1", device.Device("npu", 1)])
def test_device_block(npu, given):
    with device.device(given):
        assert device.current_device() == 1
    assert device.current_device() == 0


@pytest.mark.parametrize("given", [-1, None])
def test_device_block_that_changes_nothing(npu, given):
    with device.device(given):
        assert device.current_device() == 0


def test_a_device_that_is_not_there(npu):
    with pytest.raises(AclError, match="107001"):
        device.set_device(2)
    assert device.current_device() == 0


def test_events_in_time(npu):
    for other in npu.memories:
        assert other.used == 0
    start, end = stream.Event(enable_timing=True), stream.Event(enable_timing=True)
    assert repr(start) == "<torch_npu.npu.Event uninitialized>"
    assert start.query()
    start.record()
    end.record()
    assert 0 <= start.elapsed_time(end) < 60_000
    assert start.query()
    assert end.query()
    assert start.npu_event != 0


@pytest.mark.parametrize("timing", [(False, True), (True, False), (False, False)])
def test_elapsed_time_without_timing(npu, timing):
    one, other = (stream.Event(enable_timing=flag) for flag in timing)
    with pytest.raises(ValueError, match="Both events") as caught:
        one.elapsed_time(other)
    assert str(caught.value) == "Both events must be created with argument 'enable_timing=True'"


def test_elapsed_time_unrecorded(npu):
    one, other = (stream.Event(enable_timing=True) for _ in range(2))
    with pytest.raises(ValueError, match="Both events") as caught:
        one.elapsed_time(other)
    assert str(caught.value) == "Both events must be recorded before calculating elapsed time"


def test_event_of_another_device(npu):
    event = stream.Event()
    event.record(stream.default_stream(0))
    with pytest.raises(RuntimeError) as caught:
        event.record(stream.default_stream(1))
    assert str(caught.value) == "Event device 0 does not match recording stream's device 1."


@pytest.mark.parametrize(("device_id", "peer", "text"), [(5, 0, "Invalid device id"), (0, 5, "Invalid peer device id")])
def test_peers_that_are_not_there(npu, device_id, peer, text):
    with pytest.raises(AssertionError) as caught:
        peers.can_device_access_peer(device_id, peer)
    assert str(caught.value) == text


def test_properties(npu):
    found = properties.get_device_properties("npu:1")
    assert found.name == "Ascend910B3 (simulated)"
    assert found.total_memory == 2**30
    assert found.multi_processor_count == found.vector_core_num == 40
    assert found.cube_core_num == 20
    assert repr(found).startswith("_NPUDeviceProperties(name='Ascend910B3 (simulated)', total_memory=1024MB, ")
    assert peers.can_device_access_peer(0, 1)
    assert not peers.can_device_access_peer(0, 0)
    assert properties.is_bf16_supported()
    assert properties.utilization() in (0, 100)
    with pytest.raises(AssertionError, match=r"^Invalid device id$"):
        properties.get_device_properties(9)


def test_questions_initialise_nothing(npu):
    assert runtime.device_count() == 2
    assert runtime.is_available()
    assert not runtime.is_initialized()


def test_a_failure_on_a_stream_is_told_at_the_wait(npu):
    own = stream.Stream()
    found = npu.streams[own.npu_stream]
    found.enqueue(lambda: 1 / 0)
    with pytest.raises(AclError, match="507015"):
        own.synchronize()
    with pytest.raises(AclError, match="ZeroDivisionError"):
        device.synchronize()
