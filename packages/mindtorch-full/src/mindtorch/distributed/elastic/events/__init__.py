"""What agents and nodes tell of their lives, as records of Python's `logging`: nobody hears them unless it asks to."""

from __future__ import annotations

import inspect
import logging
import os
import socket
import traceback

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.events.api import Event, EventMetadataValue, EventSource, NodeState, RdzvEvent
from mindtorch.distributed.elastic.events.handlers import get_logging_handler

__all__ = [
    "Event",
    "EventMetadataValue",
    "EventSource",
    "NodeState",
    "RdzvEvent",
    "construct_and_record_rdzv_event",
    "get_logging_handler",
    "record",
    "record_rdzv_event",
]

_loggers: dict[str, logging.Logger] = {}


def _get_or_create_logger(destination: str = "null") -> logging.Logger:
    """Return the logger of a destination."""
    if destination not in _loggers:
        logger = logging.getLogger(f"torchelastic-events-{destination}")
        logger.setLevel(os.environ.get("LOGLEVEL", "INFO"))
        logger.propagate = False
        logger.addHandler(get_logging_handler(destination))
        _loggers[destination] = logger
    return _loggers[destination]


def record(event: Event, destination: str = "null") -> None:
    """Tell an event."""
    _get_or_create_logger(destination).info(event.serialize())


def record_rdzv_event(event: RdzvEvent) -> None:
    """Tell an event of a rendezvous."""
    _get_or_create_logger("dynamic_rendezvous").info(event.serialize())


def construct_and_record_rdzv_event(
    run_id: str,
    message: str,
    node_state: NodeState,
    name: str = "",
    hostname: str = "",
    pid: int | None = None,
    master_endpoint: str = "",
    local_id: int | None = None,
    rank: int | None = None,
) -> None:
    """Make an event of a rendezvous and tell it, where somebody hears it; a failure brings its trace."""
    if isinstance(get_logging_handler("dynamic_rendezvous"), logging.NullHandler):
        return
    if not name:
        caller = inspect.stack()[1]
        name = f"{os.path.splitext(os.path.basename(caller.filename))[0]}:{caller.function}"
    event = RdzvEvent(
        name=name,
        run_id=run_id,
        message=message,
        hostname=hostname or socket.getfqdn(),
        pid=pid or os.getpid(),
        node_state=node_state,
        master_endpoint=master_endpoint,
        rank=rank,
        local_id=local_id,
        error_trace=traceback.format_exc() if node_state == NodeState.FAILED else "",
    )
    record_rdzv_event(event)


adopt(globals())
