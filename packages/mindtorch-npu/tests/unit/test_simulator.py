"""The simulated device: shapes of results, strictness, asynchrony, faults."""

from __future__ import annotations

import ctypes
import threading

import pytest

from mindtorch_npu import simulator
from mindtorch_npu.simulator.settings import parse

H2D, D2H, D2D = 1, 2, 3


@pytest.fixture
def acl(npu):
    module = simulator.load()
    assert module.init() == 0
    assert module.rt.set_device(0) == 0
    return module


def _bytes(text: bytes):
    buffer = ctypes.create_string_buffer(text, len(text))
    return buffer, ctypes.addressof(buffer)


@pytest.mark.parametrize(
    "text",
    [
        "Ascend999",
        "Ascend910B3:0",
        "Ascend910B3:x",
        "Ascend910B3,memory=lots",
        "Ascend910B3,what=1",
        "Ascend910B3,fail=x",
    ],
)
def test_settings_that_are_wrong(text):
    with pytest.raises(ValueError, match="MINDTORCH_NPU_SIMULATOR"):
        parse(text)


def test_settings():
    found = parse("Ascend310P3:4,memory=512MiB,fail=rt.malloc@3+=207001")
    assert (found.devices, found.memory, found.facts["family"]) == (4, 512 * 2**20, "310p")
    assert (found.faults[0].first, found.faults[0].count) == (3, 0)


def test_calls_need_init_and_a_device(npu):
    acl = simulator.load()
    assert acl.rt.malloc(8, 0) == (0, 100001)
    assert acl.init() == 0
    assert acl.init() == 100002
    assert acl.rt.malloc(8, 0) == (0, 107002)
    assert acl.rt.get_device() == (0, 107002)
    assert acl.rt.set_device(5) == 107001
    assert "device 5" in acl.get_recent_err_msg()
    assert acl.get_recent_err_msg() is None
    assert acl.finalize() == 0
    assert acl.finalize() == 100037


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3), ("x", 1.5, 2), (None, 0)])
def test_arguments_by_position_only(acl, arguments):
    with pytest.raises(TypeError, match=r"acl\.rt\.malloc args parse failed"):
        acl.rt.malloc(*arguments)
    with pytest.raises(TypeError):
        acl.rt.malloc(size=1, policy=0)


def test_a_context_is_the_threads(acl):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(acl.rt.get_device()))
    thread.start()
    thread.join()
    assert seen == [(0, 107002)]
    assert acl.rt.get_device() == (0, 0)


def test_fresh_and_freed_memory_is_poison(acl, npu):
    address, code = acl.rt.malloc(16, 0)
    assert code == 0
    assert address % 64 == 0
    assert address > 1 << 40
    out, host = _bytes(bytes(16))
    assert acl.rt.memcpy(host, 16, address, 16, D2H) == 0
    assert out.raw == b"\xff" * 16
    assert acl.rt.free(address) == 0
    assert acl.rt.memcpy(host, 16, address, 16, D2H) == 100000
    assert acl.rt.free(address) == 100000
    assert npu.memories[0].used == 0


def test_copies_there_and_back(acl):
    address, _ = acl.rt.malloc(8, 0)
    source, from_ = _bytes(b"abcdefgh")
    target, to = _bytes(bytes(8))
    assert acl.rt.memcpy(address, 8, from_, 8, H2D) == 0
    assert acl.rt.memcpy(to, 4, address + 4, 4, D2H) == 0
    assert target.raw == b"efgh" + bytes(4)
    assert acl.rt.memcpy(address, 4, from_, 8, H2D) == 107000
    assert acl.rt.memcpy(0, 8, from_, 8, H2D) == 100000
    assert acl.rt.memcpy(address + 4, 8, from_, 8, H2D) == 100000
    assert acl.rt.memcpy_async(address, 8, from_, 8, D2H, 0) == 107000
    assert acl.rt.memcpy(address, 8, from_, 0, H2D) == 0
    assert source.raw == b"abcdefgh"


def test_only_pinned_memory_is_copied_beside_the_program(acl, npu):
    address, _ = acl.rt.malloc(8, 0)
    gate = threading.Event()
    stream = npu.streams[acl.rt.create_stream()[0]]
    pinned, _ = acl.rt.malloc_host(8)
    assert pinned % 64 == 0
    ctypes.memmove(pinned, b"12345678", 8)
    stream.enqueue(gate.wait)
    assert acl.rt.memcpy_async(address, 8, pinned, 8, H2D, stream.handle) == 0
    assert acl.rt.stream_query(stream.handle) == (1, 0)
    gate.set()
    assert acl.rt.synchronize_stream(stream.handle) == 0
    assert acl.rt.stream_query(stream.handle) == (0, 0)
    out, host = _bytes(bytes(8))
    acl.rt.memcpy(host, 8, address, 8, D2H)
    assert out.raw == b"12345678"
    assert acl.rt.free_host(pinned) == 0
    assert acl.rt.free_host(pinned) == 100000


