"""A recording between two breaks, its form, and the fx graph of it."""

from __future__ import annotations

import operator
import traceback
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._dynamo._calls import Form, Recorded, Ref
from mindtorch.amp import autocast_mode


class Segment:
    """Calls in order, their inputs, and the results that the program holds at the end."""

    def __init__(self, mode: Any) -> None:
        self.mode = mode
        self.calls: list[Recorded] = []
        self.frames: list[traceback.FrameSummary] = []
        self.names: list[str] = []
        self.inputs: list[tuple[Any, Any]] = []
        self.marks: list[set[int]] = []
        self.outputs: list[Ref] = []
        self._grad = mode.grad
        self._casts = [mode.autocast]
        self._entered: list[int] = []

    def placeholder(self, name: str, tensor: Any, shadow: Any) -> None:
        """Add an input."""
        taken = set(self.names)
        unique, number = name, 0
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        self.names.append(unique)
        self.inputs.append((type(tensor), shadow))
        marks: set[int] = getattr(tensor, "_dynamo_dynamic_indices", set())
        self.marks.append(marks | getattr(tensor, "_dynamo_weak_dynamic_indices", set()))

    def add(self, call: Recorded, frame: Any) -> int:
        """Add a call that the program makes in `frame`, and return its place."""
        code = frame.f_code
        self.calls.append(call)
        self.frames.append(traceback.FrameSummary(code.co_filename, frame.f_lineno, code.co_name, lookup_line=False))
        return len(self.calls) - 1

    def _set(self, function: Any, args: tuple[Any, ...]) -> int:
        self.calls.append(Recorded("call_function", function, args, {}))
        self.frames.append(traceback.FrameSummary("", 0, "", line=""))
        return len(self.calls) - 1

    def note_state(self, mode: Any) -> None:
        """Record where grad mode and autocast are not what they were at the last call."""
        if mode.grad is not self._grad:
            self._grad = mode.grad
            self._set(torch._C._set_grad_enabled, (mode.grad,))
        casts = mode.autocast
        while casts != self._casts[-1] and casts in self._casts:
            self._casts.pop()
            self._set(autocast_mode._exit_autocast, (Ref(self._entered.pop()),))
        if casts != self._casts[-1]:
            ((device, dtype),) = casts.enabled  # of several at once the call is run with bytes
            self._casts.append(casts)
            self._entered.append(self._set(autocast_mode._enter_autocast, (device, dtype, True, None)))

    @property
    def operations(self) -> int:
        """How many calls a graph of this has."""
        return sum(one.target not in _SETTERS for one in self.calls)

    def form(self) -> Form:
        """Return what tells this recording from others."""
        made = Form()
        made.fix(self.mode.grad, self.mode.inference, self.mode.autocast, len(self.inputs))
        for (kind, fake), marks in zip(self.inputs, self.marks, strict=True):
            made.fix(kind, fake.dtype, fake.device, fake.requires_grad, fake.dim(), fake.is_contiguous())
            made.marked |= {len(made.numbers) + dim % fake.dim() for dim in marks}
            made.add(tuple(fake.shape))
            made.add(() if fake.is_contiguous() else tuple(fake.stride()))
        for index, one in enumerate(self.calls):
            made.fix(one.op, one.target)
            made.add((one.args, tuple(one.kwargs.items())), (index,))
        made.fix(tuple(self.outputs))
        return made

    def written(self, place: int) -> str:
        """Return a call as torch writes it."""
        graph, nodes, _ = self._graph({})
        del graph
        node = nodes[place]
        args = ", ".join(str(one) for one in node.args)
        return f"{node.name} = {node._pretty_print_target(node.target).rpartition('.')[2]}({args})"

    def graph_module(self, varying: dict[tuple[int, ...], str]) -> fx.GraphModule:
        """Return the graph; the numbers at the paths `varying` are its first inputs, under the names that it has for them."""
        graph, nodes, refs = self._graph(varying)
        graph.output(tuple(refs(one) for one in self.outputs))
        graph.eliminate_dead_code(lambda node: node.op != "call_function" or node.target is not operator.getitem)
        del nodes
        return fx.GraphModule(torch.nn.Module(), graph)

    def _graph(self, varying: dict[tuple[int, ...], str]) -> Any:
        graph = fx.Graph()
        numbers = {path: graph.placeholder(name, torch.SymInt) for path, name in varying.items()}
        inputs = []
        for name, (kind, shadow) in zip(self.names, self.inputs, strict=True):
            node = graph.create_node("placeholder", name, (), {}, name=name.lower(), type_expr=kind)
            node.meta["example_value"] = shadow
            inputs.append(node)
        nodes: list[fx.Node] = []
        parts: dict[Ref, fx.Node] = {}

        def of(ref: Ref) -> fx.Node:
            if ref.call is None:
                return inputs[ref.place]
            node = nodes[ref.call]
            for length in range(1, len(ref.path) + 1):
                part = Ref(ref.call, 0, ref.path[:length])
                if part not in parts:
                    parts[part] = graph.call_function(operator.getitem, (node, ref.path[length - 1]))
                node = parts[part]
            return node

        for index, one in enumerate(self.calls):
            args, kwargs = _with_nodes((one.args, tuple(one.kwargs.items())), of, numbers, (index,))
            node = graph.create_node(one.op, one.target, args, dict(kwargs), name=one.hint)
            frame = self.frames[index]
            if frame.filename:
                shown = f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n    {frame.line}\n'
                node.meta["stack_trace"] = shown
            if one.value is not None:
                node.meta["example_value"] = one.value
            nodes.append(node)
        return graph, nodes, of


_SETTERS = (torch._C._set_grad_enabled, autocast_mode._enter_autocast, autocast_mode._exit_autocast)


def _with_nodes(value: Any, of: Any, numbers: Any, path: tuple[int, ...]) -> Any:
    """Return an argument with nodes in place of references, and of the numbers at the paths that vary."""
    if path in numbers:
        return numbers[path]
    if isinstance(value, Ref):
        return of(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with_nodes(one, of, numbers, (*path, at)) for at, one in enumerate(value)))
    if isinstance(value, (tuple, list)):
        return type(value)(_with_nodes(one, of, numbers, (*path, at)) for at, one in enumerate(value))
    if isinstance(value, dict):
        return {key: _with_nodes(one, of, numbers, (*path, at)) for at, (key, one) in enumerate(value.items())}
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(_with_nodes(one, of, numbers, (*path, at)) for at, one in enumerate(parts)))
    return value
