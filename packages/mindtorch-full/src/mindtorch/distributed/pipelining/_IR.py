"""Models cut into stages by their graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import fx, nn
from mindtorch._naming import adopt
from mindtorch.distributed.pipelining._recording import SplitPoint, pipe_split, record
from mindtorch.distributed.pipelining.stage import PipelineStage

__all__ = ["Pipe", "PipeInfo", "SplitPoint", "build_stage", "pipe_split", "pipeline"]

_NAME = "submod_pp_"


@dataclass
class PipeInfo:
    """What is known of a pipe without its modules."""

    graph: fx.Graph
    num_stages: int
    has_loss_and_backward: bool


def _segments(graph: fx.Graph) -> list[list[fx.Node]]:
    """Return the steps of a graph, cut where it says so; there is no empty part."""
    parts: list[list[fx.Node]] = [[]]
    for node in graph.nodes:
        if node.target is pipe_split:
            parts.append([])
        elif node.op in ("call_function", "call_method", "call_module"):
            parts[-1].append(node)
    return [part for part in parts if part]


class _Cutter:
    """Makes a module of each segment of a graph. A value that a later segment needs goes through all between."""

    def __init__(self, traced: fx.GraphModule) -> None:
        self.traced, self.segments = traced, _segments(traced.graph)
        self.attributes = {
            node.target: _fetched(traced, node.target) for node in traced.graph.nodes if node.op == "get_attr"
        }
        self.inputs = [node for node in traced.graph.nodes if node.op == "placeholder"]
        (self.output,) = (node for node in traced.graph.nodes if node.op == "output")
        self.position = {node: index for index, node in enumerate(traced.graph.nodes)}

    def _needed_after(self, index: int) -> list[fx.Node]:
        """Return the values made by the segments until `index` that later ones, or the output, take."""
        later = [node for segment in self.segments[index + 1 :] for node in segment]
        made = {*self.inputs, *(node for segment in self.segments[: index + 1] for node in segment)}
        taken = {given for node in [*later, self.output] for given in node.all_input_nodes if given in made}
        return sorted(taken, key=self.position.__getitem__)

    def _module(self, taken: list[fx.Node], segment: list[fx.Node], given: list[fx.Node]) -> fx.GraphModule:
        graph, copies = fx.Graph(), {}
        for node in taken:
            copies[node] = _given(graph, node)
        used: dict[str, object] = {}

        def copied(node: fx.Node) -> fx.Node:
            if node not in copies and node.op == "get_attr":
                used[node.target] = self.attributes[node.target]
                copies[node] = graph.get_attr(node.target)
            return copies[node]

        for node in segment:
            copies[node] = graph.node_copy(node, copied)
        results = tuple(copied(node) for node in given)
        graph.output(results[0] if len(results) == 1 else results)
        return fx.GraphModule(used, graph)

    def cut(self) -> fx.GraphModule:
        """Return a module whose parts are the stages."""
        graph, values = fx.Graph(), {}
        for node in self.inputs:
            values[node] = _given(graph, node)
        modules: dict[str, nn.Module] = {}
        taken = self.inputs
        for index, segment in enumerate(self.segments):
            given = self._needed_after(index)
            name = f"{_NAME}{index}"
            modules[name] = self._module(taken, segment, given)
            call = graph.call_module(name, tuple(values[node] for node in taken))
            values |= (
                {given[0]: call}
                if len(given) == 1
                else {node: graph.call_function(_item, (call, place)) for place, node in enumerate(given)}
            )
            taken = given
        used: dict[str, object] = dict(modules)
        for node in self.output.all_input_nodes:
            if node.op == "get_attr":
                used[node.target], values[node] = self.attributes[node.target], graph.get_attr(node.target)
        graph.output(fx.map_arg(self.output.args[0], values.__getitem__))
        return fx.GraphModule(used, graph)


def _given(graph: fx.Graph, node: fx.Node) -> fx.Node:
    """Return an input of a graph for a value of another one."""
    return graph.node_copy(node) if node.op == "placeholder" else graph.placeholder(node.name)


def _has_effect(node: fx.Node) -> bool:
    """Return whether a step does more than to give a value: it cuts the graph, or writes to what it is given."""
    schema = getattr(node.target, "_schema", None)
    return node.op in ("placeholder", "output") or node.target is pipe_split or getattr(schema, "is_mutable", False)


def _item(values: tuple[object, ...], index: int) -> object:
    return values[index]


def _fetched(module: nn.Module, name: str) -> object:
    path, _, last = name.rpartition(".")
    return getattr(module.get_submodule(path), last)


class Pipe(nn.Module):
    """A model cut into stages: made by `pipeline`, run by a schedule; called, it is the model again."""

    def __init__(self, split_gm: fx.GraphModule, num_stages: int, has_loss_and_backward: bool = False) -> None:
        super().__init__()
        self.split_gm, self.num_stages, self.has_loss_and_backward = split_gm, num_stages, has_loss_and_backward

    def forward(self, *args: Any, **kwargs: Any) -> object:
        """Run all stages, one after another."""
        return self.split_gm(*args, **kwargs)

    def get_stage_module(self, stage_idx: int) -> nn.Module:
        """Return the module of a stage."""
        if stage_idx < 0 or stage_idx >= self.num_stages:
            raise ValueError(f"Invalid stage index {stage_idx}!")
        found: nn.Module = getattr(self.split_gm, f"{_NAME}{stage_idx}")
        return found

    def info(self) -> PipeInfo:
        """Return what is known without the modules."""
        return PipeInfo(self.split_gm.graph, self.num_stages, self.has_loss_and_backward)

    def build_stage(
        self, stage_index: int, device: torch.device, group: dist.ProcessGroup | None = None
    ) -> PipelineStage:
        """Return a stage for a schedule; tensors that its graph makes are made on the device."""
        module = self.get_stage_module(stage_index)
        if isinstance(module, fx.GraphModule):
            for node in module.graph.nodes:
                if node.kwargs.get("device") is not None:
                    node.update_kwarg("device", device)
            module.recompile()
        return build_stage(module, stage_index, self.info(), device, group)

    def print_readable(self) -> None:
        """Print the graphs of the stages."""
        self.split_gm.print_readable()

    def __str__(self) -> str:
        return str(self.split_gm)

    def __repr__(self) -> str:
        return repr(self.split_gm)


def build_stage(
    stage_module: nn.Module,
    stage_index: int,
    pipe_info: PipeInfo,
    device: torch.device,
    group: dist.ProcessGroup | None = None,
) -> PipelineStage:
    """Return the stage of a module that a pipe made.

    build_stage(pipe.get_stage_module(rank), rank, pipe.info(), device)
    """
    return PipelineStage(stage_module, stage_index, pipe_info.num_stages, device, group=group)


def pipeline(
    module: nn.Module,
    mb_args: tuple[Any, ...],
    mb_kwargs: Mapping[str, Any] | None = None,
    split_spec: dict[str, SplitPoint] | None = None,
    split_policy: Callable[[fx.GraphModule], fx.GraphModule] | None = None,
) -> Pipe:
    """Cut a model into stages: at modules of some names, or where it calls `pipe_split`.

    The model is called once, with a part of a batch; its graph has the shapes of that call.

        pipe = pipeline(model, (x,), split_spec={"layers.4": SplitPoint.BEGINNING})
        stage = pipe.build_stage(rank, device)
    """
    if split_spec is not None and split_policy is not None:
        raise ValueError("Cannot specify both `split_spec` and `split_policy`. Please use only one of them.")
    traced = record(module, mb_args, mb_kwargs or {}, split_spec or {})
    if split_policy is not None:
        traced = split_policy(traced)
    traced.graph.eliminate_dead_code(_has_effect)
    cutter = _Cutter(traced)
    return Pipe(cutter.cut(), len(cutter.segments))


adopt(globals())
