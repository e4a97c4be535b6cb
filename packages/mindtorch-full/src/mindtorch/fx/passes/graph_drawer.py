"""`torch.fx.passes.graph_drawer`: graphs as drawings of Graphviz, made with the package `pydot`."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._codegen import _parse_stack_trace
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._spelling import _format_arg, _get_qualified_name
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.operator_schemas import normalize_function
from mindtorch.fx.passes.shape_prop import TensorMetadata
from mindtorch.nn import Module, Parameter
from mindtorch_storage.lazy_import import LazyModule

__all__ = ["FxGraphDrawer"]

_pydot = LazyModule("pydot", "an optional library")

_COLOR_MAP = {
    "placeholder": '"AliceBlue"',
    "call_module": "LemonChiffon1",
    "get_param": "Yellow2",
    "get_attr": "LightGrey",
    "output": "PowderBlue",
}
_HASH_COLOR_MAP = (
    "CadetBlue1 Coral DarkOliveGreen1 DarkSeaGreen1 GhostWhite Khaki1 LavenderBlush1 LightSkyBlue MistyRose1 MistyRose2 "
    "PaleTurquoise2 PeachPuff1 Salmon Thistle1 Thistle3 Wheat1"
).split()


@compatibility(is_backward_compatible=False)
class FxGraphDrawer:
    """Draws a graph module and the graph modules that it calls.

    Args:
        graph_module: the program.
        name: the drawing's name.
        ignore_getattr: leave out nodes that read attributes.
        ignore_parameters_and_buffers: leave out what the called modules hold.
        skip_node_names_in_args: of the arguments show those that are no nodes.
        parse_stack_trace: show the line of the program that made a node.
        dot_graph_shape: the shape of nodes, `record` without it.
        normalize_args: show arguments by the names that functions give them.

    Raises:
        RuntimeError: there is no `pydot`.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        try:
            self._dot = _pydot.Dot
        except ImportError as error:
            raise RuntimeError(
                "FXGraphDrawer requires the pydot package to be installed. Please install pydot through your favorite Python "
                "package manager."
            ) from error
        self._name = name
        self.dot_graph_shape = "record" if dot_graph_shape is None else dot_graph_shape
        self.normalize_args = normalize_args
        look = (ignore_getattr, ignore_parameters_and_buffers, skip_node_names_in_args, parse_stack_trace)
        self._dot_graphs = {name: self._to_dot(graph_module, name, *look)}
        for node in graph_module.graph.nodes:
            called = self._get_leaf_node(graph_module, node) if node.op == "call_module" else None
            if isinstance(called, GraphModule):
                inner = f"{name}_{node.target}"
                self._dot_graphs[inner] = self._to_dot(called, inner, *look)

    def get_dot_graph(self, submod_name: str | None = None) -> Any:
        """Return the drawing of the module, or of a submodule."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Any:
        """Return the drawing of the module."""
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Any:
        """Return the drawing of a submodule."""
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Any]:
        """Return all drawings by name."""
        return self._dot_graphs

    def _get_node_style(self, node: Node) -> dict[str, str]:
        if node.op in _COLOR_MAP:
            colour = _COLOR_MAP[node.op]
        else:  # one for each target, always the same
            shown = node._pretty_print_target(node.target).encode()
            number = int(hashlib.md5(shown, usedforsecurity=False).hexdigest()[:8], 16)
            colour = _HASH_COLOR_MAP[number % len(_HASH_COLOR_MAP)]
        return self._style(colour)

    def _style(self, colour: str) -> dict[str, str]:
        return {
            "shape": self.dot_graph_shape,
            "fillcolor": colour,
            "style": '"filled,rounded"',
            "fontcolor": "#000000",
        }

    def _get_leaf_node(self, module: Module, node: Node) -> Module:
        """Return the module that a node calls."""
        if not isinstance(node.target, str):
            raise AssertionError(f"Expected str target, got {type(node.target)}")
        found: Any = module
        for part in node.target.split("."):
            if not hasattr(found, part):
                raise RuntimeError(f"{found} does not have attribute {part}!")
            found = getattr(found, part)
        return found

    def _typename(self, target: Any) -> str:
        if isinstance(target, Module):
            return _escaped(torch.typename(target))
        return _escaped(target if isinstance(target, str) else _get_qualified_name(target))

    def _get_node_label(
        self, module: GraphModule, node: Node, skip_node_names_in_args: bool, parse_stack_trace: bool
    ) -> str:
        label = f"{{name=%{node.name}|op_code={node.op}\n"
        if node.op == "call_module":
            called = self._get_leaf_node(module, node)
            constants = getattr(called, "__constants__", ())
            shown = r"\n".join(f"{name}: {getattr(called, name)}" for name in constants)
            label += rf"\n{self._typename(called)}\n|{shown}\n"
        else:
            args, kwargs = self._arguments(node)
            label += rf"|target={self._typename(node.target)}\n"
            label += _listed([_format_arg(one, 8) for one in args], r"|args=(\l", r",\n)\l", skip_node_names_in_args)
            named = [f"{name}: {_format_arg(one, 8)}" for name, one in kwargs.items()]
            label += _listed(named, r"|kwargs={\l", r",\n}\l", skip_node_names_in_args)
            label += rf"|num_users={len(node.users)}\n"
        label += self._tensor_meta_to_label(node.meta.get("tensor_meta"))
        buffer = node.meta.get("buf_meta")
        if buffer is not None:
            label += rf"|buf={buffer.name}\n|n_origin={buffer.n_origin}\n"
        line = _parse_stack_trace(node.stack_trace) if parse_stack_trace and node.stack_trace is not None else None
        if line is not None:
            label += rf"|file={'/'.join(line.file.split('/')[-2:])}:{line.lineno} {line.code}\n"
        return label + "}"

    def _arguments(self, node: Node) -> tuple[Any, Any]:
        """Return a node's arguments, by name if that is wanted and can be told."""
        pair = None
        if self.normalize_args and callable(node.target):
            try:
                pair = normalize_function(node.target, node.args, node.kwargs, normalize_to_only_use_kwargs=True)
            except (RuntimeError, TypeError, ValueError):  # which overload it is cannot be told
                pair = None
        return pair or (node.args, node.kwargs)

    def _tensor_meta_to_label(self, tm: Any) -> str:
        if tm is None:
            return ""
        if isinstance(tm, TensorMetadata):
            shown = (
                f"|dtype={tm.dtype}\n|shape={tuple(tm.shape)}\n|requires_grad={tm.requires_grad}\n|stride={tm.stride}\n"
            )
            return shown.replace("\n", r"\n")
        if isinstance(tm, list | tuple | dict):
            return "".join(map(self._tensor_meta_to_label, tm.values() if isinstance(tm, dict) else tm))
        raise RuntimeError(f"Unsupported tensor meta type {type(tm)}")

    def _get_tensor_label(self, t: torch.Tensor) -> str:
        return rf"{t.dtype}{list(t.shape)}\n"

    def _to_dot(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool,
        ignore_parameters_and_buffers: bool,
        skip_node_names_in_args: bool,
        parse_stack_trace: bool,
    ) -> Any:
        drawing = self._dot(name, rankdir="TB")
        clusters: dict[str, Any] = {}
        nodes = [node for node in graph_module.graph.nodes if not (ignore_getattr and node.op == "get_attr")]
        for node in nodes:
            label = self._get_node_label(graph_module, node, skip_node_names_in_args, parse_stack_trace)
            buffer = node.meta.get("buf_meta")
            place = drawing
            if buffer is not None and buffer.n_origin > 1:
                place = clusters.setdefault(buffer.name, _pydot.Cluster(buffer.name, label=buffer.name))
            place.add_node(_pydot.Node(node.name, label=label, **self._get_node_style(node)))
            called = self._get_leaf_node(graph_module, node) if node.op == "call_module" else None
            if called is not None and not ignore_parameters_and_buffers and not isinstance(called, GraphModule):
                self._add_tensors(drawing, node, called)
        for cluster in clusters.values():
            cluster.set("color", "royalblue")
            cluster.set("penwidth", "2")
            drawing.add_subgraph(cluster)
        for node in nodes:
            for user in node.users:
                drawing.add_edge(_pydot.Edge(node.name, user.name))
        return drawing

    def _add_tensors(self, drawing: Any, node: Node, called: Module) -> None:
        """Draw the parameters and buffers of a module beside the node that calls it."""
        for held, tensor in itertools.chain(called.named_parameters(), called.named_buffers()):
            name = f"{node.name}.{held}"
            shown = f"{name}|op_code=get_parameter" if isinstance(tensor, Parameter) else r"buffer\l"
            label = f"{{{shown}{self._get_tensor_label(tensor)}}}"
            drawing.add_node(_pydot.Node(name, label=label, **self._style("Salmon")))
            drawing.add_edge(_pydot.Edge(name, node.name))


def _escaped(text: str) -> str:
    """Return a text for a label, where braces have a meaning."""
    return text.replace("{", r"\{").replace("}", r"\}")


def _listed(shown: list[str], start: str, end: str, without_nodes: bool) -> str:
    kept = [one for one in shown if not (without_nodes and "%" in one)]
    if not kept:
        return ""
    text = start + r",\n".join(kept) + end
    if len(kept) == 1:
        text = text.replace(r"\l", "").replace(r"\n", "")
    return _escaped(text)


adopt(globals())
