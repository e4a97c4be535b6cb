"""Switches of the runtime that a program turns at any time: determinism, time limits, waiting after every launch."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import AclError, check, notes

DETERMINISTIC = 0
"""The vendor's system parameter that lets operators give the same bits each time."""
FIRST_OF_DEVICE = 507000
"""From this code on an error comes from the device, later than the call that caused it."""
KEPT = 8

blocking = os.environ.get("ASCEND_LAUNCH_BLOCKING") == "1"
"""Whether every launch waits until the device has computed, so that an error shows where it was caused."""

cube_math = {"matmul": 0, "conv": 0}
"""How products of float32 are computed, as operators are told (`cubeMathType`); 0 keeps all bits."""

sync_debug = {"mode": 0}
"""What is done where a copy waits for the device: nothing, a warning (1) or an error (2)."""

launched: deque[str] = deque(maxlen=KEPT)
"""The operators that were launched last, for the texts of errors that come later."""

_forgetting: list[Callable[[], None]] = []

_state: dict[str, Any] = {"deterministic": False, "timeout_ms": None}


def waiting() -> None:
    """Say that a copy is about to wait for the device, where that was asked for."""
    if sync_debug["mode"] == 1:
        warnings.warn("called a synchronizing NPU operation", UserWarning, stacklevel=2)
    elif sync_debug["mode"]:
        raise RuntimeError("called a synchronizing NPU operation")


def at_forget(call: Callable[[], None]) -> None:
    """Run `call` when what operators were planned to do holds no more."""
    _forgetting.append(call)


def forget_plans() -> None:
    """Give back every executor that is kept to be launched again."""
    for call in _forgetting:
        call()


def set_deterministic(mode: bool) -> None:
    """Let operators give the same bits each time, or be as fast as they can, on all devices in use and those to come."""
    if _state["deterministic"] != bool(mode):
        forget_plans()  # which were made for the other kind
    _state["deterministic"] = bool(mode)
    if not runtime.is_initialized():
        return
    before = runtime.thread_device()
    for index in runtime.opened():
        _tell(runtime.on(index))
    if before is not None:
        runtime.on(before)


def is_deterministic() -> bool:
    """Return what `set_deterministic` chose."""
    return bool(_state["deterministic"])


def _tell(acl: ModuleType) -> None:
    if not hasattr(acl.rt, "ctx_set_sys_param_opt"):
        if _state["deterministic"]:
            raise NotImplementedError("this version of CANN cannot be asked for deterministic operators")
        return
    code = acl.rt.ctx_set_sys_param_opt(DETERMINISTIC, int(_state["deterministic"]))
    check(code, "acl.rt.ctx_set_sys_param_opt", acl)


def _opened(acl: ModuleType) -> None:
    if _state["deterministic"]:
        _tell(acl)


def set_op_timeout_ms(milliseconds: int) -> None:
    """Let an operator that runs longer fail. ValueError for less than a millisecond."""
    if milliseconds < 1:
        raise ValueError(f"a time limit of {milliseconds} ms is not positive")
    _state["timeout_ms"] = milliseconds
    runtime.at_init(_set_timeout)


def _set_timeout() -> None:
    acl = runtime.init()
    milliseconds = _state["timeout_ms"]
    if hasattr(acl.rt, "set_op_execute_timeout_v2"):
        _, code = acl.rt.set_op_execute_timeout_v2(milliseconds * 1000)
        check(code, "acl.rt.set_op_execute_timeout_v2", acl)
    elif hasattr(acl.rt, "set_op_execute_timeout"):
        check(acl.rt.set_op_execute_timeout(-(-milliseconds // 1000)), "acl.rt.set_op_execute_timeout", acl)
    else:
        raise NotImplementedError("this version of CANN has no time limits of operators")


def _names(error: AclError) -> str | None:
    """Name the operators that may have caused an error of the device."""
    if error.code < FIRST_OF_DEVICE or not launched or blocking:
        return None
    return (
        f"The device reports it later than its cause. Launched last: {', '.join(launched)}. "
        "ASCEND_LAUNCH_BLOCKING=1 makes every launch wait and names the one."
    )


notes.append(_names)
runtime.at_open(_opened)
runtime.at_exit(forget_plans)

__all__ = [
    "at_forget",
    "blocking",
    "cube_math",
    "forget_plans",
    "is_deterministic",
    "launched",
    "set_deterministic",
    "set_op_timeout_ms",
]
