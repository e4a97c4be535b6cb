"""The backward engine: runs ready nodes by falling sequence number, as torch does, so hook order is torch's.

A `GraphTask` lives in the calling thread. Re-entrant backward is a nested call (in a fresh thread when it nests deep, so
that Python's stack suffices); backward from several threads runs one task per thread, and leaves are guarded by
`accumulate.lock`.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

from mindtorch_dispatch.execute.profiling import BACKWARD, FUNCTION
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.state import PIPELINE_MASK, Mode, state
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.deferred import settle
from mindtorch_storage.references import is_unshared

from . import accumulate, anomaly
from .hooks import run_post_hooks, run_pre_hooks, run_retain_hooks, run_tensor_hooks
from .node import AccumulateGrad, Node, OpNode
from .reduction import fit
from .saved import hook_stack

NESTING = 15
"""Re-entrant backward passes on one Python stack; the next one runs in a thread of its own."""

_local = threading.local()
_anomaly = anomaly._settings


def running_tasks() -> list[GraphTask]:
    """Return this thread's running backward passes, the innermost one last."""
    found: list[GraphTask] = _local.__dict__.setdefault("tasks", [])
    return found


def current_task() -> GraphTask | None:
    """Return the innermost backward running in this thread, None outside of one."""
    stack = running_tasks()
    return stack[-1] if stack else None


