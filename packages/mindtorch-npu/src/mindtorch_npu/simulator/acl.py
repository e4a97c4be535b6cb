"""The simulated pyACL: modules with the vendor's functions, their results and their arguments by position only."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindtorch_npu.simulator import device_calls, memory_calls, stream_calls
from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import Machine


def _bind(machine: Machine, name: str, counts: tuple[int, int], outputs: int, fn: Callable[..., Any]) -> Any:
    """Return `fn` as pyACL shows it: `(outputs..., code)`, or the bare code without outputs; zeros on errors."""
    least, most = counts
    counted = name.removeprefix("acl.")

    def call(*args: object) -> Any:
        if not least <= len(args) <= most:
            raise TypeError(f"{name} args parse failed")
        if any(isinstance(arg, bool) or not isinstance(arg, (int, str, bytes, dict, float)) for arg in args):
            raise TypeError(f"{name} args parse failed")
        try:
            if not getattr(fn, "always", False):
                machine.call(counted)
            result = fn(machine, *args)
        except DeviceFault as fault:
            machine.thread.message = fault.text
            return fault.code if not outputs else (*[0] * outputs, fault.code)
        if not outputs:
            return 0 if result is None else result
        return (*result, 0) if outputs > 1 else (result, 0)

    call.__name__ = call.__qualname__ = counted.rpartition(".")[2]
    return call


def make_module(machine: Machine) -> ModuleType:
    """Return a module shaped as pyACL's `acl` over `machine`."""
    acl = ModuleType("acl", "pyACL over a simulated device.")
    acl.rt, acl.util = ModuleType("acl.rt"), ModuleType("acl.util")  # type: ignore[attr-defined]
    acl.__file__ = __file__
    for calls in (device_calls.CALLS, stream_calls.CALLS, memory_calls.CALLS):
        for name, (least, most, outputs, fn) in calls.items():
            place, _, last = name.rpartition(".")
            bound = _bind(machine, f"acl.{name}", (least, most), outputs, fn)
            setattr(getattr(acl, place) if place else acl, last, bound)
    acl.get_soc_name = lambda: machine.settings.chip  # type: ignore[attr-defined]
    acl.get_recent_err_msg = lambda: _take_message(machine)  # type: ignore[attr-defined]
    if not machine.settings.priorities:
        del acl.rt.device_get_stream_priority_range
    return acl


def _take_message(machine: Machine) -> str | None:
    text, machine.thread.message = machine.thread.message, None
    return text
