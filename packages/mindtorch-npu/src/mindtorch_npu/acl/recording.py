"""The vendor's C functions that record what is enqueued to a stream; pyACL lacks them, so they are called by ctypes."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any

from mindtorch_npu.acl import loader
from mindtorch_npu.acl.errors import check

MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
"""How strictly the runtime refuses, while a stream is recorded, what cannot be recorded."""
_P, _I32 = ctypes.c_void_p, ctypes.c_int32
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "aclmdlRICaptureBegin": (_P, _I32),
    "aclmdlRICaptureEnd": (_P, _P),
    "aclmdlRICaptureThreadExchangeMode": (_P,),
    "aclmdlRICaptureGetInfo": (_P, _P, _P),
    "aclmdlRICaptureTaskGrpBegin": (_P,),
    "aclmdlRICaptureTaskGrpEnd": (_P, _P),
    "aclmdlRICaptureTaskUpdateBegin": (_P, _P),
    "aclmdlRICaptureTaskUpdateEnd": (_P,),
    "aclmdlRIExecuteAsync": (_P, _P),
    "aclmdlRIDestroy": (_P,),
}

recorded: dict[int, Any] = {}
"""What is being recorded, by the stream that its recording began on."""


@cache
def _library() -> Any:
    return ctypes.CDLL("libascendcl.so")


def function(name: str) -> Any:
    """Return a C function of the runtime. Raises NotImplementedError where this version of CANN has it not."""
    if loader.simulated():
        address = loader.simulator().function(name)
    else:
        found = getattr(_library(), name, None)
        address = None if found is None else ctypes.cast(found, _P).value
    if address is None:
        raise NotImplementedError(f"this version of CANN cannot record graphs: it has no {name}")
    return ctypes.CFUNCTYPE(_I32, *ARGUMENTS[name])(address)


def call(name: str, acl: object, *arguments: Any) -> None:
    """Call a function; AclError for what it refuses."""
    check(function(name)(*arguments), name, acl)


def recording_of(stream: int, acl: object) -> int:
    """Return the vendor's handle of the recording that a stream is part of, 0 where it is not recorded."""
    status, handle = _I32(), _P()
    call("aclmdlRICaptureGetInfo", acl, stream, ctypes.addressof(status), ctypes.addressof(handle))
    return (handle.value or 0) if status.value else 0


@contextlib.contextmanager
def relaxed(acl: object) -> Iterator[None]:
    """Let this thread ask for memory within the block though a stream is recorded."""
    if not recorded:
        yield
        return
    mode = _I32(MODES["relaxed"])
    call("aclmdlRICaptureThreadExchangeMode", acl, ctypes.addressof(mode))
    try:
        yield
    finally:
        call("aclmdlRICaptureThreadExchangeMode", acl, ctypes.addressof(mode))


__all__ = ["MODES", "call", "function", "recorded", "recording_of", "relaxed"]
