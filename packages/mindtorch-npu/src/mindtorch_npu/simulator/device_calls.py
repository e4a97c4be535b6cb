"""pyACL's functions for the process, devices and contexts."""

from __future__ import annotations

import hashlib
from typing import Any

from mindtorch_npu.simulator.faults import DeviceFault, no_device
from mindtorch_npu.simulator.machine import BAD_DEVICE, BAD_VALUE, NO_CONTEXT, PARAMETER, Machine

TIMEOUT = -1
REPEAT_INITIALIZE, REPEAT_FINALIZE, INVALID_PEER = 100002, 100037, 100000


def _init(machine: Machine, config: str = "") -> int:
    machine.faults.check("init")
    machine.initialized += 1
    machine.finalized = False
    return 0 if machine.initialized == 1 else REPEAT_INITIALIZE


def _finalize(machine: Machine) -> int:
    if not machine.initialized:
        return REPEAT_FINALIZE if machine.finalized else 100001
    machine.initialized, machine.finalized = 0, True
    for device in list(machine.set_counts):
        if machine.set_counts[device]:
            machine.reset_device(device, force=True)
    return 0


def _device_count(machine: Machine) -> int:
    machine.faults.check("rt.get_device_count")
    return machine.settings.devices


for _early in (_init, _finalize, _device_count):
    _early.always = True  # type: ignore[attr-defined]


def _version(machine: Machine) -> tuple[int, int, int]:
    return 1, 14, 0


_version.always = True  # type: ignore[attr-defined]


def _check(machine: Machine, device: int) -> int:
    if not 0 <= device < machine.settings.devices:
        raise DeviceFault(BAD_DEVICE, no_device(device, machine.settings.devices))
    return device


def _utilization(machine: Machine, device: int) -> dict[str, int]:
    _check(machine, device)
    busy = any(not stream.idle for stream in machine.device_streams(device))
    load = 100 if busy else 0
    memory = machine.memories[device]
    return {
        "cube_utilization": load,
        "vector_utilization": load,
        "aicpu_utilization": 0,
        "memory_utilization": 100 * memory.used // memory.capacity,
        "utilization_extend": 0,
    }


def _capability(machine: Machine, device: int, what: int) -> int:
    _check(machine, device)
    facts = machine.settings.facts
    values = {0: facts["cube_cores"], 1: facts["vector_cores"], 2: facts["l2"]}
    if what not in values:
        raise DeviceFault(PARAMETER, f"EL0003: {what} is no capability")
    return int(values[what])


def _info(machine: Machine, device: int, what: int) -> int:
    _check(machine, device)
    facts = machine.settings.facts
    values = {102: facts["cube_cores"], 201: facts["vector_cores"], 301: machine.settings.memory, 302: facts["l2"]}
    if what not in values:
        raise DeviceFault(PARAMETER, f"EL0003: {what} is no attribute")
    value = int(values[what]) & 0xFFFFFFFF  # pyACL cuts the value to 32 bits, signed
    return value - (1 << 32) if value >> 31 else value


def _attribute(machine: Machine, what: int) -> int:
    values = {0: 1, 1: int(machine.settings.facts["bf16"]), 2: 0}
    if what not in values:
        raise DeviceFault(PARAMETER, f"EL0003: {what} is no attribute of CANN")
    return values[what]


def _uuid(machine: Machine, device: int) -> dict[str, list[int]]:
    name = f"{machine.settings.chip}/{_check(machine, device)}"
    return {"bytes": list(hashlib.sha256(name.encode()).digest()[:16])}


def _access(machine: Machine, device: int, peer: int) -> int:
    _check(machine, device), _check(machine, peer)
    if device == peer:
        raise DeviceFault(INVALID_PEER, "EL0003: a device is not its own peer")
    return 1


def _enable_peer(machine: Machine, peer: int, flags: int = 0) -> None:
    if flags:
        raise DeviceFault(200006, "EL0003: flags of peer access must be 0")
    device = machine.context().device
    if device == peer:
        raise DeviceFault(INVALID_PEER, "EL0003: a device is not its own peer")
    machine.peers.add((device, _check(machine, peer)))


def _disable_peer(machine: Machine, peer: int) -> None:
    machine.peers.discard((machine.context().device, _check(machine, peer)))


def _set_context(machine: Machine, handle: int) -> None:
    context = machine.contexts.get(handle)
    if context is None:
        raise DeviceFault(BAD_VALUE if handle else PARAMETER, f"EL0003: {handle:#x} is no context")
    machine.thread.context = context


