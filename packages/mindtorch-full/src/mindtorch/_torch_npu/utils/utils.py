"""`torch_npu.utils.utils`: messages to the standard output, each with the time and the process."""

from __future__ import annotations

import os
import time

__all__: list[str] = []


def _print_log(level: str, msg: object) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')}({os.getpid()})-[{level}] {msg}")


def _print_info_log(info_msg: object) -> None:
    _print_log("INFO", info_msg)


def _print_warn_log(warn_msg: object) -> None:
    _print_log("WARNING", warn_msg)


def _print_error_log(error_msg: object) -> None:
    _print_log("ERROR", error_msg)