def test_memory_counts_the_padding(acl):
    free, total, _ = acl.rt.get_mem_info(1)
    acl.rt.malloc(33, 0)
    assert acl.rt.get_mem_info(1) == (free - 96, total, 0)
    assert acl.rt.get_mem_info(0) == (0, 0, 0)
    assert acl.rt.malloc(total, 0) == (0, 207001)
    assert acl.rt.malloc(0, 0) == (0, 100000)


def test_peers_must_be_enabled_both_ways(acl):
    here, _ = acl.rt.malloc(8, 0)
    acl.rt.set_device(1)
    there, _ = acl.rt.malloc(8, 0)
    assert acl.rt.memcpy(there, 8, here, 8, D2D) == 107000
    assert acl.rt.device_enable_peer_access(0, 0) == 0
    assert acl.rt.memcpy(there, 8, here, 8, D2D) == 107000
    acl.rt.set_device(0)
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.memcpy(there, 8, here, 8, D2D) == 0
    assert acl.rt.device_enable_peer_access(1, 1) == 200006
    assert acl.rt.device_can_access_peer(0, 0) == (0, 100000)


def test_streams_wait_for_events(acl, npu):
    order = []
    one, two = (npu.streams[acl.rt.create_stream()[0]] for _ in range(2))
    gate = threading.Event()
    event, _ = acl.rt.create_event_ex_with_flag(1)
    assert acl.rt.query_event_status(event) == (1, 0)
    one.enqueue(gate.wait)
    one.enqueue(lambda: order.append("one"))
    acl.rt.record_event(event, one.handle)
    assert acl.rt.query_event_status(event) == (0, 0)
    acl.rt.stream_wait_event(two.handle, event)
    two.enqueue(lambda: order.append("two"))
    gate.set()
    assert acl.rt.synchronize_device() == 0
    assert order == ["one", "two"]
    assert acl.rt.query_event(event) == (0, 207000)
    assert acl.rt.reset_event(event, one.handle) == 207000
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.record_event(event, one.handle) == 100000


def test_times_need_the_flag(acl):
    plain, timed = acl.rt.create_event_ex_with_flag(1)[0], acl.rt.create_event_ex_with_flag(9)[0]
    assert acl.rt.event_elapsed_time(plain, timed) == (0, 507000)
    acl.rt.record_event(plain, 0), acl.rt.record_event(timed, 0), acl.rt.synchronize_device()
    assert acl.rt.event_elapsed_time(plain, timed) == (0, 107006)
    assert acl.rt.event_elapsed_time(timed, timed) == (0.0, 0)


def test_time_outs(acl, npu):
    stream = npu.streams[acl.rt.create_stream()[0]]
    gate = threading.Event()
    stream.enqueue(gate.wait)
    event = acl.rt.create_event_ex_with_flag(1)[0]
    acl.rt.record_event(event, stream.handle)
    assert acl.rt.synchronize_stream_with_timeout(stream.handle, 1) == 507046
    assert acl.rt.synchronize_event_with_timeout(event, 1) == 507047
    gate.set()
    assert acl.rt.synchronize_stream(stream.handle) == 0


def test_priorities_only_where_the_chip_has_them(acl):
    assert not hasattr(acl.rt, "device_get_stream_priority_range")
    assert acl.rt.create_stream_with_config(1, 3) == (0, 107000)
    assert acl.rt.create_stream_with_config(0, 3)[1] == 0


def test_handles_of_others(acl, npu):
    context, _ = acl.rt.create_context(0)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.set_context(context) == 0
    assert acl.rt.synchronize_stream(stream) == 107003
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.synchronize_stream(77) == 100000
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.get_context() == (0, 107002)


def test_a_lost_device_answers_nothing_until_it_is_reset(acl, npu):
    npu.lost.add(0)
    assert acl.rt.malloc(8, 0) == (0, 507010)
    assert acl.rt.set_device(0) == 507033
    assert acl.rt.query_device_status(0) == (1, 0)
    assert acl.rt.reset_device_force(0) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.malloc(8, 0)[1] == 0


CALLS = {
    "rt.malloc": lambda acl: acl.rt.malloc(8, 0)[1],
    "rt.create_stream": lambda acl: acl.rt.create_stream()[1],
    "rt.create_event_ex_with_flag": lambda acl: acl.rt.create_event_ex_with_flag(1)[1],
    "rt.synchronize_device": lambda acl: acl.rt.synchronize_device(),
    "rt.get_mem_info": lambda acl: acl.rt.get_mem_info(1)[2],
}


@pytest.mark.parametrize("code", [207001, 507015, 507899, 107000])
@pytest.mark.parametrize("call", CALLS)
def test_an_injected_fault_is_answered_once(acl, npu, call, code):
    npu.faults.add(call, code, after=1)
    assert [CALLS[call](acl) for _ in range(3)] == [0, code, 0]
    assert npu.faults.injected == 1
