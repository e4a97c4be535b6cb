"""Recording of what is enqueued to streams, and running it again: the vendor's functions `aclmdlRI...`."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import BAD_VALUE, PARAMETER, Machine
from mindtorch_npu.simulator.stream import CAPTURED, Recording, TaskGroup

NOT_CAPTURED, INVALIDATED, UNMATCHED = 107029, 507903, 107036
UNJOINED, WRONG_THREAD, OTHER_CONTEXT = 107025, 107038, 107004
GLOBAL, THREAD, RELAXED = range(3)
NONE, ACTIVE, INVALIDATED_STATUS = range(3)
_P, _I32 = ctypes.c_void_p, ctypes.c_int32


def _begin(machine: Machine, stream: int | None, mode: int) -> None:
    if not stream:
        raise DeviceFault(PARAMETER, "EL0003: no stream to record")
    found = machine.stream(stream)
    if not GLOBAL <= mode <= RELAXED:
        raise DeviceFault(BAD_VALUE, f"EL0003: {mode} is no mode of recording")
    if found is machine.context().default_stream:
        raise DeviceFault(CAPTURED, "EE1001: the default stream cannot be recorded")
    if found.recording is not None:
        raise DeviceFault(CAPTURED, "EE1001: the stream is being recorded")
    found.recording = Recording(found, mode, machine.next_handle())


def _end(machine: Machine, stream: int | None, made: int | None) -> None:
    found = machine.stream(stream or 0)
    recording = found.recording
    if recording is None:
        raise DeviceFault(NOT_CAPTURED, "EE1001: the stream is not being recorded")
    if recording.origin is not found:
        raise DeviceFault(UNMATCHED, "EE1001: the recording began on another stream")
    other_thread = recording.mode != RELAXED and recording.thread != threading.get_ident()
    for one in recording.streams:
        one.recording = None
    if other_thread:
        raise DeviceFault(WRONG_THREAD, "EE1001: the recording was begun by another thread")
    if recording.invalid:
        raise DeviceFault(INVALIDATED, f"EE1001: the recording became invalid: {recording.invalid}")
    if unjoined := recording.unjoined():
        numbers = ", ".join(str(one.number) for one in unjoined)
        raise DeviceFault(UNJOINED, f"EE1017: nothing in the recording waits for the last task of stream {numbers}")
    if not made:
        raise DeviceFault(PARAMETER, "EL0003: no place for the recording")
    machine.recordings[recording.handle] = recording
    ctypes.c_void_p.from_address(made).value = recording.handle


def _info(machine: Machine, stream: int | None, status: int | None, made: int | None) -> None:
    recording = machine.stream(stream or 0).recording
    if not status:
        raise DeviceFault(PARAMETER, "EL0003: no place for the status")
    found = NONE if recording is None else INVALIDATED_STATUS if recording.invalid else ACTIVE
    ctypes.c_int32.from_address(status).value = found
    if made and recording is not None:
        ctypes.c_void_p.from_address(made).value = recording.handle


def _exchange(machine: Machine, mode: int | None) -> None:
    if not mode:
        raise DeviceFault(PARAMETER, "EL0003: no place for the mode")
    place = ctypes.c_int32.from_address(mode)
    if not GLOBAL <= place.value <= RELAXED:
        raise DeviceFault(BAD_VALUE, f"EL0003: {place.value} is no mode of recording")
    place.value, machine.thread.mode = machine.thread.mode, place.value


def _own(machine: Machine, handle: int | None) -> Recording:
    if not handle:
        raise DeviceFault(PARAMETER, "EL0003: the recording is NULL")
    recording = machine.recordings.get(handle)
    if recording is None:
        raise DeviceFault(BAD_VALUE, f"EL0003: {handle:#x} is no recording")
    if recording.origin.context != machine.context().handle:
        raise DeviceFault(OTHER_CONTEXT, f"EE1001: the recording {handle:#x} is of another context")
    return recording


def _execute(machine: Machine, handle: int | None, stream: int | None) -> None:
    recording = _own(machine, handle)
    found = machine.stream(stream or 0)
    if found.recording is not None:
        raise DeviceFault(CAPTURED, "EE1016: running a recording on a stream that is recorded")
    for task, uses in recording.tasks:
        if uses is not None:
            machine.ordered(found, uses.name, [(start, end, True) for start, end in uses.ranges])
        found.enqueue(task, uses=uses)


def _recorded(machine: Machine, stream: int | None) -> Recording:
    """Return the recording that a stream is part of."""
    recording = machine.stream(stream or 0).recording
    if recording is None:
        raise DeviceFault(NOT_CAPTURED, "EE1001: the stream is not being recorded")
    return recording


def _begin_group(machine: Machine, stream: int | None) -> None:
    recording = _recorded(machine, stream)
    if recording.group is not None:
        raise DeviceFault(BAD_VALUE, "EE1001: a group of tasks has begun, which has not ended")
    recording.group = TaskGroup()
    recording.groups.append(recording.group)


def _end_group(machine: Machine, stream: int | None, made: int | None) -> None:
    recording = _recorded(machine, stream)
    group, recording.group = recording.group, None
    if group is None:
        raise DeviceFault(BAD_VALUE, "EE1001: no group of tasks has begun")
    if not made:
        raise DeviceFault(PARAMETER, "EL0003: no place for the group")
    recording.groups.append(TaskGroup())
    handle = machine.next_handle()
    machine.task_groups[handle] = group
    ctypes.c_void_p.from_address(made).value = handle


def _begin_update(machine: Machine, stream: int | None, handle: int | None) -> None:
    found, group = machine.stream(stream or 0), machine.task_groups.get(handle or 0)
    if group is None:
        raise DeviceFault(BAD_VALUE, f"EL0003: {handle or 0:#x} is no group of tasks")
    if found.recording is not None or found.updating is not None:
        raise DeviceFault(CAPTURED, "EE1016: the stream is being recorded, or replaces tasks")
    found.updating, group.anew = group, []


def _end_update(machine: Machine, stream: int | None) -> None:
    found = machine.stream(stream or 0)
    group, found.updating = found.updating, None
    if group is None:
        raise DeviceFault(BAD_VALUE, "EE1001: the stream replaces no tasks")
    names = [[task.name if task else "" for _, task in tasks] for tasks in (group.tasks, group.anew)]
    if names[0] != names[1]:
        raise DeviceFault(BAD_VALUE, f"EE1001: the tasks {names[0]} cannot be replaced by {names[1]}")
    group.tasks, group.anew = group.anew, []


def _destroy(machine: Machine, handle: int | None) -> None:
    _own(machine, handle)
    del machine.recordings[handle or 0]


FUNCTIONS: dict[str, tuple[tuple[Any, ...], Callable[..., None]]] = {
    "aclmdlRICaptureBegin": ((_P, _I32), _begin),
    "aclmdlRICaptureEnd": ((_P, _P), _end),
    "aclmdlRICaptureThreadExchangeMode": ((_P,), _exchange),
    "aclmdlRICaptureGetInfo": ((_P, _P, _P), _info),
    "aclmdlRICaptureTaskGrpBegin": ((_P,), _begin_group),
    "aclmdlRICaptureTaskGrpEnd": ((_P, _P), _end_group),
    "aclmdlRICaptureTaskUpdateBegin": ((_P, _P), _begin_update),
    "aclmdlRICaptureTaskUpdateEnd": ((_P,), _end_update),
    "aclmdlRIExecuteAsync": ((_P, _P), _execute),
    "aclmdlRIDestroy": ((_P,), _destroy),
}
"""By C name: argument types, and what it does."""


def function(machine: Machine, name: str) -> int | None:
    """Return the address of a C function, None where there is none of the name."""
    if name not in FUNCTIONS:
        return None
    arguments, fn = FUNCTIONS[name]

    def call(*given: Any) -> int:
        try:
            machine.call(name)
            fn(machine, *given)
        except DeviceFault as fault:  # no exception may pass the C boundary
            machine.thread.message = fault.text
            return fault.code
        return 0

    made = machine.functions.setdefault(name, ctypes.CFUNCTYPE(_I32, *arguments)(call))
    return ctypes.cast(made, _P).value
