"""The vendor's operator libraries: C functions of two phases for every operator that the simulator computes.

A call crosses a real C boundary: arguments arrive as the signature table says they are passed, whoever passes them.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_npu.aclnn import limits, signatures
from mindtorch_npu.simulator import kernels, repeating, strict
from mindtorch_npu.simulator.descriptors import (
    FUNCTIONS,
    INVALID,
    NULL_POINTER,
    Descriptors,
    HandleList,
    Numbers,
    ScalarDescriptor,
    TensorDescriptor,
    kind_of,
)
from mindtorch_npu.simulator.dtypes import numpy_dtype
from mindtorch_npu.simulator.executor import Executor
from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import Machine
from mindtorch_npu.simulator.rehearsal import rehearse
from mindtorch_npu.simulator.stream import AICORE_EXCEPTION, KERNEL_ERRORS, Task

NO_CONTEXT, NO_KERNEL, INNER = 361001, 561003, 561000
WORKSPACE = 1024
ALIGNMENT = 32
_SIMPLE = {
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "int32_t": ctypes.c_int32, "int": ctypes.c_int32,
    "int8_t": ctypes.c_int8, "bool": ctypes.c_bool, "double": ctypes.c_double, "float": ctypes.c_float,
    "aclDataType": ctypes.c_int32, "char*": ctypes.c_char_p,
}  # fmt: skip
_ERRORS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def _c_type(text: str) -> Any:
    return _SIMPLE.get(text.removeprefix("const ").replace(" ", ""), ctypes.c_void_p)


class Library:
    """C functions by symbol."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.descriptors = Descriptors()
        self.executors: dict[int, Executor] = {}
        self.launches: dict[str, int] = {}
        self._handles = itertools.count(0x6B00_0000_0000, 16)
        self._functions: dict[str, Any] = {}
        self._lock = threading.Lock()

    def address(self, symbol: str) -> int | None:
        """Return the address of a C function, None when the libraries do not have it."""
        with self._lock:
            made = self._functions.get(symbol)
            if made is None:
                made = self._make(symbol)
                if made is None:
                    return None
                self._functions[symbol] = made
        return ctypes.cast(made, ctypes.c_void_p).value

    def _make(self, symbol: str) -> Any:
        if symbol in FUNCTIONS:
            result, arguments, fn = FUNCTIONS[symbol]
            failed = 0 if result is ctypes.c_void_p else INVALID
            return ctypes.CFUNCTYPE(result, *arguments)(self._guarded(lambda *a: fn(self.descriptors, *a), failed))
        if symbol in repeating.FUNCTIONS:
            arguments, fn = repeating.FUNCTIONS[symbol]
            return ctypes.CFUNCTYPE(ctypes.c_int32, *arguments)(self._guarded(lambda *a: fn(self, *a), INVALID))
        name = symbol.removesuffix("GetWorkspaceSize")
        if name not in signatures() or name not in kernels.table():
            return None
        if name == symbol:
            kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)
            return kind(self._guarded(lambda *a: self._execute(name, *a), INNER))
        types = [_c_type(text) for text, _ in signatures()[name]["params"]]
        return ctypes.CFUNCTYPE(ctypes.c_int32, *types)(self._guarded(lambda *a: self._plan(name, a), INNER))

    def _guarded(self, fn: Callable[..., int], failed: int) -> Callable[..., int]:
        """Return `fn` with its errors as codes: no exception may pass the C boundary.

        The process's last calls come when the names of this module are gone.
        """
        device_fault, errors = DeviceFault, _ERRORS

        def call(*arguments: object) -> int:
            try:
                return fn(*arguments)
            except device_fault as fault:
                self.machine.thread.message = fault.text
                return fault.code
            except errors as error:
                self.machine.thread.message = f"EZ9999: {type(error).__name__}: {error}"
                return failed

        return call

    def leaks(self) -> list[str]:
        """Return what was made and neither run nor destroyed, in words."""
        kinds = Counter(kind_of(made) for made in self.descriptors.live.values())
        found = [f"{count} descriptor(s) of kind {kind}" for kind, count in sorted(kinds.items())]
        waiting = Counter(executor.name for executor in self.executors.values())
        return found + [f"{count} executor(s) of {name}" for name, count in sorted(waiting.items())]

    # -- phase 1 ------------------------------------------------------------------------------------------------------

    def _plan(self, name: str, given: tuple[Any, ...]) -> int:
        machine = self.machine
        machine.call(f"{name}GetWorkspaceSize")
        if machine.thread.context is None:
            raise DeviceFault(NO_CONTEXT, "EE1001: 107002: this thread has no context: call set_device first")
        self._check_chip(name)
        arguments: dict[str, Any] = {}
        handles: list[int] = []
        params = signatures()[name]["params"]
        for (text, label), value in zip(params[:-2], given[:-2], strict=True):
            arguments[label] = self._argument(text.removeprefix("const ").replace(" ", ""), value, handles)
        if not (given[-1] and given[-2]):
            raise DeviceFault(NULL_POINTER, "EZ1001: workspaceSize or executor is NULL")
        strict.check(name, arguments)
        rehearse(name, arguments)
        # Operators beyond the elementwise need room, so that callers have to bring it.
        size = WORKSPACE if kernels.table()[name].workspace else 0
        with self._lock:
            handle = next(self._handles)
            made = self.executors[handle] = Executor(name, arguments, handles, size)
        for (text, label), value in zip(params[:-2], given[:-2], strict=True):
            if "aclTensor" in text:
                made.tensors.append((label, value or 0))
        ctypes.c_uint64.from_address(given[-2]).value = size
        ctypes.c_void_p.from_address(given[-1]).value = handle
        return 0

    def _check_chip(self, name: str) -> None:
        facts = limits().get(name, {})
        family = self.machine.settings.facts["family"]
        if family in facts.get("chips_no", ()):
            raise DeviceFault(NO_KERNEL, f"EZ3003: {name} has no kernel for {self.machine.settings.chip}")

    def _argument(self, kind: str, value: Any, handles: list[int]) -> Any:
        live = self.descriptors
        if kind in _SIMPLE:
            return value.decode() if isinstance(value, bytes) else value
        handles.append(value or 0)
        if kind == "aclTensor*":
            return live.get(value, TensorDescriptor)
        if kind == "aclScalar*":
            return live.get(value, ScalarDescriptor)
        if kind in ("aclTensorList*", "aclScalarList*"):
            wanted = TensorDescriptor if kind == "aclTensorList*" else ScalarDescriptor
            items = live.get(value, HandleList)
            handles += items or ()  # an element that is destroyed is gone from its list, too
            return None if items is None else [live.get(item, wanted) for item in items]
        found = live.get(value, Numbers)
        if found is not None and f"acl{found.kind}*" != kind:
            raise DeviceFault(INVALID, f"EZ1001: an {found.kind} is given for {kind}")
        return found

    # -- phase 2 ------------------------------------------------------------------------------------------------------

    def _execute(self, name: str, workspace: int | None, size: int, handle: int | None, stream: int | None) -> int:
        with self._lock:
            executor = self.executors.get(handle or 0)
            if executor is not None and not executor.repeatable:
                del self.executors[handle or 0]  # freed also when the call is refused
        if executor is None or executor.name != name:
            raise DeviceFault(NULL_POINTER, f"EZ1001: {name}: the executor is NULL, of another operator or used before")
        machine = self.machine
        machine.call(name)
        if executor.workspace and (not workspace or size < executor.workspace):
            raise DeviceFault(NULL_POINTER, f"EZ1001: {name}: a workspace of {executor.workspace} bytes is needed")
        if machine.thread.context is None:
            raise DeviceFault(NO_CONTEXT, "EE1001: 107002: this thread has no context: call set_device first")
        room = [(workspace or 0, (workspace or 0) + executor.workspace, True)] if executor.workspace else []
        ranges = _ranges(name, executor.arguments)
        if any(start < place_end and place < end for place, place_end, _ in room for start, end, _ in ranges):
            raise DeviceFault(INVALID, f"EZ1001: {name}: the workspace overlaps an argument")
        if any(made and made not in self.descriptors.live for made in executor.handles):
            raise DeviceFault(INVALID, f"EZ1001: {name}: an argument's descriptor was destroyed before the execution")
        if executor.moved:
            strict.check_addresses(name, executor.arguments)
            executor.moved = False
        executor.own.clear()
        arguments = dict(executor.arguments)
        queue = machine.stream(stream or 0)
        machine.ordered(queue, name, [*room, *ranges])
        uses = Task(name, [(start, end) for start, end, _ in (*room, *ranges)])
        queue.enqueue(lambda: self._run(name, arguments, queue.device, room), uses=uses)
        self.launches[name] = self.launches.get(name, 0) + 1
        return 0

    def _run(
        self, name: str, arguments: dict[str, Any], device: int, room: Sequence[tuple[int, int, bool]] = ()
    ) -> None:
        """Compute on the stream's thread: only now are the device's bytes looked at."""
        self.machine.faults.check(f"run.{name}")
        kernel = kernels.table()[name]
        try:
            values = {label: self._value(value, device) for label, value in arguments.items()}
            for start, end, _ in room:
                self._bytes(start, end - start, device)
        except DeviceFault as fault:  # whatever is wrong with an address, a core that meets it stops
            raise DeviceFault(AICORE_EXCEPTION, fault.text) from fault
        for label, value in values.items():
            if isinstance(value, np.ndarray) and label not in kernel.outputs:
                value.flags.writeable = False
        try:
            kernel(values, arguments)
        except KERNEL_ERRORS as error:  # a kernel that dies is an exception of the device's cores
            raise DeviceFault(AICORE_EXCEPTION, f"EZ9999: {name}: {type(error).__name__}: {error}") from error

    def _bytes(self, address: int, size: int, device: int) -> Any:
        """Return bytes of the device as its cores find them; DeviceFault where they cannot."""
        if address % ALIGNMENT:
            raise DeviceFault(AICORE_EXCEPTION, f"EZ9999: {address:#x} is not aligned to {ALIGNMENT} bytes")
        return self.machine.buffer(address, size, device)

    def _value(self, made: object, device: int) -> Any:
        if isinstance(made, TensorDescriptor):
            dtype = numpy_dtype(made.dtype)
            if 0 in made.shape:
                return np.empty(made.shape, dtype)
            count = int(np.prod(made.storage))
            buffer = self._bytes(made.data, count * dtype.itemsize, device)
            steps = tuple(step * dtype.itemsize for step in made.strides)
            return np.ndarray(made.shape, dtype, buffer, made.offset * dtype.itemsize, steps)
        if isinstance(made, ScalarDescriptor):
            return made.value
        if isinstance(made, list) and made and isinstance(made[0], (TensorDescriptor, ScalarDescriptor)):
            return [self._value(item, device) for item in made]
        return made


def _ranges(name: str, arguments: dict[str, Any]) -> list[tuple[int, int, bool]]:
    """Return the bytes that an operator reads and writes: start, end, and whether they are written."""
    outputs, found = kernels.table()[name].outputs, []
    for label, value in arguments.items():
        for made in value if isinstance(value, list) else [value]:
            if isinstance(made, TensorDescriptor) and 0 not in made.shape:
                reach = made.reach
                size = numpy_dtype(made.dtype).itemsize
                found.append((made.data + reach[0] * size, made.data + reach[1] * size, label in outputs))
    return found
