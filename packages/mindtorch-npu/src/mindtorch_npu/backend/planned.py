"""Executors that were planned once and are launched again, without Python where mindtorch-runtime is there.

The vendor's first phase depends on geometry and numbers, not on addresses. So an executor that it made is kept, under all
that it depends on, and a later call gives it the new addresses. It is kept from the second call of a kind on: what differs
at every step, such as a seed, is planned anew. `MINDTORCH_NPU_REPEATABLE=0` plans every launch anew.
"""

from __future__ import annotations

import atexit
import ctypes
import os
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.interface.native import native_path
from mindtorch_npu import runtime, switches
from mindtorch_npu.acl import loader
from mindtorch_npu.acl.errors import check
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.backend.dtypes import code_of
from mindtorch_npu.backend.fitting import Fitting
from mindtorch_npu.stream import current_stream

MOST = 4096
"""How many executors are kept."""
VARIABLE = "MINDTORCH_NPU_REPEATABLE"
_P, _I32 = ctypes.c_void_p, ctypes.c_int32
REPEATABLE: dict[str, tuple[Any, Sequence[Any]]] = {
    "aclSetAclOpExecutorRepeatable": (_I32, (_P,)),
    "aclDestroyAclOpExecutor": (_I32, (_P,)),
    "aclSetTensorAddr": (_I32, (_P, ctypes.c_size_t, _P, _P)),
    "aclSetDynamicTensorAddr": (_I32, (_P, ctypes.c_size_t, ctypes.c_size_t, _P, _P)),
}
"""The vendor's functions for executors that run more than once."""

Owned = list[tuple[Any, int]]


class Kept:
    """An executor with the descriptors that it was planned with."""

    __slots__ = ("destroy", "executor", "owned")

    def __init__(self, executor: int, owned: Owned, destroy: Callable[[int], int]) -> None:
        self.executor = executor
        self.owned = owned
        self.destroy = destroy

    def release(self) -> None:
        """Give all of it back; a forked child has nothing to give."""
        if runtime.in_bad_fork():
            return
        self.destroy(self.executor)
        for destroy, handle in self.owned:
            destroy(handle)


def _stream_of(device: int) -> int:
    runtime.on(device)
    return int(current_stream(device).npu_stream)


def _take(device: int, size: int, stream: int) -> int:
    return allocator_of(device).malloc(size, stream)


def _give(device: int, address: int) -> None:
    allocator_of(device).free(address)


def _refused(name: str, phase: str, code: int) -> None:
    check(code, f"{name}: {phase}" if phase else name, runtime.init())


class Planned:
    """What is kept of every operator, or nothing where the native call path is missing."""

    def __init__(self, most: int = MOST) -> None:
        self.native: Any = None
        self.most = most
        self.closed = False

    def start(self, array: type, allocation: type, counts: dict[str, int]) -> None:
        """Begin to keep plans of arrays of these classes; `counts` are the launches by name."""
        make = native_path.launches
        if self.native is not None or make is None or os.environ.get(VARIABLE) == "0":
            return
        self.native = make(
            array=array,
            allocation=allocation,
            code_of=code_of,
            stream_of=_stream_of,
            take=_take,
            give=_give,
            refused=_refused,
            release=Kept.release,
            append=switches.launched.append,
            counts=counts,
            most=self.most,
            # The simulated library is Python and needs the lock.
            unlocked=not loader.simulated(),
        )
        runtime.at_change(self.native.changed)
        switches.at_forget(self.native.forget)
        atexit.register(self.close)

    def close(self) -> None:
        """Give every executor back and keep none from now on.

        The process ends so: modules are emptied after it, and a library in Python could not be called any more.
        """
        self.closed = True
        self.native.forget()

    def operator(self, name: str, kinds: Sequence[str], fitting: Fitting, address: Callable[[str], int | None]) -> Any:
        """Return what launches an operator again, None where that cannot be."""
        functions = [address(symbol) for symbol in (name, "aclSetTensorAddr", "aclSetDynamicTensorAddr")]
        if self.native is None or None in functions or None in map(address, REPEATABLE):
            return None
        letters = "".join({"aclTensor*": "T", "aclTensorList*": "L"}.get(kind, "v") for kind in kinds)
        needs = "".join(
            " 1cb"[(place in fitting.lifted) + 2 * (place in fitting.packed)] for place in range(len(letters))
        )
        return self.native.operator(name, letters, needs, *functions)


planned = Planned()


def tensors_of(kinds: Sequence[str], arguments: Sequence[Any], given: Sequence[Any]) -> list[tuple[int, int, int]]:
    """Return for every tensor of a call where it is among the tensors and lists, its place in a list, its descriptor."""
    found, place = [], 0
    for kind, value, handle in zip(kinds, arguments, given, strict=True):
        if kind == "aclTensor*":
            found.append((place, -1, handle))
        elif kind == "aclTensorList*":
            found += [(place, inside, handle) for inside in range(len(value))]
        else:
            continue
        place += 1
    return found


__all__ = ["REPEATABLE", "Kept", "planned", "tensors_of"]
