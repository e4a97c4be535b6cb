"""What the driver's tool `npu-smi` tells of a device, without opening it: memory, load, heat, power, errors of its memory.

A number that the tool does not tell is None. On a simulated host the simulated driver answers in the tool's words.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from functools import partial
from typing import Any

from mindtorch_npu.acl import loader
from mindtorch_npu.workers import ECC, FAILURE, FULL, HUNG, UNKNOWN, WELL, indices, together

TOOL = "npu-smi"
TIMEOUT_S = float(os.environ.get("MINDTORCH_NPU_TIMEOUT", "6.0"))
"""The tool answers at once, or not at all."""
TOPICS = ("usages", "memory", "temp", "power", "ecc", "health", "proc-mem")
FIELDS = {
    "total": ("memory", r"HBM Capacity\(MB\)|DDR Capacity\(MB\)", 2**20),
    "memory_percent": ("usages", r"HBM Usage Rate\(%\)|DDR Usage Rate\(%\)", 1),
    "cube_percent": ("usages", r"Aicore Usage Rate\(%\)", 1),
    "vector_percent": ("usages", r"Aivector Usage Rate\(%\)", 1),
    "temperature": ("temp", r"NPU Temperature \(C\)|Temperature \(C\)", 1),
    "power": ("power", r"(?:NPU Real-time )?Power(?: Dissipation)?\(W\)", 1),
    "single_bit_errors": ("ecc", r"HBM Single Bit Error Count|HBM Single Bit Aggregate Total Err Cnt", 1),
    "double_bit_errors": ("ecc", r"HBM Double Bit Error Count|HBM Double Bit Aggregate Total Err Cnt", 1),
}
"""By reading: the topic of the tool, the words before the number, and the factor to bytes, percent, degrees or watts."""
FULL_PERCENT = 98


def _asked(index: int, topic: str, seconds: float) -> str:
    """Return the tool's text; TimeoutExpired when it hangs, OSError without it."""
    if loader.simulated():
        answer: str = loader.simulator().smi(index, topic, seconds)
        return answer
    path = shutil.which(TOOL)
    if path is None:
        raise OSError(f"{TOOL} not found, it comes with the Ascend driver")
    command = [path, "info", "-t", topic, "-i", str(_physical(index))]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False).stdout


def _physical(index: int) -> int:
    """Return the number of a visible device as the driver numbers all of them."""
    visible = os.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    return int(visible.split(",")[index]) if visible else index


def read(index: int, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Return a device's readings and its status. Never raises, and ends within the limit."""
    found: dict[str, Any] = {"device": index, "status": WELL, "error": None, **dict.fromkeys(FIELDS)}
    texts: dict[str, str] = {}
    deadline = time.monotonic() + timeout_s
    try:
        for topic in TOPICS:
            texts[topic] = _asked(index, topic, max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return {**found, "status": HUNG, "error": f"the driver did not answer within {timeout_s:g} s"}
    except OSError as error:  # which says nothing of the device
        return {**found, "status": UNKNOWN, "error": str(error)}
    except ValueError as error:  # a simulator that is asked for in wrong words
        return {**found, "status": FAILURE, "error": str(error)}
    for name, (topic, words, factor) in FIELDS.items():
        match = re.search(rf"(?:{words})\s*:\s*(-?\d+(?:\.\d+)?)", texts[topic])
        found[name] = float(match.group(1)) * factor if match else None
    found["processes"] = [
        {"pid": int(pid), "memory": int(size) * 2**20}
        for pid, size in re.findall(
            r"Process id\s*:\s*(\d+).*?Process memory\(MB\)\s*:\s*(\d+)", texts["proc-mem"], re.S
        )
    ]
    found["name"] = loader.simulator().chip() if loader.simulated() else "Ascend"
    total, percent = found["total"], found["memory_percent"]
    found["used"] = None if total is None or percent is None else total * percent / 100
    found["free"] = None if found["used"] is None else total - found["used"]
    health = re.search(r"Health(?: Status)?\s*:\s*(\S+)", texts["health"])
    found["health"] = health.group(1) if health else None
    found["status"], found["error"] = _judged(found)
    return found


def _judged(found: dict[str, Any]) -> tuple[str, str | None]:
    if found["double_bit_errors"]:
        return ECC, f"{found['double_bit_errors']:.0f} errors of memory that could not be corrected: replace the card"
    if found["health"] not in (None, "OK", "Warning"):
        return FAILURE, f"the driver calls it {found['health']}"
    if found["total"] is None:
        return FAILURE, "the driver tells nothing of it"
    if found["memory_percent"] is not None and found["memory_percent"] >= FULL_PERCENT:
        return FULL, f"{found['memory_percent']:.0f} % of its memory is taken"
    return WELL, None


def read_all(timeout_s: float = TIMEOUT_S) -> list[dict[str, Any]]:
    """Return the readings of every device, all asked at once; one that hangs leaves the others their time."""
    return together(*(partial(read, index, timeout_s) for index in indices()))


__all__ = ["FIELDS", "TOOL", "read", "read_all"]
