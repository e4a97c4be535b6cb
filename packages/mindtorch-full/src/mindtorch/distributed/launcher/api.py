"""What `torchrun` does, as a function."""

from __future__ import annotations

import os
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.agent.server.api import LocalElasticAgent, WorkerSpec
from mindtorch.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsSpecs, SignalException
from mindtorch.distributed.elastic.multiprocessing.errors import ChildFailedError
from mindtorch.distributed.elastic.rendezvous import RendezvousParameters
from mindtorch.distributed.elastic.rendezvous import registry as rdzv_registry
from mindtorch.distributed.elastic.rendezvous.utils import parse_rendezvous_endpoint
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["LaunchConfig", "elastic_launch", "launch_agent"]

_logger = get_logger(__name__)
_RENDEZVOUS_SECONDS = 900


@dataclass
class LaunchConfig:
    """Nodes, workers, rendezvous, restarts and logs of a run."""

    min_nodes: int
    max_nodes: int
    nproc_per_node: int
    logs_specs: LogsSpecs | None = None
    run_id: str = ""
    role: str = "default_role"
    rdzv_endpoint: str = ""
    rdzv_backend: str = "etcd"
    rdzv_configs: dict[str, Any] = field(default_factory=dict)
    rdzv_timeout: int = -1
    max_restarts: int = 3
    monitor_interval: float = 0.1
    start_method: str = "spawn"
    log_line_prefix_template: str | None = None
    metrics_cfg: dict[str, str] = field(default_factory=dict)
    local_addr: str | None = None
    event_log_handler: str = "null"
    numa_options: Any = None
    signals_to_handle: str = "SIGTERM,SIGINT,SIGHUP,SIGQUIT"
    duplicate_stdout_filters: list[str] | None = None
    duplicate_stderr_filters: list[str] | None = None
    virtual_local_rank: bool = False
    shutdown_timeout: int | None = None

    def __post_init__(self) -> None:
        if self.rdzv_timeout != -1:
            self.rdzv_configs["timeout"] = self.rdzv_timeout
        else:
            self.rdzv_configs.setdefault("timeout", _RENDEZVOUS_SECONDS)
        if self.logs_specs is None:
            self.logs_specs = DefaultLogsSpecs()
        if self.shutdown_timeout is None:
            self.shutdown_timeout = int(os.environ.get("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "30"))
        elif self.shutdown_timeout < 0:
            raise ValueError(f"shutdown_timeout must be non-negative, got {self.shutdown_timeout}")
        if self.numa_options is not None:
            raise NotImplementedError("binding of workers to NUMA nodes is not offered")
        if self.event_log_handler != "null":
            raise NotImplementedError(f"the event log handler {self.event_log_handler!r} is not offered, only 'null'")


class elastic_launch:
    """Runs a function or a program by workers: `elastic_launch(config, entrypoint)(*args)` gives what they return."""

    def __init__(self, config: LaunchConfig, entrypoint: Any, health_check_server: Any = None) -> None:
        self._config = config
        self._entrypoint = entrypoint
        self._health_check_server = health_check_server

    def __call__(self, *args: Any) -> dict[int, Any]:
        return launch_agent(self._config, self._entrypoint, list(args), self._health_check_server)


def _get_entrypoint_name(entrypoint: Any, args: list[Any]) -> str:
    if callable(entrypoint):
        return str(entrypoint.__name__)
    if entrypoint == sys.executable:
        return next((arg for arg in args if arg[0] != "-"), "")
    return entrypoint or ""


def _get_addr_and_port(parameters: RendezvousParameters) -> tuple[str | None, int | None]:
    """Return where the workers' store is, if the command line says so."""
    if parameters.backend != "static":
        return None, None
    endpoint = parameters.endpoint.strip()
    if not endpoint:
        raise ValueError("Endpoint is missing in endpoint. Try to add --master-addr and --master-port")
    address, port = parse_rendezvous_endpoint(endpoint, default_port=-1)
    if port == -1:
        raise ValueError(f"port is missing in endpoint: {endpoint}. Try to specify --master-port")
    return address, port


def launch_agent(
    config: LaunchConfig, entrypoint: Any, args: list[Any], health_check_server: Any = None
) -> dict[int, Any]:
    """Run this node's workers; return what they return by global rank.

    Raises:
        ChildFailedError: a worker failed after the last restart.
    """
    if health_check_server is not None:
        raise NotImplementedError("health check servers are not offered")
    if not config.run_id:
        config.run_id = str(uuid.uuid4().int)
        _logger.warning("config has no run_id, generated a random run_id: %s", config.run_id)
    parameters = RendezvousParameters(
        backend=config.rdzv_backend,
        endpoint=config.rdzv_endpoint,
        run_id=config.run_id,
        min_nodes=config.min_nodes,
        max_nodes=config.max_nodes,
        local_addr=config.local_addr,
        **config.rdzv_configs,
    )
    master_addr, master_port = _get_addr_and_port(parameters)
    os.environ["TORCHELASTIC_SIGNALS_TO_HANDLE"] = config.signals_to_handle
    spec = WorkerSpec(
        role=config.role,
        local_world_size=config.nproc_per_node,
        entrypoint=entrypoint,
        args=tuple(args),
        rdzv_handler=rdzv_registry.get_rendezvous_handler(parameters),
        max_restarts=config.max_restarts,
        monitor_interval=config.monitor_interval,
        master_addr=master_addr,
        master_port=master_port,
        local_addr=config.local_addr,
        duplicate_stdout_filters=config.duplicate_stdout_filters,
        duplicate_stderr_filters=config.duplicate_stderr_filters,
        virtual_local_rank=config.virtual_local_rank,
    )
    if config.logs_specs is None or config.shutdown_timeout is None:
        raise AssertionError
    agent = LocalElasticAgent(
        spec,
        config.logs_specs,
        start_method=config.start_method,
        log_line_prefix_template=config.log_line_prefix_template,
        shutdown_timeout=config.shutdown_timeout,
    )
    ends_run = True
    try:
        result = agent.run()
        if result.is_failed():
            raise ChildFailedError(name=_get_entrypoint_name(entrypoint, args), failures=result.failures)
        return result.return_values
    except SignalException:  # this node was asked to end, not the run
        ends_run = False
        raise
    finally:
        if ends_run:
            spec.rdzv_handler.shutdown()


adopt(globals())
