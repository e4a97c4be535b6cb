"""What an event says."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from mindtorch._naming import adopt

__all__ = ["Event", "EventMetadataValue", "EventSource", "NodeState", "RdzvEvent"]

EventMetadataValue = str | int | float | bool | None


class EventSource(StrEnum):
    """Who tells it."""

    AGENT = "AGENT"
    WORKER = "WORKER"


@dataclass
class Event:
    """Something that happened to a worker or its agent."""

    name: str
    source: EventSource
    timestamp: int = 0
    metadata: dict[str, EventMetadataValue] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.serialize()

    @staticmethod
    def deserialize(data: str | Event) -> Event:
        """Return the event of a text."""
        if isinstance(data, Event):
            return data
        known = json.loads(data)
        return Event(**{**known, "source": EventSource[known["source"]]})

    def serialize(self) -> str:
        """Return the event as JSON."""
        return json.dumps(asdict(self))


class NodeState(StrEnum):
    """What a node of a rendezvous does."""

    INIT = "INIT"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass
class RdzvEvent:
    """Something that happened to a node of a rendezvous."""

    name: str
    run_id: str
    message: str
    hostname: str
    pid: int
    node_state: NodeState
    master_endpoint: str = ""
    rank: int | None = None
    local_id: int | None = None
    error_trace: str = ""

    def __str__(self) -> str:
        return self.serialize()

    @staticmethod
    def deserialize(data: str | RdzvEvent) -> RdzvEvent:
        """Return the event of a text."""
        if isinstance(data, RdzvEvent):
            return data
        known = json.loads(data)
        return RdzvEvent(**{**known, "node_state": NodeState[known["node_state"]]})

    def serialize(self) -> str:
        """Return the event as JSON."""
        return json.dumps(asdict(self))


adopt(globals())
