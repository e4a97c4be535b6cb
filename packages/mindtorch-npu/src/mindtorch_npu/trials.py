"""Tries the devices: does each answer, keep what it is given, and how fast do copies go.

`python -m mindtorch_npu.trials health|memory|bandwidth` prints one JSON object; the command runs it in a process of its own,
so that a device that hangs does not take the command with it.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from mindtorch_npu import device, properties, runtime, stream
from mindtorch_npu.acl import loader
from mindtorch_npu.acl.errors import AclError, check

H2D, D2H, D2D = 1, 2, 3
TIMEOUT_S = 120.0
PATTERN_BYTES = 1 << 20
SIZES = (1 << 12, 1 << 20, 1 << 24)
REPEATS = 5


def run(what: str, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Return what the trial `what` found, made in another process; `error` says why nothing was found."""
    command = [sys.executable, "-m", __name__, what]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"the devices did not answer within {timeout_s:g} s", "devices": []}
    lines = done.stdout.strip().splitlines()
    try:
        found: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        tail = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return {"error": f"the process ended with status {done.returncode}: {tail}", "devices": []}
    return found


def health(index: int) -> dict[str, Any]:
    """Return the outcome of each step on a device: None where it went well, else why not."""
    steps: dict[str, str | None] = {}
    for name, step in _HEALTH.items():
        try:
            step(index)
            steps[name] = None
        except (AclError, AssertionError) as error:
            steps[name] = str(error)
    return {"steps": steps, "well": not any(steps.values())}


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


def _rates(acl: Any, target: int, source: int, kind: int) -> dict[str, float]:
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


def _ok(acl: Any, answer: tuple[int, int], name: str) -> int:
    value, code = answer
    check(code, f"acl.rt.{name}", acl)
    return int(value)


def _open(index: int) -> None:
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


_HEALTH: dict[str, Callable[[int], None]] = {
    "open": _open,
    "memory keeps a pattern": _keep,
    "stream and events": _order,
    "synchronize": _wait,
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


def main(what: str) -> None:
    """Try every device and print what was found."""
    found: dict[str, Any] = {"simulated": loader.simulated(), "devices": [], "error": None}
    try:
        runtime.init()
        for index in range(runtime.device_count()):
            found["devices"].append(
                {"device": index, "name": device.soc_name(), **{**TRIALS, "load": load}[what](index)}
            )
    except (AclError, runtime.NpuUnavailableError) as error:
        found["error"] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
