"""`torch.npu._sanitizer`: checks streams, or operators by the vendor's checking kernels, for the rest of the process.

TORCH_NPU_SANITIZER=1 switches it on when `torch_npu` is imported. With ASCEND_OPP_DEBUG_PATH it is the kernels that check.
"""

from __future__ import annotations

import atexit
import os

from mindtorch._torch_npu.utils import _npu_trace as npu_trace
from mindtorch._torch_npu.utils.utils import _print_warn_log
from mindtorch.npu import _kernel_check as kernel_check
from mindtorch.npu import _stream_check as stream_check

__all__ = ["NPUSanitizer", "SanitizerMode", "enable_npu_sanitizer", "npu_sanitizer"]

_STREAM_CALLS = (
    "event_creation event_deletion event_record event_wait event_synchronization memory_allocation memory_deallocation "
    "stream_creation stream_synchronization device_synchronization record_stream erase_stream"
).split()


class SanitizerMode:
    """What is checked."""

    STREAM = 0
    KERNEL = 1


class NPUSanitizer:
    """The one sanitizer of the process."""

    def __init__(self) -> None:
        self.event_handler: stream_check.NPURecordStreamHandler | kernel_check.EventHandler | None = None
        self.dispatch: stream_check.NPUSanitizerDispatchMode | None = None
        self.kernel_path_manager: kernel_check.KernelPathManager | None = None
        self.mode = SanitizerMode.STREAM
        self.opp_debug_path = os.path.join(os.getcwd(), "opp_debug_path")
        self.opp_debug_kernel_path = os.environ.get("ASCEND_OPP_DEBUG_PATH")
        self.enabled = False
        self.check_record_stream = os.environ.get("TORCH_NPU_SANITIZER", "0") == "1"

    def enable(self) -> None:
        """Check from now on; nothing happens when it does."""
        if self.enabled:
            return
        kernels = bool(self.opp_debug_kernel_path)
        self.mode = SanitizerMode.KERNEL if kernels else SanitizerMode.STREAM
        if self.enable_kernel_check() if kernels else self.enable_stream_check():
            npu_trace.activate()
            self.enabled = True

    def enable_kernel_check(self) -> bool:
        """Let the vendor's library use its checking kernels, and print the operators; false where they are not there."""
        if not self.opp_debug_kernel_path:
            _print_warn_log("ASCEND_OPP_DEBUG_PATH is not set! TORCH_NPU_SANITIZER takes no effect!")
            return False
        self.kernel_path_manager = kernel_check.KernelPathManager()
        if not os.path.exists(self.opp_debug_path):
            return False
        handler = self.event_handler = kernel_check.EventHandler()
        npu_trace.register_callback_for_acl_start_execution(handler._handle_acl_start_execution, "start")  # type: ignore[attr-defined]
        npu_trace.register_callback_for_acl_finish_execution(handler._handle_acl_finish_execution, "finish")  # type: ignore[attr-defined]
        return True

    def enable_stream_check(self) -> bool:
        """Follow every operator, stream, event and block of memory."""
        handler = stream_check.NPURecordStreamHandler()
        self.event_handler = handler
        self.dispatch = stream_check.NPUSanitizerDispatchMode(handler)
        self.dispatch.__enter__()
        for name in _STREAM_CALLS:
            register = getattr(npu_trace, f"register_callback_for_npu_{name}")
            register(getattr(handler, f"_handle_{name}"), f"handle_{name}")
        return True

    def clear_debug_env(self) -> None:
        """Remove the copy of the operators' folder that the kernels needed."""
        if self.kernel_path_manager is not None:
            self.kernel_path_manager.clear_debug_env()

    def __del__(self) -> None:
        if self.dispatch is not None:
            self.dispatch.__exit__(None, None, None)


def enable_npu_sanitizer() -> None:
    """Check from now on."""
    npu_sanitizer.enable()


npu_sanitizer = NPUSanitizer()
atexit.register(npu_sanitizer.clear_debug_env)
