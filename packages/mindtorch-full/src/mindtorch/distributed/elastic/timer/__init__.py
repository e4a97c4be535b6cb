"""Timers that end a worker that holds one for too long.

    with expires(after=60):
        train_step()

ends the process where the step takes more than a minute: a server in the agent kills it.
"""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.timer.api import TimerClient, TimerRequest, TimerServer, configure, expires
from mindtorch.distributed.elastic.timer.file_based_local_timer import (
    FileTimerClient,
    FileTimerRequest,
    FileTimerServer,
)
from mindtorch.distributed.elastic.timer.local_timer import LocalTimerClient, LocalTimerServer

__all__ = [
    "FileTimerClient",
    "FileTimerRequest",
    "FileTimerServer",
    "LocalTimerClient",
    "LocalTimerServer",
    "TimerClient",
    "TimerRequest",
    "TimerServer",
    "configure",
    "expires",
]

adopt(globals())