class GraphTask:
    """One backward pass: what is ready, what each node still waits for, what is captured for `autograd.grad`.

    `needed` are the nodes that must run when only some inputs are asked for, None for all; `captures` says which
    gradients to keep, by node and output number.
    """

    __slots__ = (
        "callbacks",
        "captured",
        "captures",
        "create_graph",
        "keep_graph",
        "needed",
        "node",
        "number",
        "recording",
        "seen",
        "starts",
    )

    numbers = itertools.count()

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.captures: dict[Node, list[tuple[int, int]]] = {}
        self.captured: dict[int, Any] = {}
        self.needed: set[Node] | None = None
        self.seen: dict[Node, int] | None = None
        self.starts: list[Node] = []
        self.node: Node | None = None
        self.callbacks: list[Callable[[], None]] = []
        self.number = next(GraphTask.numbers)
        self.recording: Any = state.recording if state.mode.profiling else None

    def aim_at(self, roots: Sequence[Node], inputs: Sequence[tuple[Node, int]], capture: bool) -> None:
        """Restrict the pass to what leads to `inputs`; with `capture` their gradients are kept, not accumulated."""
        targets = {node for node, _ in inputs}
        between = nodes_between(roots, targets)
        if not capture:
            self.needed = between
            return
        for place, (node, number) in enumerate(inputs):
            self.captures.setdefault(node, []).append((number, place))
        self.needed = {
            node for node in between
            if node not in targets or any(child in between for child, _ in node._edges if child is not None)
        }  # fmt: skip

    def takes_part(self, node: Node) -> bool:
        """True when the pass runs `node`, ran it, or keeps what arrives at it."""
        if self.seen is None:  # the native loop counts for itself
            self._count_dependencies(self.starts)
        return node in self.seen and self.wants(node)  # type: ignore[operator]

    def wants(self, node: Node) -> bool:
        """True when the pass runs `node` or keeps what arrives at it."""
        return self.needed is None or node in self.needed or node in self.captures

    def wanted(self, node: Node) -> list[bool] | None:
        """Return for each edge of `node` whether the pass wants its gradient, None when it wants them all."""
        if self.needed is None:
            return None
        return [child is not None and self.wants(child) for child, _ in node._edges]

    def run(self, roots: list[tuple[Node, int, Any]]) -> None:
        """Propagate the root gradients through the graph. `roots` is emptied, so that nothing holds its gradients."""
        starts = self.starts = list(dict.fromkeys(node for node, _, _ in roots))
        if native_path.propagate is not None and self.recording is None and not _anomaly["enabled"]:
            self._run_native(native_path.propagate, starts, roots)
            return
        waiting = self._count_dependencies(starts)
        buffers = self._fill(roots)
        order = itertools.count()
        heap = [(-node._seq, next(order), node) for node in starts if not waiting[node]]
        heapq.heapify(heap)
        following: Node | None = None  # the one that became ready last: in a chain it never sees the heap
        recording = self.recording
        plain = self.needed is None and recording is None
        depth = 0 if recording is None else len(recording.open)
        tasks = running_tasks()
        tasks.append(self)
        try:
            while heap or following is not None:
                if following is None:
                    node = heapq.heappop(heap)[2]
                elif heap:
                    node = heapq.heappushpop(heap, (-following._seq, next(order), following))[2]
                else:
                    node = following
                following = None
                grads = buffers.pop(node, None) or [None] * max(1, len(node._outputs))
                if plain and node._hooks is None and node.__class__ is not AccumulateGrad:
                    answers = self._run_node(node, grads)
                else:
                    if recording is not None:
                        recording.close(depth)
                        self._open_event(node)
                    answers = self._evaluate(node, grads)
                if not answers:
                    continue
                for index, (child, number) in enumerate(node._edges):
                    if child is None or child not in waiting:
                        continue
                    if answers[index] is not None:
                        if child in buffers or number or len(child._outputs) > 1:
                            self._arrive(buffers, child, number, answers[index])
                        else:
                            buffers[child] = [answers[index]]
                        answers[index] = None
                    left = waiting[child] = waiting[child] - 1
                    if not left:
                        if following is not None:
                            heapq.heappush(heap, (-following._seq, next(order), following))
                        following = child
            if recording is not None:
                recording.close(depth)
            for callback in self.callbacks:
                callback()
        finally:
            tasks.pop()
            if recording is not None:
                recording.close(depth)

    def _run_native(
        self, propagate: Callable[..., None], starts: list[Node], roots: list[tuple[Node, int, Any]]
    ) -> None:
        """As `run`, by the native call path."""
        tasks = running_tasks()
        tasks.append(self)
        try:
            propagate(self, starts, roots)
            for callback in self.callbacks:
                callback()
        finally:
            tasks.pop()

    def _fill(self, roots: list[tuple[Node, int, Any]]) -> dict[Node, list[Any]]:
        """Return the gradients that the roots start with, by node."""
        buffers: dict[Node, list[Any]] = {}
        while roots:
            node, number, grad = roots.pop(0)
            self._arrive(buffers, node, number, grad)
            del grad
        return buffers

    def _count_dependencies(self, roots: Sequence[Node]) -> dict[Node, int]:
        """Return for each node that will run how many gradients it waits for."""
        waiting: dict[Node, int] = dict.fromkeys(roots, 0)
        stack = list(roots)
        everything = self.needed is None
        while stack:
            for child, _ in stack.pop()._edges:
                if child is None:
                    continue
                if child in waiting:
                    waiting[child] += 1
                elif everything or self.wants(child):
                    waiting[child] = 1
                    stack.append(child)
        self.seen = waiting
        return waiting

    @staticmethod
    def _arrive(buffers: dict[Node, list[Any]], node: Node, number: int, grad: Tensor | None) -> None:
        slots = buffers.get(node)
        if slots is None:
            slots = buffers[node] = [None] * max(len(node._outputs), number + 1)
        if slots[number] is None or grad is None:
            slots[number] = grad
            return
        unshared = not state.mode.grad and is_unshared(slots, number)
        have, slots[number] = slots[number], None
        in_place = unshared and accumulate.writable(have, grad)
        slots[number] = accumulate.add_in_place(have, grad) if in_place else accumulate.add(have, grad)

    def _evaluate(self, node: Node, grads: list[Any]) -> list[Any]:
        """Run hooks, captures and the node itself, in torch's order; return one gradient per edge."""
        self.node = node
        hooks = node._hooks
        needed = self.needed is None or node in self.needed
        if not needed:
            self._run_tensor_hooks(node, grads)
        if self.captures:
            for number, place in self.captures.get(node, ()):
                self.captured[place] = grads[number]
        if not needed:
            return []
        self._run_tensor_hooks(node, grads)
        if hooks is not None and hooks.pre:
            grads = run_pre_hooks(hooks.pre, grads)
        if hooks is None or not hooks.post:
            return self._run_late_hooks(node, self._run_node(node, grads))
        given = list(grads)
        return list(run_post_hooks(hooks.post, self._run_node(node, grads), given))

    @staticmethod
    def _run_late_hooks(node: Node, answers: list[Any]) -> list[Any]:
        """Run the hooks that a node got while it ran, from where its saved tensors were unpacked: what arrived is gone."""
        hooks = node._hooks
        if hooks is None or not hooks.post:
            return answers
        return list(run_post_hooks(hooks.post, answers, []))

    def _open_event(self, node: Node) -> None:
        """Open the event of the profiler that a node's turn is, passing on its gradients included."""
        sequence = -1 if node.__class__ is AccumulateGrad else node._seq
        self.recording.begin(f"autograd::engine::evaluate_function: {node.name()}", FUNCTION, sequence)

    def _apply_recorded(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        sequence = -1 if node.__class__ is AccumulateGrad else node._seq
        event = self.recording.begin(node.name(), BACKWARD, sequence, grads)
        try:
            return anomaly.run(node, grads) if _anomaly["enabled"] else node.apply(grads)
        finally:
            self.recording.end(event)

    def _run_node(self, node: Node, grads: list[Any]) -> list[Any]:
        """Run the node on `grads`, which is emptied; return its gradients with the geometry of the inputs."""
        self.node = node
        recorder = node._recorder
        if self.recording is not None:
            answers = self._apply_recorded(node, grads)
        elif _anomaly["enabled"]:
            answers = anomaly.run(node, grads)
        else:
            answers = node.apply(grads) if recorder is None else recorder.backward(node, grads, self.wanted(node))
        grads.clear()
        edges = node._edges
        if len(answers) != len(edges):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid number of gradients - expected {len(edges)}, but got "
                f"{len(answers)}"
            )
        fitted = answers if answers.__class__ is list else list(answers)
        for index, (child, number) in enumerate(edges):
            grad = fitted[index]
            if grad is None or child is None:
                continue
            outputs = child._outputs
            spec = outputs[number] if number < len(outputs) else None
            if grad._sig.spec is not spec and spec is not None:
                fitted[index] = fit(grad, spec, node, index)
        if not self.keep_graph:
            if recorder is None:
                node.release()
            elif recorder.saves_tensors:
                cast(OpNode, node)._saved = None
        return fitted

    @staticmethod
    def _run_tensor_hooks(node: Node, grads: list[Any]) -> None:
        if node.__class__ is AccumulateGrad:
            meta = node.variable._meta
            if meta is not None and meta.hooks:
                run_tensor_hooks(((0, meta.hooks),), grads)
        hooks = node._hooks
        if hooks is not None:
            if hooks.tensor:
                run_tensor_hooks(hooks.tensor, grads)
            if hooks.retain:
                run_retain_hooks(hooks.retain, grads)


