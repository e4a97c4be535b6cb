"""Starting functions or programs as workers, with their output in files or on the console."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.multiprocessing.api import (
    DefaultLogsSpecs,
    LogsDest,
    LogsSpecs,
    MultiprocessContext,
    PContext,
    RunProcsResult,
    SignalException,
    Std,
    SubprocessContext,
    to_map,
)
from mindtorch.distributed.elastic.multiprocessing.errors import ChildFailedError, ProcessFailure, record

__all__ = [
    "ChildFailedError",
    "DefaultLogsSpecs",
    "LogsDest",
    "LogsSpecs",
    "MultiprocessContext",
    "PContext",
    "ProcessFailure",
    "RunProcsResult",
    "SignalException",
    "Std",
    "SubprocessContext",
    "record",
    "start_processes",
    "to_map",
]


def start_processes(
    name: str,
    entrypoint: Any,
    args: dict[int, tuple[Any, ...]],
    envs: dict[int, dict[str, str]],
    logs_specs: LogsSpecs,
    log_line_prefixes: dict[int, str] | None = None,
    start_method: str = "spawn",
    numa_options: Any = None,
    duplicate_stdout_filters: list[str] | None = None,
    duplicate_stderr_filters: list[str] | None = None,
) -> PContext:
    """Start a worker for every local rank: a program when `entrypoint` is a string, else a function."""
    if numa_options is not None:
        raise NotImplementedError("binding of workers to NUMA nodes is not offered")
    common: Any = (name, entrypoint, args, envs, logs_specs, log_line_prefixes)
    common += (duplicate_stdout_filters, duplicate_stderr_filters)
    context: PContext
    if isinstance(entrypoint, str):
        context = SubprocessContext(*common)
    else:
        context = MultiprocessContext(*common, start_method=start_method)
    try:
        context.start()
    except Exception:
        context.close()
        raise
    return context


adopt(globals())
