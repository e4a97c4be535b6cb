"""Tries the devices: does each answer, keep what it is given, and how fast do copies go.

`python -m mindtorch_npu.trials health|memory|bandwidth DEVICE` prints the steps it begins and one JSON object in the end; the
command runs one for each device, so that a device that hangs takes neither the command nor the others with it.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindtorch_npu import device, properties, runtime, stream
from mindtorch_npu.acl.errors import AclError, check
from mindtorch_npu.workers import ECC, FAILURE, FULL, WELL

H2D, D2H, D2D = 1, 2, 3
NO_MEMORY = 207001
PATTERN_BYTES = 1 << 20
SIZES = (1 << 12, 1 << 20, 1 << 24)
REPEATS = 5


class MemoryErrors(Exception):
    """The device's memory is broken."""


def health(index: int) -> dict[str, Any]:
    """Return the outcome of each step on a device: None where it went well, else why not."""
    steps: dict[str, str | None] = {}
    status = WELL
    for name, step in _HEALTH.items():
        _begin(name)
        try:
            step(index)
            steps[name] = None
        except MemoryErrors as error:
            steps[name], status = str(error), ECC
        except (AclError, AssertionError) as error:
            steps[name] = str(error)
            if status == WELL:
                status = FULL if isinstance(error, AclError) and error.code == NO_MEMORY else FAILURE
    first = next((f"{name}: {why}" for name, why in steps.items() if why), None)
    return {"steps": steps, "well": first is None, "status": status, "error": first}


def _begin(step: str) -> None:
    """Say what comes next: the last of these is where a device hangs."""
    print(f"step: {step}", flush=True)


def memory(index: int) -> dict[str, Any]:
    """Return the device's free and total bytes, those of other processes counted as taken."""
    free, total = device.mem_get_info(index)
    return {"free": free, "total": total}


def bandwidth(index: int) -> dict[str, Any]:
    """Return GB/s of copies by direction, kind of host memory and size, the median of several."""
    acl = runtime.on(index)
    most = max(SIZES)
    blocks = [_ok(acl, acl.rt.malloc(most, 0), "malloc") for _ in range(2)]
    pinned = _ok(acl, acl.rt.malloc_host(most), "malloc_host")
    pageable = (ctypes.c_char * most)()
    host = {"pinned": pinned, "pageable": ctypes.addressof(pageable)}
    found: dict[str, dict[str, float]] = {}
    for kind, address in host.items():
        found[f"H2D {kind}"] = _rates(acl, blocks[0], address, H2D)
        found[f"D2H {kind}"] = _rates(acl, address, blocks[0], D2H)
    found["D2D"] = _rates(acl, blocks[1], blocks[0], D2D)
    check(acl.rt.free_host(pinned), "acl.rt.free_host", acl)
    for block in blocks:
        check(acl.rt.free(block), "acl.rt.free", acl)
    return {"gigabytes_per_second": found}


def _rates(acl: ModuleType, target: int, source: int, kind: int) -> dict[str, float]:
    rates = {}
    for size in SIZES:
        taken = []
        for _ in range(REPEATS + 1):
            began = time.perf_counter()
            check(acl.rt.memcpy_async(target, size, source, size, kind, 0), "acl.rt.memcpy_async", acl)
            check(acl.rt.synchronize_stream(0), "acl.rt.synchronize_stream", acl)
            taken.append(time.perf_counter() - began)
        rates[str(size)] = round(size / statistics.median(taken[1:]) / 1e9, 3)  # the first warms up
    return rates


def _ok(acl: ModuleType, answer: tuple[int, int], name: str) -> int:
    value, code = answer
    check(code, f"acl.rt.{name}", acl)
    return int(value)


def _open(index: int) -> None:
    device.set_device(index)  # else leaving a block would go back to device 0, which may be the one that hangs
    runtime.on(index)


def _keep(index: int) -> None:
    """Copy a pattern to the device and back."""
    acl = runtime.on(index)
    given = bytes(place * 7 % 251 for place in range(PATTERN_BYTES))
    there = ctypes.create_string_buffer(given, PATTERN_BYTES)
    back = ctypes.create_string_buffer(PATTERN_BYTES)
    block = _ok(acl, acl.rt.malloc(PATTERN_BYTES, 0), "malloc")
    try:
        for target, source, kind in ((block, ctypes.addressof(there), H2D), (ctypes.addressof(back), block, D2H)):
            check(acl.rt.memcpy(target, PATTERN_BYTES, source, PATTERN_BYTES, kind), "acl.rt.memcpy", acl)
    finally:
        check(acl.rt.free(block), "acl.rt.free", acl)
    if back.raw != given:
        wrong = sum(one != other for one, other in zip(back.raw, given, strict=True))
        raise AssertionError(f"{wrong} of {PATTERN_BYTES} bytes came back different")


def _order(index: int) -> None:
    with device.device(index):
        start, end = stream.Event(enable_timing=True), stream.Event(enable_timing=True)
        start.record()
        end.record()
        if start.elapsed_time(end) < 0:
            raise AssertionError("an event that was recorded later was passed earlier")


def _wait(index: int) -> None:
    device.synchronize(index)


def _memory_errors(index: int) -> None:
    """Look for parts of the memory whose errors could not be corrected; older runtimes cannot be asked."""
    ask = getattr(runtime.on(index).rt, "get_mem_uce_info", None)
    ranges = ask(index)[0] if ask is not None else []
    if ranges:
        raise MemoryErrors(f"{len(ranges)} part(s) of the memory have errors that could not be corrected (ECC)")


_HEALTH: dict[str, Callable[[int], None]] = {
    "open": _open,
    "memory keeps a pattern": _keep,
    "stream and events": _order,
    "synchronize": _wait,
    "memory without errors": _memory_errors,
}


def load(index: int) -> dict[str, Any]:
    """Return memory and load of a device."""
    return {**memory(index), "rates": properties.utilization_rates(index)}


TRIALS: dict[str, Callable[[int], dict[str, Any]]] = {
    "health": health,
    "memory": memory,
    "bandwidth": bandwidth,
}
"""What the command of the same name tries."""


def main(what: str, index: int) -> None:
    """Try one device and print what was found."""
    found: dict[str, Any] = {"status": WELL, "error": None}
    try:
        _begin("initialise the runtime")
        runtime.init()
        found["name"] = device.soc_name()
        if what != "health":
            _begin("open")
            _open(index)
        found |= {**TRIALS, "load": load}[what](index)
    except (AclError, runtime.NpuUnavailableError) as error:
        full = isinstance(error, AclError) and error.code == NO_MEMORY
        found |= {"status": FULL if full else FAILURE, "error": str(error)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
