"""Misuses of handles, contexts, recordings and memory: refused with the codes of the runtime's public sources.

100000 and 107000 are wrong parameters, as the outer and the inner layer of the runtime call them; 107002 is no context,
107024 to 107038 are what cannot be recorded, 161001 and 161002 the first phase of operators.
"""

from __future__ import annotations

import ctypes
import threading

import pytest

from mindtorch_npu import simulator

from ..misuses import D2H, H2D, SIZES, Host

_P, _I32, _U64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint64
GLOBAL, THREAD, RELAXED = range(3)
SYNC, TIME_LINE = 1, 8
PAGE = 2 << 20


@pytest.fixture
def host(npu):
    made = Host(npu)
    yield made
    made.close()


def _of_runtime(name, *types):
    address = simulator.function(name)
    assert address is not None
    return ctypes.CFUNCTYPE(_I32, *types)(address)


def _begin(host, mode=RELAXED):
    stream = host.acl.rt.create_stream()[0]
    assert _of_runtime("aclmdlRICaptureBegin", _P, _I32)(stream, mode) == 0
    return stream


def _end(stream):
    made = _P()
    return _of_runtime("aclmdlRICaptureEnd", _P, _P)(stream, ctypes.addressof(made)), made.value


def _recorded(host):
    stream = _begin(host)
    code, made = _end(stream)
    assert code == 0
    return stream, made


def _run(made, stream):
    return _of_runtime("aclmdlRIExecuteAsync", _P, _P)(made, stream)


def _event(host, flags=SYNC):
    event, code = host.acl.rt.create_event_ex_with_flag(flags)
    assert code == 0
    return event


