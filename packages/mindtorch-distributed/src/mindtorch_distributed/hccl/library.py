"""The functions of HCCL that are used, bound by ctypes from wherever the vendor's library is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from mindtorch_distributed import engine
from mindtorch_distributed.errors import DistBackendError

P, U32, U64, I32 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32
ROOT_INFO_BYTES = 4108
_FUNCTIONS = {
    "HcclGetRootInfo": (P,),
    "HcclCommInitRootInfo": (U32, P, U32, P),
    "HcclCommDestroy": (P,),
    "HcclAllReduce": (P, P, U64, I32, I32, P, P),
    "HcclReduce": (P, P, U64, I32, I32, U32, P, P),
    "HcclReduceScatter": (P, P, U64, I32, I32, P, P),
    "HcclAllGather": (P, P, U64, I32, P, P),
    "HcclBroadcast": (P, U64, I32, U32, P, P),
    "HcclScatter": (P, P, U64, I32, U32, P, P),
    "HcclAlltoAllV": (P, P, P, I32, P, P, P, I32, P, P),
    "HcclBarrier": (P, P),
    "HcclSend": (P, U64, I32, U32, P, P),
    "HcclRecv": (P, U64, I32, U32, P, P),
}
DATA_TYPES = {
    "int8": 0, "int16": 1, "int32": 2, "float16": 3, "float32": 4, "int64": 5, "uint64": 6, "uint8": 7, "uint16": 8,
    "uint32": 9, "float64": 10, "bfloat16": 11,
}  # fmt: skip
"""`HcclDataType` by name."""
REDUCTIONS = {engine.SUM: 0, engine.PRODUCT: 1, engine.MAX: 2, engine.MIN: 3}
"""`HcclReduceOp` by name."""
_MEANINGS = {
    1: "parameter error", 2: "empty pointer", 3: "memory error", 4: "internal error", 5: "not supported",
    6: "not found", 7: "resource unavailable", 8: "system call failed", 9: "timeout", 11: "TCP connect failed",
    13: "TCP transfer failed", 15: "runtime call failed", 16: "driver call failed", 19: "network call failed",
    20: "try again", 21: "a remote rank failed", 22: "suspended", 24: "out of memory",
}  # fmt: skip


class HcclError(DistBackendError):
    """A function of HCCL returned an error code."""

    def __init__(self, name: str, code: int, detail: str = "") -> None:
        self.name, self.code = name, code
        said = f". The runtime says: {detail}" if detail else ""
        super().__init__(f"{name} failed with {code}: {_MEANINGS.get(code, 'an unknown code')}{said}")


class Hccl:
    """The library: `address` tells where a function is, `message` what the runtime says of the last error."""

    def __init__(self, address: Callable[[str], int | None], message: Callable[[], str | None] = lambda: None) -> None:
        self._address, self._message = address, message
        self._bound: dict[str, Callable[..., int]] = {}

    def call(self, name: str, *arguments: object) -> None:
        """Call a function, without Python's lock. HcclError when it fails or the library lacks it."""
        function = self._bound.get(name)
        if function is None:
            address = self._address(name)
            if address is None:
                raise DistBackendError(f"this version of HCCL has no function {name}")
            function = self._bound[name] = ctypes.CFUNCTYPE(I32, *_FUNCTIONS[name])(address)
        code = function(*arguments)
        if code:
            raise HcclError(name, code, (self._message() or "").strip())
