"""Questions to the running backward pass: which it is, which node runs, which nodes will."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

from .engine import GraphTask, current_task
from .mode import multithreading
from .node import Node


def will_execute(node: Node) -> bool:
    """Return whether the running backward pass will run `node`, or ran it.

    Raises torch's RuntimeError outside of a pass, and for a leaf whose gradient `autograd.grad` captures.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if not task.takes_part(node):
        return False
    if node in task.captures and not node._edges:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return True


def queue_callback(callback: Callable[[], None]) -> None:
    """Call `callback` when the running backward pass is done; RuntimeError outside of one."""
    task = current_task()
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


def current_graph_task_id() -> int:
    """Return the number of the running backward pass, -1 outside of one."""
    task = current_task()
    return -1 if task is None else task.number


def is_checkpoint_valid() -> bool:
    """Return whether the running backward pass computes all gradients, not just those of chosen inputs."""
    task = current_task()
    return task is None or (task.needed is None and not task.captures)


def current_node() -> Node | None:
    """Return the node that the running backward pass evaluates, None outside of one."""
    task = current_task()
    return None if task is None else task.node


def keeps_graph() -> bool:
    """Return whether the running backward pass keeps saved values; True outside of one."""
    task = current_task()
    return True if task is None else task.keep_graph


def execution_order() -> list[Node]:
    """Return the nodes of the running backward pass in the order in which it runs them.

    Raises torch's RuntimeError outside of a pass, and unless multithreading is switched off.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if multithreading.enabled:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            "disabled, e.g. by running:\n\n"
            ">>> with torch.autograd.set_multithreading_enabled(False):\n"
            "...     torch.autograd.grad(...)\n"
        )
    return _ordered(task)


def _ordered(task: GraphTask) -> list[Node]:
    waiting: dict[Any, int] = dict.fromkeys(task.starts, 0)
    stack = list(task.starts)
    while stack:
        for child, _ in stack.pop()._edges:
            if child in waiting:
                waiting[child] += 1
            elif child is not None and task.wants(child):
                waiting[child] = 1
                stack.append(child)
    arrivals = itertools.count()
    heap = [(-node._seq, next(arrivals), node) for node in task.starts if not waiting[node]]
    heapq.heapify(heap)
    order = []
    while heap:
        node = heapq.heappop(heap)[2]
        order.append(node)
        for child, _ in node._edges:
            if child in waiting:
                waiting[child] -= 1
                if not waiting[child]:
                    heapq.heappush(heap, (-child._seq, next(arrivals), child))
    return order
