"""pyACL's functions for streams, events and synchronising."""

from __future__ import annotations

from typing import Any

from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import BAD_VALUE, PARAMETER, WRONG_CONTEXT, Machine
from mindtorch_npu.simulator.stream import CAPTURED, Event, Stream

SYNC, MARK, DDSYNC, TIME_LINE, MC2, EXTERNAL, IPC = 1, 2, 4, 8, 16, 32, 64
TIMESTAMP_INVALID, TIMESTAMP_REVERSED, NOT_SUPPORTED, INTERNAL = 107006, 107007, 207000, 507000
STREAM_TIMEOUT, EVENT_TIMEOUT, EVENT_CAPTURED, IMPLICIT = 507046, 507047, 107028, 107031


def _create_with_config(machine: Machine, priority: int, flags: int) -> int:
    if not 0 <= priority <= (7 if machine.settings.priorities else 0):
        raise DeviceFault(BAD_VALUE, f"EL0003: the priority {priority} of a stream is not supported")
    return machine.create_stream().handle


def _destroy(machine: Machine, handle: int, force: bool = False) -> None:
    stream = machine.stream(handle)
    if stream is machine.context().default_stream:
        raise DeviceFault(PARAMETER, "EL0003: the default stream cannot be destroyed")
    if stream.recording is not None:
        raise DeviceFault(CAPTURED, "EE1016: destroying a stream while it is recorded")
    machine.streams.pop(stream.handle, None)
    stream.close(force)


def _not_recorded(stream: Stream, what: str) -> None:
    if stream.recording is not None:
        raise stream.recording.refuse(what)


def _check_limit(milliseconds: int) -> None:
    if milliseconds < -1 or milliseconds == 0:
        raise DeviceFault(BAD_VALUE, f"EE1003: {milliseconds} ms are no limit of a wait: -1 or more, and not 0")


def _synchronize(machine: Machine, handle: int, milliseconds: int = -1) -> None:
    _check_limit(milliseconds)
    stream = machine.stream(handle)
    if stream.recording is not None:  # of all refusals the one that leaves the recording as it was
        raise DeviceFault(CAPTURED, "EE1001: waiting for a stream while it is recorded")
    if not stream.wait(None if milliseconds < 0 else milliseconds / 1000):
        raise DeviceFault(STREAM_TIMEOUT, f"EE1002: the stream did not finish in {milliseconds} ms")
    machine.waited(stream)
    machine.check_stream(stream)


def _synchronize_device(machine: Machine) -> None:
    streams = machine.device_streams(machine.context().device)
    for stream in streams:
        _not_recorded(stream, "waiting for a device")
    for stream in streams:
        stream.wait()
        machine.waited(stream)
        machine.check_stream(stream)


def _query(machine: Machine, handle: int) -> int:
    stream = machine.stream(handle)
    _not_recorded(stream, "asking for a stream's progress")
    machine.check_stream(stream)
    if not stream.idle:
        return 1
    machine.waited(stream)
    return 0


def _wait_event(machine: Machine, stream: int, event: int) -> None:
    found = machine.event(event)
    if not found.flags & (SYNC | EXTERNAL):
        raise DeviceFault(NOT_SUPPORTED, "EE1001: the event was not made to be waited for")
    waiting = machine.stream(stream)
    if waiting is machine.context().default_stream and _recorded(found):
        raise DeviceFault(IMPLICIT, "EE1017: the default stream cannot wait for an event of a recording")
    waiting.wait_event(found)
    if machine.races is not None and found.mark is not None:
        machine.races.waits(waiting.number, found.mark.clock)


def _recorded(event: Event) -> bool:
    return event.mark is not None and event.mark.recording is not None and event.mark.recording.active


def _not_recorded_event(event: Event, what: str) -> None:
    if _recorded(event):
        raise DeviceFault(EVENT_CAPTURED, f"EE1016: {what} of an event that is being recorded")


def _record(machine: Machine, event: int, stream: int) -> None:
    found, recorded = machine.stream(stream), machine.event(event)
    if recorded.device != found.device:
        raise DeviceFault(
            WRONG_CONTEXT, f"EE1001: the event is of device {recorded.device}, the stream of {found.device}"
        )
    if recorded.mark is not None and not recorded.recordable_anew:
        raise DeviceFault(NOT_SUPPORTED, "EE1001: only events of create_event_ex_with_flag are recorded again")
    found.record(recorded, machine.races.recorded(found.number) if machine.races is not None else None)


def _complete(machine: Machine, event: Event) -> bool:
    """Return whether an event is passed; then the host knows it."""
    _not_recorded_event(event, "asking for the status")
    complete = event.complete
    if complete and machine.races is not None and event.mark is not None:
        machine.races.host_waits(event.mark.clock)
    return complete


