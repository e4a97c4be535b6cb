"""The trace file of a profile, which Perfetto and `chrome://tracing` show."""

from __future__ import annotations

import gzip
import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.execute.profiling import BACKWARD, USER, Event, Recording

_CLOCK = time.time_ns() - time.perf_counter_ns()
"""From the clock of events to the time of day."""


_TYPES = {
    "torch.float32": "float",
    "torch.float64": "double",
    "torch.float16": "c10::Half",
    "torch.bfloat16": "c10::BFloat16",
    "torch.int8": "signed char",
    "torch.uint8": "unsigned char",
    "torch.int16": "short int",
    "torch.int32": "int",
    "torch.int64": "long int",
    "torch.uint16": "short unsigned int",
    "torch.uint32": "unsigned int",
    "torch.uint64": "long unsigned int",
    "torch.bool": "bool",
    "torch.complex32": "c10::complex<c10::Half>",
    "torch.complex64": "c10::complex<float>",
    "torch.complex128": "c10::complex<double>",
    "torch.float8_e4m3fn": "c10::Float8_e4m3fn",
    "torch.float8_e5m2": "c10::Float8_e5m2",
}
"""What traces call the element types."""


def time_of_day(nanoseconds: int) -> int:
    """Return when an event was, in nanoseconds since 1970."""
    return nanoseconds + _CLOCK


def _microseconds(nanoseconds: int) -> float:
    return time_of_day(nanoseconds) / 1000


def _entry(event: Event, index: int, pid: int) -> dict[str, Any]:
    """Return an event in the trace's form."""
    if event.name == "[memory]":
        memory = {"Bytes": event.memory, "Device Type": 0, "Device Id": -1, "Ev Idx": index}
        where = {"pid": pid, "tid": event.native_thread, "ts": _microseconds(event.start)}
        return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": event.name, **where, "args": memory}
    arguments: dict[str, Any] = {"External id": event.id, "Record function id": 0, "Ev Idx": index}
    if event.sequence >= 0:
        arguments |= {"Sequence number": event.sequence, "Fwd thread id": int(event.scope == BACKWARD)}
    if event.arguments:
        arguments |= {
            "Input Dims": [argument.shape for argument in event.arguments],
            "Input Strides": [argument.stride for argument in event.arguments],
            "Input type": [_TYPES.get(argument.type, argument.type) for argument in event.arguments],
            "Concrete Inputs": ["" if a.value is None else str(a.value) for a in event.arguments],
        }
    if event.stack:
        arguments["Call stack"] = ";".join(reversed(event.stack))
    return {
        "ph": "X",
        "cat": "user_annotation" if event.scope == USER else "cpu_op",
        "name": event.name,
        "pid": pid,
        "tid": event.native_thread,
        "ts": _microseconds(event.start),
        "dur": (event.end - event.start) / 1000,
        "args": arguments,
    }


def _flows(events: Sequence[Event], pid: int) -> list[dict[str, Any]]:
    """Return the arrows from each op to the node of its backward."""
    forward = {event.sequence: event for event in events if event.scope not in (BACKWARD, USER)}
    found = []
    for event in events:
        origin = forward.get(event.sequence)
        if event.scope != BACKWARD or event.sequence < 0 or origin is None:
            continue
        both = {"id": event.sequence, "pid": pid, "cat": "fwdbwd", "name": "fwdbwd"}
        found.append({"ph": "s", **both, "tid": origin.native_thread, "ts": _microseconds(origin.start)})
        found.append({"ph": "f", **both, "tid": event.native_thread, "ts": _microseconds(event.start), "bp": "e"})
    return found


def write_trace(path: str, recordings: Sequence[Recording], head: dict[str, Any]) -> None:
    """Write the recordings' events to `path`, compressed where it ends in `.gz`."""
    pid = os.getpid()
    began = _microseconds(recordings[0].started) if recordings else 0.0
    events = [event for recording in recordings for event in recording.events]
    process = {"ph": "M", "pid": pid, "tid": 0, "ts": began}
    entries: list[dict[str, Any]] = [
        {**process, "name": "process_name", "args": {"name": os.path.basename(sys.executable) or "python"}},
        {**process, "name": "process_labels", "args": {"labels": "CPU"}},
        {**process, "name": "process_sort_index", "args": {"sort_index": pid}},
    ]
    for thread in dict.fromkeys(event.native_thread for event in events):
        entries.append({**process, "tid": thread, "name": "thread_name", "args": {"name": f"thread {thread}"}})
        entries.append({**process, "tid": thread, "name": "thread_sort_index", "args": {"sort_index": thread}})
    entries += [_entry(event, index, pid) for index, event in enumerate(events)]
    entries += _flows([event for event in events if event.name[:17] != "autograd::engine:"], pid)
    for number, one in enumerate(recordings):
        span = {"ts": _microseconds(one.started), "dur": (one.stopped - one.started) / 1000}
        where = {"pid": "Spans", "tid": "PyTorch Profiler", "args": {"Op count": len(one.events)}}
        entries.append({"ph": "X", "cat": "Trace", "name": f"PyTorch Profiler ({number})", **where, **span})
    document = {
        "schemaVersion": 1,
        "deviceProperties": [],
        **head,
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": 0,
        "traceEvents": entries,
        "traceName": path,
    }
    text = json.dumps(document)
    if path.endswith(".gz"):
        with gzip.open(path, "wt") as packed:
            packed.write(text)
        return
    with open(path, "w") as file:
        file.write(text)
