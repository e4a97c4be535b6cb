"""How the failure of one worker reaches the end of a launcher's output."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.multiprocessing.errors.error_handler import ErrorHandler
from mindtorch.distributed.elastic.multiprocessing.errors.handlers import get_error_handler
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

_logger = get_logger(__name__)
_NOT_AVAILABLE = "<N/A>"
_WIDEST = 60


@dataclass
class ProcessFailure:
    """How a process ended, with what it left in its error file."""

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict[str, Any] = field(init=False)
    message: Any = field(init=False)
    timestamp: int = field(init=False)

    def __post_init__(self) -> None:
        self.error_file_data = {"message": "<NONE>"}
        if os.path.isfile(self.error_file):
            with open(self.error_file) as stream:
                self.error_file_data = json.load(stream)
            self.message, self.timestamp = self._get_error_data(self.error_file_data)
        else:
            self.error_file, self.message, self.timestamp = _NOT_AVAILABLE, "", int(time.time())
        if self.message:
            return
        if self.exitcode < 0:
            self.message = f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        else:
            self.error_file_data["errorTraits"] = {"category": "system_terminated_error", "retryability": "False"}
            self.message = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"

    def _get_error_data(self, error_file_data: dict[str, Any]) -> tuple[Any, int]:
        message = error_file_data["message"]
        if isinstance(message, str):
            return message, int(error_file_data.get("timestamp", 0))
        return message, int(message["extraInfo"]["timestamp"])

    def signal_name(self) -> str:
        """Return the name of the signal that ended the process, or `<N/A>`."""
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:  # an exit code, or a signal that this system does not name
            return _NOT_AVAILABLE

    def timestamp_isoformat(self) -> str:
        """Return when it failed."""
        return datetime.fromtimestamp(self.timestamp).isoformat(sep="_")


class ChildFailedError(Exception):
    """Workers failed: `failures` by global rank, of which the first in time is the cause."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name = name
        self.failures = failures
        if not self.failures:
            raise AssertionError
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """Return rank and failure of the worker that failed first."""
        rank = min(self.failures, key=lambda failed: self.failures[failed].timestamp)
        return rank, self.failures[rank]

    def format_msg(self, boarder_delim: str = "=", section_delim: str = "-") -> str:
        """Return the table of failures."""
        title = f"{self.name} FAILED"
        root_rank, _ = self.get_first_failure()
        shown = {
            rank: self._format_failure(index, rank, failure)
            for index, (rank, failure) in enumerate(self.failures.items())
        }
        width = min(_WIDEST, max(len(title), *(size for _, size in shown.values())))
        border, section = boarder_delim * width, section_delim * width
        others = [text for rank, (text, _) in shown.items() if rank != root_rank]
        lines = [
            "",
            border,
            title,
            section,
            "Failures:",
            *(others or ["  <NO_OTHER_FAILURES>"]),
            section,
            "Root Cause (first observed failure):",
            shown[root_rank][0],
            border,
        ]
        return "\n".join(lines)

    def _format_failure(self, idx: int, rank: int, failure: ProcessFailure) -> tuple[str, int]:
        message = failure.message
        if isinstance(message, dict):
            told = message.get("extraInfo", {}).get("py_callstack", message.get("message", _NOT_AVAILABLE))
            message = told.replace("\n", "\n  ")
        name = failure.signal_name()
        lines = [
            f"[{idx}]:",
            f"  time      : {failure.timestamp_isoformat()}",
            f"  host      : {socket.getfqdn()}",
            f"  rank      : {rank} (local_rank: {failure.local_rank})",
            f"  exitcode  : {failure.exitcode} (pid: {failure.pid}) {'' if name == _NOT_AVAILABLE else f' ({name})'}",
            f"  error_file: {failure.error_file}",
            f"  traceback : {message}",
        ]
        text = "\n".join(lines)
        return text, max(map(len, text.split("\n")))


def record(fn: Callable[..., Any], error_handler: ErrorHandler | None = None) -> Callable[..., Any]:
    """Decorate a program's entry so that what it raises is written where the launcher looks for it."""
    handler = error_handler or get_error_handler()

    @wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as end:
            if end.code == 0:  # a script that was run by its path ends well this way too
                return None
            raise
        except ChildFailedError as error:
            rank, failure = error.get_first_failure()
            if failure.error_file != _NOT_AVAILABLE:
                handler.dump_error_file(failure.error_file, failure.exitcode)
            else:
                _logger.info("rank %s failed without an error file: decorate its entry with @record", rank)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return wrapper


adopt(globals())