def _destroy_context(machine: Machine, handle: int) -> None:
    if not handle:
        raise DeviceFault(PARAMETER, "EL0003: the context is NULL")
    context = machine.contexts.get(handle)
    if context is None or machine.is_primary(context):
        raise DeviceFault(NO_CONTEXT, f"EE1017: {handle:#x} is no context, or the one of set_device")
    del machine.contexts[handle]
    for stream in [s for s in machine.streams.values() if s.context == handle]:
        machine.streams.pop(stream.handle).close()
    if machine.thread.context is context:
        machine.thread.context = None


def _set_option(machine: Machine, option: int, value: int) -> None:
    machine.context()
    if option not in (0, 1):
        raise DeviceFault(BAD_VALUE, f"EL0003: {option} is no system parameter")
    machine.options[option] = value


def _timeout(machine: Machine, limit: int) -> None:
    if limit < 0:
        raise DeviceFault(BAD_VALUE, f"EL0003: {limit} is no time limit")
    machine.options[TIMEOUT] = limit


def _timeout_v2(machine: Machine, microseconds: int) -> int:
    _timeout(machine, microseconds)
    return microseconds


def _cores(machine: Machine, device: int, kind: int) -> int:
    facts = machine.settings.facts
    if kind not in (0, 1):
        raise DeviceFault(BAD_VALUE, f"EL0003: {kind} is no kind of core")
    return int(machine.cores.get((_check(machine, device), kind), facts[("cube_cores", "vector_cores")[kind]]))


def _limit_cores(machine: Machine, device: int, kind: int, count: int) -> None:
    if not 0 < count <= _cores(machine, device, kind):
        raise DeviceFault(BAD_VALUE, f"EL0003: {count} cores are more than there are")
    machine.cores[device, kind] = count


def _bad_ranges(machine: Machine, device: int) -> list[dict[str, int]]:
    _check(machine, device)
    return [{"address": 0x12 << 40, "size": 64}] if device in machine.settings.ecc else []


def _query_status(machine: Machine, device: int) -> int:
    return int(_check(machine, device) in machine.lost)


CALLS: dict[str, tuple[int, int, int, Any]] = {
    # name: least and most arguments, outputs before the code, function
    "init": (0, 1, 0, _init),
    "finalize": (0, 0, 0, _finalize),
    "get_version": (0, 0, 3, _version),
    "get_cann_attribute": (1, 1, 1, _attribute),
    "get_device_capability": (2, 2, 1, _capability),
    "rt.get_device_count": (0, 0, 1, _device_count),
    "rt.set_device": (1, 1, 0, lambda m, device: m.set_device(device)),
    "rt.get_device": (0, 0, 1, lambda m: m.context().device),
    "rt.reset_device": (1, 1, 0, lambda m, device: m.reset_device(device, False)),
    "rt.reset_device_force": (1, 1, 0, lambda m, device: m.reset_device(device, True)),
    "rt.get_run_mode": (0, 0, 1, lambda m: 1),
    "rt.query_device_status": (1, 1, 1, _query_status),
    "rt.get_device_utilization_rate": (1, 1, 1, _utilization),
    "rt.get_device_info": (2, 2, 1, _info),
    "rt.device_get_uuid": (1, 1, 1, _uuid),
    "rt.device_can_access_peer": (2, 2, 1, _access),
    "rt.device_enable_peer_access": (2, 2, 0, _enable_peer),
    "rt.device_disable_peer_access": (1, 1, 0, _disable_peer),
    "rt.get_devices_topo": (2, 2, 1, lambda m, a, b: 1 if _check(m, a) != _check(m, b) else 0),
    "rt.get_mem_uce_info": (1, 1, 1, _bad_ranges),
    "rt.create_context": (1, 1, 1, lambda m, device: m.create_context(_check(m, device)).handle),
    "rt.set_context": (1, 1, 0, _set_context),
    "rt.get_context": (0, 0, 1, lambda m: m.context().handle),
    "rt.destroy_context": (1, 1, 0, _destroy_context),
    "rt.ctx_get_current_default_stream": (0, 0, 1, lambda m: m.context().default_stream.handle),
    "rt.ctx_set_sys_param_opt": (2, 2, 0, _set_option),
    "rt.get_device_res_limit": (2, 2, 1, _cores),
    "rt.set_device_res_limit": (3, 3, 0, _limit_cores),
    "rt.set_op_execute_timeout": (1, 1, 0, _timeout),
    "rt.set_op_execute_timeout_v2": (1, 1, 1, _timeout_v2),
    "rt.ctx_get_sys_param_opt": (1, 1, 1, lambda m, option: m.options.get(option, 0)),
}
