"""Where the output of workers goes: the console, files, or both."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

from mindtorch._naming import adopt

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "Std", "to_map"]

_VALUE = r"^[0123]$"
_MAPPING = r"^(\d:[0123],)*(\d:[0123])$"


class Std(IntFlag):
    """Streams of a process."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, vm: str) -> Std | dict[int, Std]:
        """Read `3` (all workers) or `0:3,1:1` (by local rank)."""
        if re.match(_VALUE, vm):
            return cls(int(vm))
        if re.match(_MAPPING, vm):
            pairs = (pair.split(":") for pair in vm.split(","))
            return {int(rank): cls(int(value)) for rank, value in pairs}
        raise ValueError(f"{vm} does not match: <{_VALUE}> or <{_MAPPING}>")


def to_map(val_or_map: Std | dict[int, Std], local_world_size: int) -> dict[int, Std]:
    """Return the streams of each local rank."""
    if isinstance(val_or_map, Std):
        return dict.fromkeys(range(local_world_size), val_or_map)
    return {rank: val_or_map.get(rank, Std.NONE) for rank in range(local_world_size)}


@dataclass
class LogsDest:
    """Files by local rank; an empty name is the console."""

    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)
    tee_stdouts: dict[int, str] = field(default_factory=dict)
    tee_stderrs: dict[int, str] = field(default_factory=dict)
    error_files: dict[int, str] = field(default_factory=dict)
    filtered_stdout: str = field(default_factory=str)
    filtered_stderr: str = field(default_factory=str)


class LogsSpecs(ABC):
    """How output is wanted; `reify` makes files of it when the workers are known."""

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        self._root_log_dir = log_dir
        self._redirects = redirects
        self._tee = tee
        self._local_ranks_filter = local_ranks_filter

    @abstractmethod
    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Return the files of the workers with these environments, and name their error files in them."""

    @property
    @abstractmethod
    def root_log_dir(self) -> str:
        """The folder of all logs."""


class DefaultLogsSpecs(LogsSpecs):
    """Folders `<log_dir>/<run id>_*/attempt_<n>/<local rank>` with stdout.log, stderr.log and error.json."""

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | dict[int, Std] = Std.NONE,
        tee: Std | dict[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        if not log_dir:
            log_dir = tempfile.mkdtemp(prefix="torchelastic_")
        elif os.path.isfile(log_dir):
            raise NotADirectoryError(f"log_dir: {log_dir} is a file")
        elif log_dir != os.devnull:
            os.makedirs(log_dir, exist_ok=True)
        super().__init__(log_dir, redirects, tee, local_ranks_filter)
        self._run_log_dir: str | None = None

    @property
    def root_log_dir(self) -> str:
        """The folder of all logs."""
        return str(self._root_log_dir)

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Make the folders of one attempt."""
        nprocs = len(envs)
        if self._root_log_dir == os.devnull:
            for env in envs.values():
                env["TORCHELASTIC_ERROR_FILE"] = ""
            nowhere = dict.fromkeys(range(nprocs), os.devnull)
            console = dict.fromkeys(range(nprocs), "")
            return LogsDest(console, dict(console), {}, {}, nowhere, os.devnull, os.devnull)
        folder = self._attempt_folder(envs.get(0, {}))
        redirects, tees = to_map(self._redirects, nprocs), to_map(self._tee, nprocs)
        dest = LogsDest(
            filtered_stdout=os.path.join(folder, "filtered_stdout.log"),
            filtered_stderr=os.path.join(folder, "filtered_stderr.log"),
        )
        for rank in range(nprocs):
            own = os.path.join(folder, str(rank))
            os.mkdir(own)
            shown = not self._local_ranks_filter or rank in self._local_ranks_filter
            files: Any = (
                (Std.OUT, "stdout.log", dest.stdouts, dest.tee_stdouts),
                (Std.ERR, "stderr.log", dest.stderrs, dest.tee_stderrs),
            )
            for std, name, plain, tee in files:
                to_file = (redirects[rank] | tees[rank]) & std
                plain[rank] = os.path.join(own, name) if to_file else "" if shown else os.devnull
                if tees[rank] & std and shown:
                    tee[rank] = plain[rank]
            dest.error_files[rank] = envs[rank]["TORCHELASTIC_ERROR_FILE"] = os.path.join(own, "error.json")
        return dest

    def _attempt_folder(self, env: dict[str, str]) -> str:
        if self._run_log_dir is None:
            run_id = env.get("TORCHELASTIC_RUN_ID", "test_run_id")
            self._run_log_dir = tempfile.mkdtemp(prefix=f"{run_id}_", dir=self._root_log_dir)
        folder = os.path.join(self._run_log_dir, f"attempt_{env.get('TORCHELASTIC_RESTART_COUNT', '0')}")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def __repr__(self) -> str:
        return (
            f"DefaultLogsSpecs(root_log_dir={self._root_log_dir}, redirects={self._redirects}, "
            f"tee={self._tee}, local_ranks_filter={self._local_ranks_filter})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DefaultLogsSpecs):
            return False
        mine = (self._root_log_dir, self._redirects, self._tee, self._local_ranks_filter)
        return mine == (other._root_log_dir, other._redirects, other._tee, other._local_ranks_filter)

    __hash__ = None  # type: ignore[assignment]


adopt(globals())
