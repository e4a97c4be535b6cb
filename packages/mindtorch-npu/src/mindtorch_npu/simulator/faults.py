"""Errors of the simulated device, and those that a test asks for."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable

from mindtorch_npu.simulator.settings import Fault


class DeviceFault(Exception):
    """Inside the simulator: a call answers `code`, and the thread's recent message is `text`."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def no_device(device: int, count: int) -> str:
    """Return what the runtime says of a device that is not there."""
    return (
        f"EE1001: The argument is invalid. Reason: Invalid device ID. The valid device range is [0, {count}), "
        f"but device {device} was given. Solution: 1.Check whether the device ID is valid."
    )


class FaultPlan:
    """Which calls are to fail: by name, the n-th call, and for how many calls."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._lock = threading.Lock()
        self.calls: Counter[str] = Counter()
        self.faults = list(faults)
        self.injected = 0

    def add(self, call: str, code: int, *, after: int = 0, count: int = 1) -> None:
        """Let `call` answer `code` for `count` calls (0: for good), the first `after` calls from now excepted."""
        with self._lock:
            self.faults.append(Fault(call, self.calls[call] + after + 1, code, count))

    def clear(self) -> None:
        """Inject nothing more."""
        with self._lock:
            self.faults.clear()

    def check(self, call: str) -> None:
        """Count one call of `call`; DeviceFault when it is to fail."""
        with self._lock:
            self.calls[call] += 1
            number = self.calls[call]
            for fault in self.faults:
                if (
                    fault.call == call
                    and fault.first <= number
                    and (not fault.count or number < fault.first + fault.count)
                ):
                    self.injected += 1
                    raise DeviceFault(fault.code, f"EE1001: injected into call {number} of {call}")
