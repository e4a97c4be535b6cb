"""An agent: the workers of one node, started, watched, and started again when one fails."""

from __future__ import annotations

import json
import os
import signal
import time
from dataclasses import dataclass, field
from enum import StrEnum
from string import Template
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.multiprocessing import LogsSpecs, PContext, SignalException, start_processes
from mindtorch.distributed.elastic.multiprocessing.errors import ProcessFailure
from mindtorch.distributed.elastic.rendezvous.api import RendezvousGracefulExitError, RendezvousHandler
from mindtorch.distributed.elastic.utils import macros
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["LocalElasticAgent", "RunResult", "Worker", "WorkerGroup", "WorkerSpec", "WorkerState"]

_logger = get_logger(__name__)
_EXIT_BARRIER_SECONDS = 300.0


@dataclass
class WorkerSpec:
    """What the workers are."""

    role: str
    local_world_size: int
    rdzv_handler: RendezvousHandler
    entrypoint: Any = None
    args: tuple[Any, ...] = ()
    max_restarts: int = 3
    monitor_interval: float = 0.1
    master_port: int | None = None
    master_addr: str | None = None
    local_addr: str | None = None
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False

    def __post_init__(self) -> None:
        if self.local_world_size <= 0 or self.monitor_interval <= 0 or not self.entrypoint:
            raise AssertionError

    def get_entrypoint_name(self) -> str:
        """Return the name of the function or the program."""
        if isinstance(self.entrypoint, str):
            return os.path.basename(self.entrypoint)
        return str(self.entrypoint.__qualname__)


@dataclass
class Worker:
    """One worker's places."""

    local_rank: int
    global_rank: int = -1
    role_rank: int = -1
    world_size: int = -1
    role_world_size: int = -1


class WorkerState(StrEnum):
    """What the group of workers does."""

    UNKNOWN = "UNKNOWN"
    INIT = "INIT"
    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @staticmethod
    def is_running(state: WorkerState) -> bool:
        """Return whether workers in this state exist."""
        return state in {WorkerState.HEALTHY, WorkerState.UNHEALTHY}


@dataclass
class WorkerGroup:
    """The workers of this node."""

    spec: WorkerSpec
    workers: list[Worker] = field(default_factory=list)
    store: Any = None
    group_rank: int = -1
    group_world_size: int = -1
    master_addr: str = ""
    master_port: int = -1
    state: WorkerState = WorkerState.INIT


