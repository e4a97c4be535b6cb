"""Agents."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.agent.server.api import (
    LocalElasticAgent,
    RunResult,
    Worker,
    WorkerGroup,
    WorkerSpec,
    WorkerState,
)

__all__ = ["LocalElasticAgent", "RunResult", "Worker", "WorkerGroup", "WorkerSpec", "WorkerState"]

adopt(globals())