def _synchronize_event(machine: Machine, handle: int, milliseconds: int = -1) -> None:
    _check_limit(milliseconds)
    event = machine.event(handle)
    mark = event.mark
    machine.context()
    _not_recorded_event(event, "waiting")
    if mark is not None and mark.recording is not None:
        raise DeviceFault(BAD_VALUE, "EE1016: the event was recorded in a recording, where nothing passes it")
    if mark is not None and not mark.done.wait(None if milliseconds < 0 else milliseconds / 1000):
        raise DeviceFault(EVENT_TIMEOUT, f"EE1002: the event was not reached in {milliseconds} ms")
    if mark is not None and machine.races is not None:
        machine.races.host_waits(mark.clock)


def _plain(machine: Machine, handle: int) -> Event:
    event = machine.event(handle)
    if event.recordable_anew:
        raise DeviceFault(NOT_SUPPORTED, "EE1001: not for an event of create_event_ex_with_flag")
    return event


def _reset(machine: Machine, event: int, stream: int) -> None:
    found, plain = machine.stream(stream), _plain(machine, event)
    plain.mark = None
    if plain.signal is not None:
        found.enqueue(plain.signal.clear)


def _elapsed(machine: Machine, start: int, end: int) -> float:
    first, last = _timestamp(machine, start), _timestamp(machine, end)
    if last < first:
        raise DeviceFault(TIMESTAMP_REVERSED, "EE1001: the end lies before the start")
    return (last - first) / 1000


def _timestamp(machine: Machine, handle: int) -> int:
    event = machine.event(handle)
    _not_recorded_event(event, "the time")
    if event.mark is None:
        raise DeviceFault(INTERNAL, "EE1001: the event has not been recorded")
    if not event.flags & TIME_LINE or not event.complete:
        raise DeviceFault(TIMESTAMP_INVALID, "EE1001: the event has no time, or has not been reached")
    return event.mark.time_us


def _destroy_event(machine: Machine, handle: int) -> None:
    machine.event(handle)
    machine.events.pop(handle, None)


def _failure_mode(machine: Machine, handle: int, mode: int) -> None:
    machine.stream(handle).stop_on_failure = mode == 1


def _abort(machine: Machine, handle: int) -> None:
    stream = machine.stream(handle)
    stream.error = stream.error or DeviceFault(107023, "EE1001: the stream was aborted")


def _create_event(machine: Machine, flags: int, recordable_anew: bool) -> int:
    alone = IPC if recordable_anew else MC2 | EXTERNAL
    known = SYNC | MARK | DDSYNC | TIME_LINE | alone
    if not 0 < flags <= known or not flags & known or any(flags & one and flags != one for one in (MC2, EXTERNAL, IPC)):
        raise DeviceFault(BAD_VALUE, f"EE1003: {flags:#x} are no flags of an event")
    return machine.create_event(flags, recordable_anew).handle


CALLS: dict[str, tuple[int, int, int, Any]] = {
    "rt.create_stream": (0, 0, 1, lambda m: m.create_stream().handle),
    "rt.create_stream_with_config": (2, 2, 1, _create_with_config),
    "rt.destroy_stream": (1, 1, 0, _destroy),
    "rt.destroy_stream_force": (1, 1, 0, lambda m, s: _destroy(m, s, True)),
    "rt.synchronize_stream": (1, 1, 0, _synchronize),
    "rt.synchronize_stream_with_timeout": (2, 2, 0, _synchronize),
    "rt.stream_query": (1, 1, 1, _query),
    "rt.stream_abort": (1, 1, 0, _abort),
    "rt.stream_get_id": (1, 1, 1, lambda m, s: m.stream(s).number),
    "rt.stream_wait_event": (2, 2, 0, _wait_event),
    "rt.set_stream_failure_mode": (2, 2, 0, _failure_mode),
    "rt.synchronize_device": (0, 0, 0, _synchronize_device),
    "rt.device_get_stream_priority_range": (0, 0, 2, lambda m: (7, 0)),
    "rt.create_event": (0, 0, 1, lambda m: m.create_event(SYNC | TIME_LINE, False).handle),
    "rt.create_event_with_flag": (1, 1, 1, lambda m, flags: _create_event(m, flags, False)),
    "rt.create_event_ex_with_flag": (1, 1, 1, lambda m, flags: _create_event(m, flags, True)),
    "rt.destroy_event": (1, 1, 0, _destroy_event),
    "rt.record_event": (2, 2, 0, _record),
    "rt.reset_event": (2, 2, 0, _reset),
    "rt.synchronize_event": (1, 1, 0, _synchronize_event),
    "rt.synchronize_event_with_timeout": (2, 2, 0, _synchronize_event),
    "rt.query_event": (1, 1, 1, lambda m, event: 0 if _complete(m, _plain(m, event)) else 1),
    "rt.query_event_status": (1, 1, 1, lambda m, event: int(_complete(m, m.event(event)))),
    "rt.event_get_timestamp": (1, 1, 1, _timestamp),
    "rt.event_elapsed_time": (2, 2, 1, _elapsed),
}
