"""The writer of one event file."""

from __future__ import annotations

import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata
from tensorboard.summary.writer.event_file_writer import EventFileWriter

__all__ = ["FileWriter"]


class FileWriter:
    """Adds events to one file of a folder; a thread of its own writes them."""

    def __init__(self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "") -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Return the folder."""
        logdir: str = self.event_writer.get_logdir()
        return logdir

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """Add a graph and the metadata of its run."""
        graph, metadata = graph_profile
        self.add_event(Event(graph_def=graph.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=metadata.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Add an event, of now when no time is given."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)  # also of an array of one
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Add a summary."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Return when what was added is in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what was added and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begin another file in the folder, after `close`."""
        self.event_writer.reopen()
