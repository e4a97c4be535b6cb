"""What checkpointing asks the engine about the backward pass it is in."""

from __future__ import annotations

from mindtorch_autograd.engine import current_task


def current_graph_task_id() -> int:
    """A number of the running backward pass; -1 outside of one."""
    task = current_task()
    return -1 if task is None else task.number


def is_checkpoint_valid() -> bool:
    """Whether the running backward pass computes all gradients, not just those of chosen inputs."""
    task = current_task()
    return task is None or (task.needed is None and not task.captures)