def _elsewhere(call):
    """Return what a call gives on a thread of its own."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start(), thread.join()
    return found[0]


def _bytes(size=64):
    return ctypes.create_string_buffer(size)


# -- descriptors and executors --------------------------------------------------------------------------------------------


def _unknown_type(host):
    SIZES[999] = 4
    return host.plan("Abs", host.tensor(dtype=999), host.tensor())[0]


def _endless_storage(host):
    return host.plan("Abs", host.tensor(storage=(2**40, 2**40), data=host.memory(64)), host.tensor())[0]


def _endless_stride(host):
    return host.plan("Abs", host.tensor(strides=(2**62, 1), storage=(6,), data=host.memory(64)), host.tensor())[0]


def _array_of_nothing(host):
    return host.function("aclCreateIntArray", _P, _P, _U64)(None, 3)


def _list_of_nothing(host):
    return host.function("aclCreateTensorList", _P, _P, _U64)(None, 3)


def _scalar_of_no_type(host):
    number = ctypes.c_double(1.0)
    return host.function("aclCreateScalar", _P, _P, _I32)(ctypes.addressof(number), 999)


def _element_destroyed_before_the_list(host):
    one, other = host.tensor(), host.tensor()
    both = host.tensors(one, other)
    _, size, executor = host.plan("Cat", both, 0, host.tensor((4, 3)))
    assert host.destroy("Tensor", one) == 0
    code = host.run("Cat", host.memory(size) if size else None, size, executor)
    assert host.destroy("TensorList", both) == 161002
    assert host.destroy("Tensor", other) == 0
    return code


def _bools_for_numbers(host):
    values = (ctypes.c_bool * 2)(True, False)
    made = host.function("aclCreateBoolArray", _P, _P, _U64)(ctypes.addressof(values), 2)
    host.made.append(("BoolArray", made))
    return host.plan("Permute", host.tensor(), made, host.tensor((3, 2)))[0]


def _no_place_for_the_shape(host):
    return host.function("aclGetViewShape", _I32, _P, _P, _P)(host.tensor(), None, None)


def _executor_destroyed_twice(host):
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    destroy = host.function("aclDestroyAclOpExecutor", _I32, _P)
    assert destroy(executor) == 0
    return destroy(executor)


def _executor_run_after_it_was_destroyed(host):
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    assert host.function("aclDestroyAclOpExecutor", _I32, _P)(executor) == 0
    return host.run("Abs", None, 0, executor)


def _address_of_an_executor_for_one_run(host):
    x = host.tensor()
    _, _, executor = host.plan("Abs", x, host.tensor())
    code = host.function("aclSetTensorAddr", _I32, _P, ctypes.c_size_t, _P, _P)(executor, 0, x, host.memory(64))
    assert host.run("Abs", None, 0, executor) == 0
    return code


def _executor_of_another_thread(host):
    _, _, executor = host.plan("Abs", host.tensor(), host.tensor())
    return _elsewhere(lambda: host.run("Abs", None, 0, executor))


# -- contexts and devices -------------------------------------------------------------------------------------------------


def _context_of_another_thread_destroyed(host):
    context = host.acl.rt.create_context(0)[0]
    host.acl.rt.set_context(context)
    assert _elsewhere(lambda: host.acl.rt.destroy_context(context)) == 0
    codes = {host.acl.rt.synchronize_stream(0), host.acl.rt.malloc(64, 0)[1], host.acl.rt.create_stream()[1]}
    host.acl.rt.set_device(0)
    (code,) = codes
    return code


def _context_destroyed_twice(host):
    context = host.acl.rt.create_context(0)[0]
    assert host.acl.rt.destroy_context(context) == 0
    return host.acl.rt.destroy_context(context)


def _context_set_after_it_was_destroyed(host):
    context = host.acl.rt.create_context(0)[0]
    assert host.acl.rt.destroy_context(context) == 0
    return host.acl.rt.set_context(context)


def _stream_of_another_context(host):
    stream, context = host.acl.rt.create_stream()[0], host.acl.rt.create_context(0)[0]
    host.acl.rt.set_context(context)
    code = host.acl.rt.synchronize_stream(stream)
    host.acl.rt.set_device(0), host.acl.rt.destroy_context(context)
    return code


def _used_after_the_reset(host):
    assert host.acl.rt.reset_device(0) == 0
    code = host.acl.rt.malloc(64, 0)[1]
    host.acl.rt.set_device(0)
    return code


# -- recordings -----------------------------------------------------------------------------------------------------------


def _within(mode, call):
    """Return a misuse within a recording, which goes on."""

    def misuse(host):
        stream = _begin(host, mode)
        code = call(host, stream)
        assert _end(stream)[0] == 0
        return code

    return misuse


def _asked_of_an_event(ask, flags=SYNC):
    def call(host, stream):
        event = _event(host, flags)
        assert host.acl.rt.record_event(event, stream) == 0
        return ask(host, event)

    return _within(RELAXED, call)


def _default_stream_waits(host, stream):
    event = _event(host)
    assert host.acl.rt.record_event(event, stream) == 0
    return host.acl.rt.stream_wait_event(0, event)


def _waits_for_the_time_before(host):
    event = _event(host)
    assert host.acl.rt.record_event(event, 0) == 0
    return _within(RELAXED, lambda h, stream: h.acl.rt.stream_wait_event(stream, event))(host)


def _copied(host, stream):
    block = host.machine.memories[0].malloc(64)  # the runtime gives none while it is recorded
    return host.acl.rt.memcpy(block, 64, ctypes.addressof(_bytes()), 64, H2D)


def _filled(host, stream):
    block = host.machine.memories[0].malloc(64)
    return host.acl.rt.memset(block, 64, 0, 64)


def _not_joined(host):
    stream, event, other = _begin(host), _event(host), host.acl.rt.create_stream()[0]
    assert host.acl.rt.record_event(event, stream) == host.acl.rt.stream_wait_event(other, event) == 0
    assert host.acl.rt.memset_async(host.memory(64), 64, 0, 64, other) == 0
    return _end(stream)[0]


def _more_after_the_join(host):
    stream, there, back, other = _begin(host), _event(host), _event(host), host.acl.rt.create_stream()[0]
    assert host.acl.rt.record_event(there, stream) == host.acl.rt.stream_wait_event(other, there) == 0
    assert host.acl.rt.record_event(back, other) == host.acl.rt.stream_wait_event(stream, back) == 0
    assert host.acl.rt.memset_async(host.memory(64), 64, 0, 64, other) == 0
    return _end(stream)[0]


def _ended_by_another_thread(host):
    stream = _begin(host, THREAD)

    def end():
        host.acl.rt.set_device(0)
        return _end(stream)[0]

    return _elsewhere(end)


def _run_after_it_was_destroyed(host):
    stream, made = _recorded(host)
    assert _of_runtime("aclmdlRIDestroy", _P)(made) == 0
    return _run(made, stream)


def _run_within_another(host):
    _, made = _recorded(host)
    return _within(RELAXED, lambda h, stream: _run(made, stream))(host)


def _run_on_another_device(host):
    _, made = _recorded(host)
    host.acl.rt.set_device(1)
    code = _run(made, host.acl.rt.create_stream()[0])
    host.acl.rt.set_device(0)
    return code


def _run_without_its_memory(host):
    stream, block = _begin(host), host.memory(64)
    assert host.acl.rt.memset_async(block, 64, 0, 64, stream) == 0
    _, made = _end(stream)
    assert host.acl.rt.free(block) == 0
    assert _run(made, stream) == 0
    return host.acl.rt.synchronize_stream(stream)


# -- memory ---------------------------------------------------------------------------------------------------------------


def _copied_behind_the_end(host):
    return host.acl.rt.memcpy(host.memory(64), 6400, ctypes.addressof(_bytes(6400)), 6400, H2D)


def _read_behind_the_end(host):
    return host.acl.rt.memcpy(ctypes.addressof(_bytes(6400)), 6400, host.memory(64), 6400, D2H)


def _read_after_it_was_freed(host):
    block = host.memory(64)
    assert host.acl.rt.free(block) == 0
    return host.acl.rt.memcpy(ctypes.addressof(_bytes()), 64, block, 64, D2H)


def _copied_less_than_nothing(host):
    return host.acl.rt.memcpy(host.memory(64), 64, ctypes.addressof(_bytes()), -1, H2D)


def _copied_in_a_way_there_is_not(host):
    return host.acl.rt.memcpy(host.memory(64), 64, ctypes.addressof(_bytes()), 64, 9)


def _copied_between_strangers(host):
    block = host.memory(64)
    host.acl.rt.set_device(1)
    code = host.acl.rt.memcpy(host.memory(64), 64, block, 64, 3)
    host.acl.rt.set_device(0)
    return code


def _registered_twice(host):
    place = ctypes.addressof(held := _bytes())
    assert host.acl.rt.host_register(place, 64)[1] == 0
    code = host.acl.rt.host_register(place, 64)[1]
    assert host.acl.rt.host_unregister(place) == 0
    del held
    return code


def _registered_and_freed(host):
    place = ctypes.addressof(held := _bytes())
    assert host.acl.rt.host_register(place, 64)[1] == 0
    code = host.acl.rt.free_host(place)
    assert host.acl.rt.host_unregister(place) == 0
    del held
    return code


def _mapped(host):
    address = host.acl.rt.reserve_mem_address(PAGE, 0, 0, 0)[0]
    block = host.acl.rt.malloc_physical(PAGE, {"location": {"id": 0, "type": 1}}, 0)[0]
    assert host.acl.rt.map_mem(address, PAGE, 0, block, 0) == 0
    return address, block


def _physical_freed_while_mapped(host):
    address, block = _mapped(host)
    code = host.acl.rt.free_physical(block)
    assert host.acl.rt.unmap_mem(address) == host.acl.rt.free_physical(block) == 0
    return code


def _mapped_twice(host):
    address, block = _mapped(host)
    code = host.acl.rt.map_mem(address, PAGE, 0, block, 0)
    assert host.acl.rt.unmap_mem(address) == host.acl.rt.free_physical(block) == 0
    return code


def _addresses_without_memory(host):
    return host.acl.rt.memset(host.acl.rt.reserve_mem_address(PAGE, 0, 0, 0)[0], PAGE, 0, PAGE)


MISUSES = {
    "an element type that there is not": (161002, _unknown_type),
    "a storage with more elements than 64 bits count": (161002, _endless_storage),
    "a stride beyond 64 bits": (561103, _endless_stride),
    "three numbers at no address": (None, _array_of_nothing),
    "three tensors at no address": (None, _list_of_nothing),
    "a scalar of a type that there is not": (None, _scalar_of_no_type),
    "an element destroyed before its list": (161002, _element_destroyed_before_the_list),
    "bools for numbers": (161002, _bools_for_numbers),
    "a tensor for a scalar": (161002, lambda h: h.plan("Add", h.tensor(), h.tensor(), h.tensor(), h.tensor())[0]),
    "no place for a shape": (161001, _no_place_for_the_shape),
    "an executor destroyed twice": (561103, _executor_destroyed_twice),
    "an executor run after it was destroyed": (161001, _executor_run_after_it_was_destroyed),
    "a new address for an executor of one run": (561103, _address_of_an_executor_for_one_run),
    "an executor of another thread": (361001, _executor_of_another_thread),
    "a context that another thread destroyed": (107002, _context_of_another_thread_destroyed),
    "a context destroyed twice": (107002, _context_destroyed_twice),
    "a context set after it was destroyed": (107000, _context_set_after_it_was_destroyed),
    "the context of set_device destroyed": (107002, lambda h: h.acl.rt.destroy_context(h.acl.rt.get_context()[0])),
    "no context": (100000, lambda h: h.acl.rt.set_context(0)),
    "a stream of another context": (107003, _stream_of_another_context),
    "memory after the device's reset": (107002, _used_after_the_reset),
    "a device that there is not": (107001, lambda h: h.acl.rt.set_device(2)),
    "a reset of a device that is not set": (107000, lambda h: h.acl.rt.reset_device(1)),
    "a device as its own peer": (100000, lambda h: h.acl.rt.device_enable_peer_access(0, 0)),
    "a recorded stream destroyed": (107027, _within(RELAXED, lambda h, stream: h.acl.rt.destroy_stream(stream))),
    "the status of a recorded event": (107028, _asked_of_an_event(lambda h, e: h.acl.rt.query_event_status(e)[1])),
    "a wait for a recorded event": (107028, _asked_of_an_event(lambda h, e: h.acl.rt.synchronize_event(e))),
    "the time of a recorded event": (
        107028, _asked_of_an_event(lambda h, e: h.acl.rt.event_elapsed_time(e, e)[1], TIME_LINE),
    ),
    "the default stream waits for what is recorded": (107031, _within(RELAXED, _default_stream_waits)),
    "a recorded stream waits for what was before": (107024, _waits_for_the_time_before),
    "a copy while a stream is recorded": (107030, _within(GLOBAL, _copied)),
    "a fill while a stream is recorded": (107030, _within(THREAD, _filled)),
    "a stream that is not joined again": (107025, _not_joined),
    "a task after the join": (107025, _more_after_the_join),
    "a recording ended by another thread": (107038, _ended_by_another_thread),
    "no stream to record": (100000, lambda h: _of_runtime("aclmdlRICaptureBegin", _P, _I32)(None, 0)),
    "a mode of recording that there is not": (
        107000, lambda h: _of_runtime("aclmdlRICaptureBegin", _P, _I32)(h.acl.rt.create_stream()[0], 7),
    ),
    "a recording run after it was destroyed": (107000, _run_after_it_was_destroyed),
    "a recording run within another": (107027, _run_within_another),
    "a recording run on another device": (107004, _run_on_another_device),
    "no recording": (100000, lambda h: _run(None, 0)),
    "a recording whose memory was freed": (507015, _run_without_its_memory),
    "a copy behind the end of memory": (100000, _copied_behind_the_end),
    "a copy from behind the end of memory": (100000, _read_behind_the_end),
    "a copy of memory that was freed": (100000, _read_after_it_was_freed),
    "a copy of less than nothing": (107000, _copied_less_than_nothing),
    "a copy in a way that there is not": (100000, _copied_in_a_way_there_is_not),
    "a copy between devices that are no peers": (107000, _copied_between_strangers),
    "a fill of no address": (100000, lambda h: h.acl.rt.memset(0, 64, 0, 64)),
    "a later fill of no address": (100000, lambda h: h.acl.rt.memset_async(0, 64, 0, 64, 0)),
    "a fill of more than there is room for": (107000, lambda h: h.acl.rt.memset(h.memory(64), 32, 0, 64)),
    "a later fill of more than there is room for": (107000, lambda h: h.acl.rt.memset_async(h.memory(64), 32, 0, 64, 0)),
    "a fill behind the end of memory": (100000, lambda h: h.acl.rt.memset(h.memory(64), 6400, 0, 6400)),
    "memory of the host freed as the device's": (100000, lambda h: h.acl.rt.free(ctypes.addressof(_bytes()))),
    "memory registered twice": (100000, _registered_twice),
    "registered memory freed as pinned": (100000, _registered_and_freed),
    "the device's memory registered": (100000, lambda h: h.acl.rt.host_register(h.memory(64), 64)[1]),
    "memory registered in a way that there is not": (
        207000, lambda h: h.acl.rt.host_register(ctypes.addressof(_bytes()), 64, 3)[1],
    ),
    "memory without address freed while it is mapped": (100000, _physical_freed_while_mapped),
    "memory mapped twice to one address": (100000, _mapped_twice),
    "addresses without memory": (100000, _addresses_without_memory),
    "flags of addresses": (100000, lambda h: h.acl.rt.reserve_mem_address(PAGE, 0, 0, 9)[1]),
    "a kind of memory that there is not": (107016, lambda h: h.acl.rt.get_mem_info(99)[2]),
    "an event without flags": (107000, lambda h: h.acl.rt.create_event_ex_with_flag(0)[1]),
    "an event of two kinds": (107000, lambda h: h.acl.rt.create_event_with_flag(16 | SYNC)[1]),
    "an event destroyed twice": (100000, lambda h: h.acl.rt.destroy_event(e := _event(h)) or h.acl.rt.destroy_event(e)),
    "a wait of no time for a stream": (107000, lambda h: h.acl.rt.synchronize_stream_with_timeout(0, 0)),
    "a wait of less than no time for an event": (
        107000, lambda h: h.acl.rt.synchronize_event_with_timeout(_event(h), -5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_misuse_is_refused(host, misuse):
    code, call = MISUSES[misuse]
    assert call(host) == code


def test_a_stream_that_is_joined_again_is_recorded(host):
    stream, there, back, other = _begin(host), _event(host), _event(host), host.acl.rt.create_stream()[0]
    assert host.acl.rt.record_event(there, stream) == host.acl.rt.stream_wait_event(other, there) == 0
    assert host.acl.rt.memset_async(host.memory(64), 64, 0, 64, other) == 0
    assert host.acl.rt.record_event(back, other) == host.acl.rt.stream_wait_event(stream, back) == 0
    code, made = _end(stream)
    assert (code, _run(made, stream), host.acl.rt.synchronize_stream(stream)) == (0, 0, 0)
    assert host.acl.rt.query_event_status(back)[1] == 0


def test_a_copy_is_let_through_where_the_thread_relaxed_its_mode(host):
    stream, mode = _begin(host, GLOBAL), ctypes.c_int32(RELAXED)
    exchange = _of_runtime("aclmdlRICaptureThreadExchangeMode", _P)
    assert exchange(ctypes.addressof(mode)) == 0
    assert _copied(host, stream) == 0
    assert exchange(ctypes.addressof(mode)) == 0
    assert _copied(host, stream) == 107030
    assert _end(stream)[0] == 0
