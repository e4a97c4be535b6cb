"""Streams that are handed out in turn, by device and kind, and the numbers that tell a device's streams apart."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from mindtorch_npu import runtime, tracing
from mindtorch_npu.acl.errors import check
from mindtorch_npu.device import current_device

FAST_LAUNCH, FAST_SYNC = 1, 2
DEFAULT, SYNC_LAUNCH, NORMAL, HIGH = 0, 2, 3, 4
"""Kinds of streams, from the fifth bit of their numbers on."""
SIZES = {SYNC_LAUNCH: 4, NORMAL: 32, HIGH: 32}
"""How many streams of a kind a device has at most; they are handed out in turn."""
_KIND_BITS = 5
_EXTERNAL = 1 << 30
"""Numbers from here on are of streams that other libraries made."""

lock = threading.Lock()
pools: dict[tuple[int, int], tuple[list[int], Any]] = {}
_external: dict[int, list[int]] = {}


def priority_range() -> tuple[int, int]:
    """Return the least and the greatest priority of streams: (0, 0), ACL's streams have one priority."""
    return 0, 0


def stream_priority_range() -> tuple[int, int]:
    """Return the least and the greatest priority that the driver tells of; (0, 0) without a device or where it tells none.

    `Stream` uses the one priority that every chip accepts, whatever the driver offers.

    >>> torch.npu.Stream.priority_range()
    (0, 0)
    """
    if not runtime.is_available():
        return 0, 0
    acl = runtime.on(current_device())
    if not hasattr(acl.rt, "device_get_stream_priority_range"):
        return 0, 0
    least, greatest, code = acl.rt.device_get_stream_priority_range()
    check(code, "acl.rt.device_get_stream_priority_range()", acl)
    return int(least), int(greatest)


def created(acl: Any) -> int:
    """Return a new stream of the current device."""
    make = getattr(acl.rt, "create_stream_with_config", None)  # older versions have streams of one kind
    handle, code = acl.rt.create_stream() if make is None else make(0, FAST_LAUNCH | FAST_SYNC)
    check(code, "acl.rt.create_stream()" if make is None else "acl.rt.create_stream_with_config(0, 3)", acl)
    tracing.tell("stream_creation", int(handle))
    return int(handle)


def pooled(index: int, kind: int = NORMAL) -> int:
    """Return the next stream of a kind."""
    acl = runtime.on(index)
    with lock:
        handles, turn = pools.setdefault((index, kind), ([], itertools.count()))
        number: int = next(turn) % SIZES[kind]
        if number == len(handles):
            handles.append(created(acl))
        return handles[number]


def number_of(handle: int, index: int) -> int:
    """Return the number of a stream that is no default stream."""
    with lock:
        for (device, kind), (handles, _) in pools.items():
            if device == index and handle in handles:
                return kind << _KIND_BITS | handles.index(handle)
        known = _external.setdefault(index, [])
        if handle not in known:
            known.append(handle)
        return _EXTERNAL | known.index(handle)


def handle_of(number: int, index: int) -> int:
    """Return the stream of a number that is not the default stream's. RuntimeError where there is none."""
    kind, place = number >> _KIND_BITS, number & (1 << _KIND_BITS) - 1
    with lock:
        if number & _EXTERNAL:
            handles, place = _external.get(index, []), number & ~_EXTERNAL
        else:
            handles = pools.get((index, kind), ([], None))[0]
        if number < 0 or place >= len(handles):
            raise RuntimeError(f"device {index} has no stream of the number {number}")
        return handles[place]


def forget() -> dict[int, list[int]]:
    """Return by device the streams of all pools, which are empty from now on."""
    handles: dict[int, list[int]] = {}
    for (index, _), (made, _) in pools.items():
        handles.setdefault(index, []).extend(made)
    pools.clear()
    _external.clear()
    return handles


__all__ = [
    "HIGH",
    "NORMAL",
    "SYNC_LAUNCH",
    "created",
    "forget",
    "handle_of",
    "number_of",
    "pooled",
    "priority_range",
    "stream_priority_range",
]
