"""One process for each device: a device that hangs, or a library that ends the process, takes no other device with it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Container
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl import loader

TIMEOUT_S = float(os.environ.get("MINDTORCH_NPU_TIMEOUT", "8.0"))
"""A command answers within ten seconds, whatever the devices do."""
VISIBLE_DEVICES = "ASCEND_RT_VISIBLE_DEVICES"
WELL, UNKNOWN, FAILURE, HUNG, FULL, ECC = "ok", "unknown", "failure", "hung", "full", "ecc"
EXIT = {WELL: 0, UNKNOWN: 1, FULL: 1, FAILURE: 2, HUNG: 2, ECC: 2}
"""What a device's status makes of the exit status; 3 stands for no device at all."""


def indices() -> list[int]:
    """Return the devices that this process may use, numbered as the runtime numbers them. Opens none."""
    if loader.simulated():
        match = re.match(r"[\w-]+:(\d+)", os.environ[loader.SIMULATOR])
        return list(range(int(match.group(1)) if match else 1))
    count = len(runtime.device_nodes())
    visible = os.environ.get(VISIBLE_DEVICES)
    if visible is not None:
        named = re.match(r"\s*\d+\s*(,\s*\d+\s*)*", visible)
        count = min(count, len(named.group().split(",")) if named else 0)
    return list(range(count))


class Worker:
    """A process that tries something on one device. It prints the step it begins, and one JSON object in the end."""

    def __init__(self, what: str, index: int) -> None:
        self.index = index
        command = [sys.executable, "-m", "mindtorch_npu.trials", what, str(index)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def result(self, deadline: float, limit_s: float) -> dict[str, Any]:
        """Return what the process found until the deadline; its status says so when it did not answer."""
        try:
            said, _ = self._process.communicate(timeout=max(0.01, deadline - time.monotonic()))
            hung = False
        except subprocess.TimeoutExpired as late:
            hung, said = True, late.output or b""
            self._process.kill()
            # One that sits in the driver cannot be killed: it stays.
            with contextlib.suppress(subprocess.TimeoutExpired):
                said = self._process.communicate(timeout=0.3)[0] or said
        lines = said.decode("utf-8", "replace").strip().splitlines()
        if hung:
            step = next((line.removeprefix("step: ") for line in reversed(lines) if line.startswith("step: ")), "start")
            why = f"the device did not answer within {limit_s:g} s (at: {step})"
            return {"device": self.index, "status": HUNG, "error": why}
        try:
            found: dict[str, Any] = json.loads(lines[-1])
            return {"device": self.index, **found}
        except (IndexError, ValueError):
            tail = lines[-1] if lines else "no output"
            why = f"the process ended with status {self._process.returncode}: {tail}"
            return {"device": self.index, "status": FAILURE, "error": why}


def run(what: str, timeout_s: float = TIMEOUT_S, without: Container[int] = ()) -> dict[str, Any]:
    """Return what trying every device found, but those left out, all at once and within the limit."""
    absence = runtime.unavailable_reason()
    found: dict[str, Any] = {"simulated": loader.simulated(), "devices": [], "error": absence}
    if absence is not None and not indices():
        return found
    deadline = time.monotonic() + timeout_s
    workers = [Worker(what, index) for index in indices() if index not in without]
    found["devices"] = [worker.result(deadline, timeout_s) for worker in workers]
    return found


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Return what functions return that wait for devices, called at the same time; raises what one of them raises."""
    found: list[Any] = [None] * len(calls)
    raised: list[BaseException] = []

    def run(place: int) -> None:
        try:
            found[place] = calls[place]()
        except BaseException as error:  # noqa: BLE001  # the calling thread raises it
            raised.append(error)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return found


def exit_status(devices: list[dict[str, Any]]) -> int:
    """Return the exit status for what the devices are; 3 without one."""
    return max((EXIT.get(entry.get("status", WELL), 2) for entry in devices), default=3)


__all__ = [
    "ECC",
    "FAILURE",
    "FULL",
    "HUNG",
    "TIMEOUT_S",
    "UNKNOWN",
    "WELL",
    "Worker",
    "exit_status",
    "indices",
    "run",
    "together",
]
