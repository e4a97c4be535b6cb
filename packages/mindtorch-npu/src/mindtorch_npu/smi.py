"""What only the vendor's tool `npu-smi` tells: temperature, power, clock, and the processes on a device."""

from __future__ import annotations

import re
import shutil
import subprocess

from mindtorch_npu import runtime
from mindtorch_npu.acl import loader
from mindtorch_npu.device import check_index, device_index, mem_get_info
from mindtorch_npu.properties import utilization_rates
from mindtorch_npu.typing import DeviceLike

TOOL = "npu-smi"
SECONDS = 20
MISSING = f"{TOOL} not found, it comes with the Ascend driver"


def run(*arguments: str) -> str:
    """Return what the tool prints. Raises RuntimeError without the tool, on a simulated host, and when it fails."""
    if loader.simulated():
        raise RuntimeError(f"the device is simulated: {TOOL} knows nothing of it")
    path = shutil.which(TOOL)
    if path is None:
        raise RuntimeError(MISSING)
    found = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False)
    if found.returncode:
        raise RuntimeError(
            f"{TOOL} {' '.join(arguments)} failed with {found.returncode}: {found.stdout.strip()[-200:]}"
        )
    return found.stdout


def number_of(text: str, name: str) -> float:
    """Return the number after `name` and a colon in the tool's output. Raises RuntimeError when it is not there."""
    match = re.search(rf"{name}[^:\n]*:\s*(-?\d+(?:\.\d+)?)", text)
    if match is None:
        raise RuntimeError(f"{TOOL} said nothing of {name}")
    return float(match.group(1))


def _ask(device: DeviceLike, topic: str, name: str) -> int:
    runtime.init()
    index = check_index(device)
    return round(number_of(run("info", "-t", topic, "-i", str(index)), name))


def temperature(device: DeviceLike | None = None) -> int:
    """Return the chip's temperature in degrees Celsius.

    >>> torch.npu.temperature(0)
    Traceback (most recent call last):
        ...
    RuntimeError: the device is simulated: npu-smi knows nothing of it
    """
    return _ask(device, "temp", "Temperature")


def power_draw(device: DeviceLike | None = None) -> int:
    """Return the power that the chip takes, in milliwatts.

    >>> torch.npu.power_draw(0)
    Traceback (most recent call last):
        ...
    RuntimeError: the device is simulated: npu-smi knows nothing of it
    """
    runtime.init()
    return round(1000 * number_of(run("info", "-t", "power", "-i", str(check_index(device))), "Power"))


def clock_rate(device: DeviceLike | None = None) -> int:
    """Return the clock of the computing cores in MHz.

    >>> torch.npu.clock_rate(0)
    Traceback (most recent call last):
        ...
    RuntimeError: the device is simulated: npu-smi knows nothing of it
    """
    return _ask(device, "usages", "Aicore Freq")


def memory_usage(device: DeviceLike | None = None) -> int:
    """Return for how much of the time memory was read or written, in percent. RuntimeError where it does not tell.

    >>> 0 <= torch.npu.memory_usage(0) <= 100
    True
    """
    rate = utilization_rates(device).get("memory_utilization", -1)
    if rate < 0:
        raise RuntimeError("the device does not tell how much its memory is used")
    return rate


def device_memory_used(device: DeviceLike | None = None) -> int:
    """Return the bytes that all processes take of the device's memory.

    >>> torch.npu.device_memory_used(0) >= 0
    True
    """
    free, total = mem_get_info(device)
    return total - free


def list_gpu_processes(device: DeviceLike | None = None) -> str:
    """Return the processes on a device and their memory as text; a text that says so where that cannot be told.

    >>> torch.npu.list_gpu_processes(0)
    'npu-smi not found, it comes with the Ascend driver'
    """
    if shutil.which(TOOL) is None or loader.simulated():
        return MISSING
    index = device_index(device)
    rows = re.findall(r"\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|\s*(\S+)\s*\|\s*(\d+)\s*\|", run("info"))
    lines = [f"NPU:{index}"]
    lines += [
        f"process {int(pid):>10d} uses {int(size):>12.3f} MB NPU memory"
        for number, _, pid, _, size in rows
        if int(number) == index
    ]
    return "\n".join(lines if len(lines) > 1 else [*lines, "no processes are running"])
