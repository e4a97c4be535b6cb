"""Kernels that check themselves: a copy of the vendor's folder of operators, of which the kernels are those of another."""

from __future__ import annotations

import fcntl
import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

from mindtorch._torch_npu.utils import _npu_trace as npu_trace
from mindtorch._torch_npu.utils.utils import _print_error_log, _print_info_log, _print_warn_log
from mindtorch_npu import switches

__all__ = ["EventHandler", "KernelPathManager"]

_KERNELS = "built-in/op_impl/ai_core/tbe/kernel"


class EventHandler:
    """Prints the operators as they run, each with the calls that led to it."""

    def _handle_acl_start_execution(self, acl_name: str) -> None:
        npu_trace.print_check_msg(f"====== Start acl operator {acl_name}")

    def _handle_acl_finish_execution(self, acl_name: str) -> None:
        stack = traceback.StackSummary.extract(traceback.walk_stack(None), lookup_lines=False)
        stack.reverse()
        npu_trace.print_check_msg(f"====== {acl_name} python stack info:\n{''.join(stack.format())}")


class KernelPathManager:
    """Makes `opp_debug_path` in the working folder and lets the vendor's library read its operators there.

    ASCEND_OPP_PATH names the operators, ASCEND_OPP_DEBUG_PATH those whose kernels are to be used.
    """

    def __init__(self) -> None:
        self.folder_permission = 0o750
        self.ascend_opp_path = os.environ.get("ASCEND_OPP_PATH", "")
        self.opp_debug_path = os.path.join(os.getcwd(), "opp_debug_path")
        self.opp_debug_kernel_path = os.environ.get("ASCEND_OPP_DEBUG_PATH", "")
        self.lock_file = os.path.join(os.getcwd(), "opp_debug.lock")
        self.func_with_lock(self.make_opp_debug_path)
        os.environ["ASCEND_LAUNCH_BLOCKING"] = "1"
        switches.blocking = True
        os.environ["ASCEND_OPP_PATH"] = self.opp_debug_path

    def func_with_lock(self, func: Callable[[], None]) -> None:
        """Call `func` unless another process is at it, which is warned of."""
        with open(os.open(self.lock_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o600), "w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                func()
            except OSError as error:
                _print_warn_log(f"Permission denied to execute {func}: {error}")
            finally:
                fcntl.flock(held, fcntl.LOCK_UN)

    def make_opp_debug_path(self) -> None:
        """Copy the operators, with the other kernels; what is not there is told of and nothing is copied."""
        for name, path in (
            ("ASCEND_OPP_PATH", self.ascend_opp_path),
            ("ASCEND_OPP_DEBUG_PATH", self.opp_debug_kernel_path),
        ):
            if not os.path.exists(path):
                _print_error_log(f"{name} is not exists.")
                return
        kernels = os.path.join(self.opp_debug_kernel_path, _KERNELS)
        if not os.path.exists(kernels):
            _print_warn_log("ASCEND_OPP_DEBUG_PATH is not valid kernel path.")
            return
        place = Path(self.opp_debug_path, _KERNELS)
        if os.path.exists(self.opp_debug_path):
            self.remove_debug_files()
        shutil.copytree(self.ascend_opp_path, self.opp_debug_path)
        os.chmod(self.opp_debug_path, self.folder_permission)
        if place.is_symlink():
            place.unlink()
        elif place.exists():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(kernels)

    def remove_debug_files(self) -> None:
        """Remove the copy, and not the kernels that it points to."""
        os.unlink(os.path.join(self.opp_debug_path, _KERNELS))
        shutil.rmtree(self.opp_debug_path)

    def clear_debug_env(self) -> None:
        """Remove the copy and its lock, if they are there."""
        if not os.path.exists(self.opp_debug_path):
            return
        self.func_with_lock(self.remove_debug_files)
        try:
            os.remove(self.lock_file)
        except FileNotFoundError as error:  # another process was faster
            _print_info_log(error)
