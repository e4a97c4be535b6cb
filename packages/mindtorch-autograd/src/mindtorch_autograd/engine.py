"""The backward engine: runs ready nodes by falling sequence number, as torch does, so hook order is torch's.

A `GraphTask` lives in the calling thread. Re-entrant backward is a nested call; backward from several threads runs
one task per thread, and AccumulateGrad is guarded by `accumulate_lock`.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

from . import anomaly
from .node import AccumulateGrad, Node
from .reduction import fit

accumulate_lock = threading.Lock()
"""Held while a gradient is added to a leaf, which several threads may share."""

_local = threading.local()


def current_task() -> GraphTask | None:
    """Return the innermost backward running in this thread, None outside of one."""
    stack = getattr(_local, "tasks", None)
    return stack[-1] if stack else None


class GraphTask:
    """One backward pass: what is ready, what each node still waits for, what is captured for `autograd.grad`."""

    __slots__ = ("callbacks", "captures", "captured", "create_graph", "ends", "keep_graph", "needed", "number")

    numbers = itertools.count()

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.captures: dict[tuple[Node, int], list[int]] = {}
        self.captured: dict[int, Any] = {}
        self.needed: set[Node] | None = None
        self.ends: set[Node] = set()
        self.callbacks: list[Callable[[], None]] = []
        self.number = next(GraphTask.numbers)

    def run(self, roots: Sequence[tuple[Node, int, Any]]) -> None:
        """Propagate the root gradients through the graph."""
        buffers: dict[Node, list[Any]] = {}
        for node, number, grad in roots:
            self._add(buffers, node, number, grad)
        waiting = _count_dependencies([node for node, _, _ in roots])
        heap: list[tuple[int, int, Node]] = []
        queued: set[Node] = set()
        order = itertools.count()
        for node, _, _ in roots:
            if node not in queued and not waiting.get(node):
                queued.add(node)
                heapq.heappush(heap, (-node._seq, next(order), node))
        tasks = _local.__dict__.setdefault("tasks", [])
        tasks.append(self)
        try:
            while heap:
                node = heapq.heappop(heap)[2]
                grads = buffers.pop(node, None) or [None] * max(1, len(node._outputs))
                edges = node._edges
                for (child, number), grad in zip(edges, self._run_node(node, grads), strict=False):
                    if child is None:
                        continue
                    if grad is not None:
                        self._add(buffers, child, number, grad)
                    waiting[child] -= 1
                    if not waiting[child] and child not in queued:
                        queued.add(child)
                        heapq.heappush(heap, (-child._seq, next(order), child))
                del grads
            for callback in self.callbacks:
                callback()
        finally:
            tasks.pop()

    @staticmethod
    def _add(buffers: dict[Node, list[Any]], node: Node, number: int, grad: Any) -> None:
        slots = buffers.get(node)
        if slots is None:
            slots = buffers[node] = [None] * max(1, len(node._outputs), number + 1)
        elif number >= len(slots):
            slots.extend([None] * (number + 1 - len(slots)))
        have = slots[number]
        slots[number] = grad if have is None else aten.add(have, grad)

    def _run_node(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        nothing: Sequence[Any] = [None] * len(node._edges)
        if self.needed is not None and node not in self.needed:
            return nothing
        if node._tensor_hooks:
            _run_tensor_hooks(node, grads)
        if self.captures:
            for number in range(len(grads)):
                for place in self.captures.get((node, number), ()):
                    self.captured[place] = grads[number]
            if self._only_captured(node):
                return nothing
        if node._pre_hooks:
            for hook in list(node._pre_hooks.values()):
                changed = hook(tuple(grads))
                if changed is not None:
                    grads = list(changed) if isinstance(changed, (tuple, list)) else [changed]
        if isinstance(node, AccumulateGrad):
            with accumulate_lock:
                answers = node.apply(grads)
        else:
            answers = node.apply(grads)
            if anomaly.settings()[0]:
                anomaly.check_gradients(node.name(), answers)
            if not self.keep_graph:
                node.release()
        if node._post_hooks:
            answers = _run_post_hooks(node, answers, grads)
        return answers

    def _only_captured(self, node: Node) -> bool:
        """True for a captured node from which no other wanted node can be reached: its gradient ends there."""
        return node in self.ends


def _count_dependencies(roots: Sequence[Node]) -> dict[Node, int]:
    waiting: dict[Node, int] = {}
    seen = set(roots)
    stack = list(seen)
    while stack:
        for child, _ in stack.pop()._edges:
            if child is None:
                continue
            waiting[child] = waiting.get(child, 0) + 1
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return waiting


def needed_nodes(roots: Sequence[Node], targets: set[Node]) -> set[Node]:
    """Return the nodes between `roots` and `targets`, both included."""
    order: list[Node] = []
    seen = set(roots)
    stack = list(seen)
    while stack:
        node = stack.pop()
        order.append(node)
        for child, _ in node._edges:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    needed = set(targets)
    parents: dict[Node, list[Node]] = {}
    for node in order:
        for child, _ in node._edges:
            if child is not None:
                parents.setdefault(child, []).append(node)
    stack = [node for node in targets if node in seen]
    while stack:
        for parent in parents.get(stack.pop(), ()):
            if parent not in needed:
                needed.add(parent)
                stack.append(parent)
    return needed


def _run_tensor_hooks(node: Node, grads: list[Any]) -> None:
    for number, collections in node._tensor_hooks.items():
        if number >= len(grads) or grads[number] is None:
            continue
        for hooks in collections:
            for hook in list(hooks.values()):
                changed = hook(grads[number])
                if changed is not None:
                    _check_hook_result(grads[number], changed)
                    grads[number] = changed


def _check_hook_result(before: Any, after: Any) -> None:
    if not isinstance(after, TensorBase):
        raise TypeError(f"hook '<unnamed>' has returned a non-tensor value: {type(after).__name__}")
    if before.dtype is not after.dtype:
        raise RuntimeError(
            f"hook '<unnamed>' has changed the type of value (was {before.dtype.type_name} got {after.dtype.type_name})"
        )
    if before.shape != after.shape:
        raise RuntimeError("hook '<unnamed>' has changed the size of value")


def _run_post_hooks(node: Node, answers: Sequence[Any], grads: list[Any]) -> Sequence[Any]:
    for hook in list(node._post_hooks.values()):
        changed = hook(tuple(answers), tuple(grads))
        if changed is not None:
            answers = list(changed) if isinstance(changed, (tuple, list)) else [changed]
    return answers


def run_backward(
    roots: Sequence[tuple[Node, int, Any]],
    *,
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[tuple[Node, int]] | None = None,
    capture: bool = False,
) -> list[Any]:
    """Run a backward pass; return the captured gradients in the order of `inputs` when `capture`, else an empty list.

    With `inputs` and no `capture` only those leaves accumulate. The pass runs with grad mode equal to `create_graph`.
    """
    task = GraphTask(keep_graph, create_graph)
    if inputs is not None:
        task.needed = needed_nodes([node for node, _, _ in roots], {node for node, _ in inputs})
        if capture:
            for place, edge in enumerate(inputs):
                task.captures.setdefault(edge, []).append(place)
            task.ends = {
                node for node, _ in inputs if not any(child in task.needed for child, _ in node._edges if child is not None)
            }
    before = state.mode
    state.mode = before.replace(grad=create_graph, saved_hooks=before.saved_hooks if create_graph else None)
    try:
        checked = [(node, number, _fitted(node, number, grad)) for node, number, grad in roots]
        task.run(checked)
    finally:
        state.mode = before
    return [task.captured.get(place) for place in range(len(inputs))] if capture and inputs is not None else []


def _fitted(node: Node, number: int, grad: Any) -> Any:
    spec = node._outputs[number] if number < len(node._outputs) else None
    return fit(grad, spec) if grad is not None and spec is not None else grad
