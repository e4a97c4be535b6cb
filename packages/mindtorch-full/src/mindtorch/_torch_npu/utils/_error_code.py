"""`torch_npu.utils._error_code`: the codes that torch_npu's messages end with, which programs of it add to their own."""

from __future__ import annotations

import os
import sys
import time
from enum import Enum

import mindtorch as torch
from mindtorch_npu import runtime
from mindtorch_npu.device import current_device

__all__: list[str] = []


class _SubModuleID(Enum):
    """Which part of torch_npu a message is of."""

    PTA = 0
    OPS = 1
    DIST = 2
    GRAPH = 3
    PROF = 4
    UNKNOWN = 99


class ErrCode(Enum):
    """What went wrong: a number, and its text."""

    SUCCESS = (0, "success")
    PARAM = (1, "invalid parameter")
    TYPE = (2, "invalid type")
    VALUE = (3, "invalid value")
    PTR = (4, "invalid pointer")
    INTERNAL = (5, "internal error")
    MEMORY = (6, "memory error")
    NOT_SUPPORT = (7, "feature not supported")
    NOT_FOUND = (8, "resource not found")
    UNAVAIL = (9, "resource unavailable")
    SYSCALL = (10, "system call failed")
    TIMEOUT = (11, "timeout error")
    PERMISSION = (12, "permission error")
    ACL = (100, "call acl api failed")
    HCCL = (200, "call hccl api failed")
    GE = (300, "call ge api failed")
    EXCEPT = (999, "applicaiton exception")  # codespell:ignore - the vendor's own text

    @property
    def code(self) -> int:
        """The number."""
        return self.value[0]

    @property
    def msg(self) -> str:
        """The text."""
        return self.value[1]


def get_env_compact_error_output() -> int:
    """Return whether messages are to have no such line, as the environment says."""
    return int(os.getenv("TORCH_NPU_COMPACT_ERROR_OUTPUT", "0"))


def _rank() -> int:
    """Return this process's rank, -1 outside of a group."""
    here = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if here else -1


def _format_error_msg(submodule: _SubModuleID, error_code: ErrCode) -> str:
    """Return the line a message ends with: when, which process, device and rank, and the code. None in a terminal."""
    if get_env_compact_error_output() or hasattr(sys, "ps1"):
        return ""
    when = time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime())
    device = current_device() if runtime.is_initialized() else -1
    return (
        f"\n[ERROR] {when} (PID:{os.getpid()}, Device:{device}, RankID:{_rank()}) "
        f"ERR{submodule.value:0>2d}{error_code.code:0>3d} {submodule.name} {error_code.msg}"
    )


def pta_error(error: ErrCode) -> str:
    """Return the line of torch_npu itself."""
    return _format_error_msg(_SubModuleID.PTA, error)


def ops_error(error: ErrCode) -> str:
    """Return the line of its operators."""
    return _format_error_msg(_SubModuleID.OPS, error)


def dist_error(error: ErrCode) -> str:
    """Return the line of its process groups."""
    return _format_error_msg(_SubModuleID.DIST, error)


def graph_error(error: ErrCode) -> str:
    """Return the line of its graphs."""
    return _format_error_msg(_SubModuleID.GRAPH, error)


def prof_error(error: ErrCode) -> str:
    """Return the line of its profiler."""
    return _format_error_msg(_SubModuleID.PROF, error)