def nodes_between(roots: Sequence[Node], targets: set[Node]) -> set[Node]:
    """Return the nodes on the ways from `roots` to `targets`, `targets` included."""
    parents: dict[Node, list[Node]] = {}
    seen = set(roots)
    stack = list(seen)
    while stack:
        node = stack.pop()
        for child, _ in node._edges:
            if child is None:
                continue
            parents.setdefault(child, []).append(node)
            if child not in seen:
                seen.add(child)
                stack.append(child)
    between = set(targets)
    stack = [node for node in targets if node in seen]
    while stack:
        for parent in parents.get(stack.pop(), ()):
            if parent not in between:
                between.add(parent)
                stack.append(parent)
    return between


def run_backward(
    roots: Sequence[tuple[Node, int, Any]],
    *,
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[tuple[Node, int]] | None = None,
    capture: bool = False,
) -> list[Any]:
    """Run a backward pass; return the captured gradients in the order of `inputs` when `capture`, else an empty list.

    With `inputs` and no `capture` only those leaves accumulate. The pass runs with grad mode equal to `create_graph`,
    after what a pipeline has recorded, and its own ops run at once.
    """
    settle()
    task = GraphTask(keep_graph, create_graph)
    if inputs is not None:
        task.aim_at([node for node, _, _ in roots], inputs, capture)
    before, pairs = state.mode, hook_stack.pairs
    hook_stack.pairs = pairs.copy()  # hooks that a backward function enters or leaves, it does for the pass alone
    mode = before.replace(grad=create_graph, include=before.include & ~PIPELINE_MASK)
    try:
        if len(running_tasks()) % NESTING == NESTING - 1:
            _in_thread(task, list(roots), mode)
        else:
            state.mode = mode
            task.run(list(roots))
    finally:
        state.mode, hook_stack.pairs = before, pairs
    return [task.captured.get(place) for place in range(len(inputs))] if capture and inputs is not None else []


def _in_thread(task: GraphTask, roots: list[tuple[Node, int, Any]], mode: Mode) -> None:
    """Run a deeply nested pass on a fresh stack, under this thread's mode; errors come back as they were raised."""
    failures: list[BaseException] = []
    outer = list(running_tasks())

    def work() -> None:
        running_tasks().extend(outer)
        state.mode = mode
        state.recording = task.recording
        try:
            task.run(roots)
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failures:
        raise failures.pop()
