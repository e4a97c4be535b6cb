"""What the driver's tool says of simulated devices, in its words, from the settings alone: no device is opened."""

from __future__ import annotations

import subprocess
import time

from mindtorch_npu.simulator.settings import Settings

_BUSY = 95


def answer(settings: Settings, index: int, topic: str, seconds: float) -> str:
    """Return the text of a topic; TimeoutExpired for a device that hangs."""
    if index in settings.hung:
        time.sleep(seconds)
        raise subprocess.TimeoutExpired(["npu-smi"], seconds)
    if index in settings.missing:
        return f"npu-smi info: device {index} does not exist\n"
    megabytes, full, errors = settings.memory // 2**20, index in settings.full, 3 if index in settings.ecc else 0
    texts = {
        "usages": f"HBM Capacity(MB) : {megabytes}\nHBM Usage Rate(%) : {100 if full else 0}\n"
        f"Aicore Usage Rate(%) : {_BUSY if full else 0}\nAivector Usage Rate(%) : 0\n",
        "memory": f"HBM Capacity(MB) : {megabytes}\nHBM Temperature(C) : 40\n",
        "temp": "NPU Temperature (C) : 42\n",
        "power": "NPU Real-time Power(W) : 95.5\n",
        "ecc": f"HBM Single Bit Error Count : {errors}\nHBM Double Bit Error Count : {errors}\n",
        "health": f"Health : {'Alarm' if errors else 'OK'}\n",
        "proc-mem": f"Process id : 4242 Process memory(MB) : {megabytes}\n" if full else "",
    }
    return texts[topic]
