"""Executors that run more than once: the vendor's functions that make them so, and give them other addresses."""

from __future__ import annotations

import ctypes
from typing import Any

from mindtorch_npu.simulator.descriptors import INVALID, HandleList, TensorDescriptor
from mindtorch_npu.simulator.executor import Executor, Executors
from mindtorch_npu.simulator.faults import DeviceFault

NO_EXECUTOR = 561103
_P, _I32, _SIZE = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t


def _executor(library: Executors, handle: int | None, repeatable: bool = True) -> Executor:
    found = library.executors.get(handle or 0)
    if found is None or (repeatable and not found.repeatable):
        raise DeviceFault(NO_EXECUTOR, "EZ9999: the executor is NULL, gone, or not made repeatable")
    return found


def _make_repeatable(library: Executors, handle: int | None) -> int:
    _executor(library, handle, repeatable=False).repeatable = True
    return 0


def _destroy(library: Executors, handle: int | None) -> int:
    _executor(library, handle, repeatable=False)
    del library.executors[handle or 0]
    return 0


def _place(executor: Executor, index: int, handle: int | None, kind: type) -> str:
    """Return the label of the argument at an index among tensors and lists; DeviceFault for another descriptor."""
    if not 0 <= index < len(executor.tensors):
        raise DeviceFault(INVALID, f"EZ1001: {executor.name} has no tensor {index}")
    label, given = executor.tensors[index]
    if (
        not handle
        or handle != given
        or isinstance(executor.arguments[label], TensorDescriptor) != (kind is TensorDescriptor)
    ):
        raise DeviceFault(INVALID, f"EZ1001: {handle or 0:#x} is not what {executor.name} was planned with for {label}")
    return label


def _set_address(library: Executors, executor: int | None, index: int, handle: int | None, address: int | None) -> int:
    found = _executor(library, executor)
    label = _place(found, index, handle, TensorDescriptor)
    found.arguments[label] = found.arguments[label].at(address or 0)
    found.moved = True
    return 0


def _set_element(
    library: Executors, executor: int | None, index: int, element: int, handle: int | None, address: int | None
) -> int:
    found = _executor(library, executor)
    label = _place(found, index, handle, HandleList)
    items = found.arguments[label]
    if not 0 <= element < len(items):
        raise DeviceFault(INVALID, f"EZ1001: {label} of {found.name} has no element {element}")
    if label not in found.own:  # what was enqueued before keeps its list
        items = found.arguments[label] = list(items)
        found.own.add(label)
    items[element] = items[element].at(address or 0)
    found.moved = True
    return 0


FUNCTIONS: dict[str, tuple[list[Any], Any]] = {
    "aclSetAclOpExecutorRepeatable": ([_P], _make_repeatable),
    "aclDestroyAclOpExecutor": ([_P], _destroy),
    "aclSetTensorAddr": ([_P, _SIZE, _P, _P], _set_address),
    "aclSetInputTensorAddr": ([_P, _SIZE, _P, _P], _set_address),
    "aclSetDynamicTensorAddr": ([_P, _SIZE, _SIZE, _P, _P], _set_element),
}
"""By C name: argument types, and what it does to the library's executors."""
