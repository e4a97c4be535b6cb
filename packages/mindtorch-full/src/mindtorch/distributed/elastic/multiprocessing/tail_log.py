"""Showing on the console what workers write to files."""

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TextIO

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["TailLog", "tail_logfile"]

logger = get_logger(__name__)


def tail_logfile(
    header: str,
    file: str,
    dst: TextIO,
    finished: Event,
    interval_sec: float,
    log_line_filter: Callable[[str], bool] | None = None,
) -> None:
    """Copy the lines of a file that grows, each with a header, until `finished` is set and all is copied."""
    while not os.path.exists(file):
        if finished.is_set():
            return
        time.sleep(interval_sec)
    with open(file, errors="replace") as stream:
        while True:
            ended = finished.is_set()  # asked before reading: what came until then is read below
            for line in stream:
                if log_line_filter is None or log_line_filter(line):
                    dst.write(f"{header}{line}")
            dst.flush()
            if ended:
                return
            time.sleep(interval_sec)


class TailLog:
    """Copies several files at once, one thread each."""

    def __init__(
        self,
        name: str,
        log_files: dict[int, str],
        dst: TextIO | str,
        log_line_prefixes: dict[int, str] | None = None,
        interval_sec: float = 0.1,
        log_line_filter: Callable[[str], bool] | None = None,
    ) -> None:
        self._name = name
        self._log_files = log_files
        self._prefixes = log_line_prefixes
        self._filter = log_line_filter
        self._interval = interval_sec
        self._finished = {rank: Event() for rank in log_files}
        self._futures: list[Future[None]] = []
        self._stopped = False
        self._owned = open(dst, "w") if isinstance(dst, str) else None  # noqa: SIM115 - closed by stop
        self._dst: TextIO = self._owned or dst  # type: ignore[assignment]
        self._threadpool = (
            ThreadPoolExecutor(len(log_files), thread_name_prefix=f"TailLog_{name}") if log_files else None
        )

    def start(self) -> "TailLog":
        """Begin to copy."""
        if self._threadpool is None:
            return self
        for rank, file in self._log_files.items():
            header = f"[{self._name}{rank}]:"
            if self._prefixes and rank in self._prefixes:
                header = self._prefixes[rank]
            self._futures.append(
                self._threadpool.submit(
                    tail_logfile, header, file, self._dst, self._finished[rank], self._interval, self._filter
                )
            )
        return self

    def stop(self) -> None:
        """Copy what is left and end."""
        for finished in self._finished.values():
            finished.set()
        for future in self._futures:
            error = future.exception()
            if error is not None:
                logger.error("error in log tailor for %s. %s: %s", self._name, type(error).__name__, error)
        if self._threadpool is not None:
            self._threadpool.shutdown(wait=True)
        if self._owned is not None and not self._owned.closed:
            self._owned.close()
        self._stopped = True

    def stopped(self) -> bool:
        """Return whether `stop` was called."""
        return self._stopped


adopt(globals())