@dataclass
class RunResult:
    """How the workers of this node ended: values or failures by global rank."""

    state: WorkerState
    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Return whether they failed."""
        return self.state == WorkerState.FAILED


class LocalElasticAgent:
    """Runs the workers of a `WorkerSpec` on this node."""

    def __init__(
        self,
        spec: WorkerSpec,
        logs_specs: LogsSpecs,
        start_method: str = "spawn",
        exit_barrier_timeout: float = _EXIT_BARRIER_SECONDS,
        log_line_prefix_template: str | None = None,
        shutdown_timeout: int = 30,
    ) -> None:
        self._worker_group = WorkerGroup(spec)
        self._remaining_restarts = spec.max_restarts
        self._exit_barrier_timeout = exit_barrier_timeout
        self._start_method = start_method
        self._logs_specs = logs_specs
        self._prefix = log_line_prefix_template
        self._shutdown_timeout = shutdown_timeout
        self._pcontext: PContext | None = None

    def get_worker_group(self, role: str = "default") -> WorkerGroup:
        """Return the group of workers."""
        return self._worker_group

    def run(self, role: str = "default") -> RunResult:
        """Run the workers until they all end well or one fails for the last time."""
        death_signal = signal.SIGTERM
        try:
            return self._run()
        except RendezvousGracefulExitError as error:
            _logger.info("Rendezvous gracefully exited: %s", error)
            return RunResult(WorkerState.STOPPED)
        except SignalException as error:
            _logger.warning("Received %s death signal, shutting down workers", error.sigval)
            death_signal = error.sigval
            raise
        finally:
            self._shutdown(death_signal)

    def _run(self) -> RunResult:
        group, spec = self._worker_group, self._worker_group.spec
        self._start()
        while True:
            time.sleep(spec.monitor_interval)
            result = self._look()
            group.state = result.state
            if result.state == WorkerState.SUCCEEDED:
                self._exit_barrier()
                return result
            if result.state == WorkerState.FAILED:
                if self._remaining_restarts == 0:
                    return result
                _logger.info("[%s] %s restarts left", spec.role, self._remaining_restarts)
                self._remaining_restarts -= 1
                self._restart()
            elif spec.rdzv_handler.num_nodes_waiting() > 0:  # which does not count as a failure
                self._restart()

    def _restart(self) -> None:
        self._shutdown(signal.SIGTERM)
        self._worker_group.state = WorkerState.STOPPED
        self._start()

    def _start(self) -> None:
        group, spec = self._worker_group, self._worker_group.spec
        info = spec.rdzv_handler.next_rendezvous()
        group.store, group.group_rank, group.group_world_size = info.store, info.rank, info.world_size
        group.master_addr = spec.master_addr or info.bootstrap_store_info.master_addr
        group.master_port = spec.master_port or info.bootstrap_store_info.master_port
        group.workers = self._assign_worker_ranks(info.store, info.rank, info.world_size, spec)
        envs = {worker.local_rank: self._environment(worker) for worker in group.workers}
        prefixes = None
        if self._prefix:
            prefixes = {
                worker.local_rank: Template(self._prefix).safe_substitute(
                    role_name=spec.role, rank=worker.global_rank, local_rank=worker.local_rank
                )
                for worker in group.workers
            }
        self._pcontext = start_processes(
            name=spec.role,
            entrypoint=spec.entrypoint,
            args={rank: tuple(macros.substitute(list(spec.args), str(rank))) for rank in envs},
            envs=envs,
            logs_specs=self._logs_specs,
            log_line_prefixes=prefixes,
            start_method=self._start_method,
            duplicate_stdout_filters=spec.duplicate_stdout_filters,
            duplicate_stderr_filters=spec.duplicate_stderr_filters,
        )
        group.state = WorkerState.HEALTHY

    def _assign_worker_ranks(
        self, store: Any, group_rank: int, group_world_size: int, spec: WorkerSpec
    ) -> list[Worker]:
        """Number the workers of all nodes, node by node; those of one role also among themselves."""
        attempt = spec.max_restarts - self._remaining_restarts
        key = f"torchelastic/role_info/{attempt}"
        store.set(f"{key}/{group_rank}", json.dumps([spec.role, spec.local_world_size]))
        nodes = [json.loads(store.get(f"{key}/{rank}")) for rank in range(group_world_size)]
        before, same_before = nodes[:group_rank], [node for node in nodes[:group_rank] if node[0] == spec.role]
        base, role_base = (sum(size for _, size in some) for some in (before, same_before))
        world = sum(size for _, size in nodes)
        role_world = sum(size for role, size in nodes if role == spec.role)
        return [Worker(rank, base + rank, role_base + rank, world, role_world) for rank in range(spec.local_world_size)]

    def _environment(self, worker: Worker) -> dict[str, str]:
        group, spec = self._worker_group, self._worker_group.spec
        env: dict[str, Any] = {
            "RANK": worker.global_rank,
            "LOCAL_RANK": 0 if spec.virtual_local_rank else worker.local_rank,
            "GROUP_RANK": group.group_rank,
            "ROLE_RANK": worker.role_rank,
            "ROLE_NAME": spec.role,
            "LOCAL_WORLD_SIZE": spec.local_world_size,
            "WORLD_SIZE": worker.world_size,
            "GROUP_WORLD_SIZE": group.group_world_size,
            "ROLE_WORLD_SIZE": worker.role_world_size,
            "MASTER_ADDR": group.master_addr,
            "MASTER_PORT": group.master_port,
            "TORCHELASTIC_RESTART_COUNT": spec.max_restarts - self._remaining_restarts,
            "TORCHELASTIC_MAX_RESTARTS": spec.max_restarts,
            "TORCHELASTIC_RUN_ID": spec.rdzv_handler.get_run_id(),
            "TORCHELASTIC_USE_AGENT_STORE": spec.rdzv_handler.use_agent_store,
            "TORCH_NCCL_ASYNC_ERROR_HANDLING": os.environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"),
        }
        return {name: str(value) for name, value in env.items()}

    def _look(self) -> RunResult:
        result = self._pcontext.wait(0) if self._pcontext is not None else None
        if result is None:
            return RunResult(WorkerState.HEALTHY)
        ranks = {worker.local_rank: worker.global_rank for worker in self._worker_group.workers}
        if result.is_failed():
            failures = {ranks[local]: failure for local, failure in result.failures.items()}
            return RunResult(WorkerState.FAILED, failures=failures)
        values = {ranks[local]: value for local, value in result.return_values.items()}
        return RunResult(WorkerState.SUCCEEDED, return_values=values)

    def _exit_barrier(self) -> None:
        """Wait for the other nodes: this one may hold the store that their workers use."""
        group = self._worker_group
        if group.group_world_size == 1:
            return
        key, deadline = "torchelastic/agent/terminal_state", time.monotonic() + self._exit_barrier_timeout
        try:
            ended = group.store.add(key, 1)
            while ended < group.group_world_size and time.monotonic() < deadline:
                time.sleep(self._worker_group.spec.monitor_interval)
                ended = group.store.add(key, 0)
            if group.group_rank == 0:
                time.sleep(3 * group.spec.monitor_interval)  # the others read the last count before the store goes
        except (OSError, RuntimeError) as error:  # the node with the store ended, so its workers did
            _logger.warning("Error waiting on exit barrier: %s", error)

    def _shutdown(self, death_sig: signal.Signals) -> None:
        if self._pcontext is not None:
            self._pcontext.close(death_sig, self._shutdown_timeout)


adopt(globals())
