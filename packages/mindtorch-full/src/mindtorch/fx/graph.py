"""`torch.fx.graph`: a program as a list of nodes."""

from __future__ import annotations

import contextlib
import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx import _checks
from mindtorch.fx._codegen import (  # noqa: F401 (their names in torch)
    CodeGen,
    PythonCode,
    _parse_stack_trace,
    _ParsedStackTrace,
    _PyTreeCodeGen,
    _PyTreeInfo,
)
from mindtorch.fx._names import CustomBuiltin as _CustomBuiltin  # noqa: F401
from mindtorch.fx._names import _is_magic, _Namespace, _snake_case
from mindtorch.fx._node_list import _InsertPoint, _node_list
from mindtorch.fx._notes import PLAIN, described
from mindtorch.fx._statements import INPLACE_METHODS as inplace_methods  # noqa: F401
from mindtorch.fx._statements import MAGIC_METHODS as magic_methods  # noqa: F401
from mindtorch.fx._statements import _format_target  # noqa: F401
from mindtorch.fx.node import Node, map_arg
from mindtorch_storage.lazy_import import LazyModule

_tabulate = LazyModule("tabulate", "an optional library")

__all__ = ["CodeGen", "Graph", "PythonCode"]

TransformCodeFunc = Callable[[list[str]], list[str]]


class Graph:
    """A program: nodes in the order in which they run.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(self, owning_module: Any = None, tracer_cls: type | None = None, tracer_extras: Any = None) -> None:
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._ranked = False
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend

    @property
    def owning_module(self) -> Any:
        """The `GraphModule` whose graph this is, if one has it."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """The nodes in order; may be changed while they are walked."""
        return _node_list(self)

    def _rank_nodes(self) -> None:
        """Number the nodes, unless nothing moved since they were."""
        if not self._ranked:
            for number, node in enumerate(self.nodes):
                node._rank = number
            self._root._rank = self._len
            self._ranked = True

    # Making nodes

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Return a new node, placed at the insertion point.

        Raises:
            AssertionError: no such op, or arguments that are no tuple or dict.
            ValueError: a target that the op does not take.
        """
        args, kwargs = args or (), kwargs or {}
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        node = Node(self, self._graph_namespace.create_name(candidate, None), op, target, args, kwargs, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", ()):
            hook(node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str | None:
        if callable(target):
            found = target.__name__
        else:
            if not isinstance(target, str):
                raise AssertionError(f"Expected target to be str, got {type(target)}")
            found = target[2:-2] if _is_magic(target) else target
        return _snake_case(found)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty) -> Node:
        """Return a node for an input of the program."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Return a node that fetches an attribute of the owning module; warns when it has none of that name."""
        if self.owning_module is not None and not _checks.attribute_exists(self.owning_module, qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Return a node that calls a submodule of the owning module."""
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Return a node that calls a method of its first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Return a node that calls a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Return a node that makes `result`, nodes in any containers, the result of the program."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def output_node(self) -> Node:
        """Return the last node, which must be the output."""
        last = next(iter(reversed(self.nodes)))
        if last.op != "output":
            raise AssertionError(f"Expected output node, got op={last.op}")
        return last

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Return a copy of a node of any graph here; `arg_transform` gives the nodes to use for its arguments."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"Expected dict, got {type(kwargs)}")
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Any], return_output_node: bool = False) -> Any:
        """Copy the nodes of `g` here, but for those in `val_map`, which gets the others; return what `g` gives, if it
        has an output, and the output's node too when `return_output_node`."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda one: val_map[one])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda one: val_map[one])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        copied: dict[Node, Any] = {}
        found = made.graph_copy(self, copied, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        if found is not None:
            result, old = found
            output = made.output(result, type_expr=getattr(old, "type", None))
            output.meta = copy.copy(old.meta)
        if memo is not None:
            memo.update((id(old), new) for old, new in copied.items())
        return made

    # Changing

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Place new nodes before `n`, at the start without it, until the returned context is left."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Place new nodes after `n`, at the end without it, until the returned context is left."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses.

        Raises:
            RuntimeError: the node has users, or is of another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", ()):
            hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._update_args_kwargs(*map_arg((to_erase.args, to_erase.kwargs), lambda one: None))

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes that nobody uses and that do nothing else; return whether there were any."""
        self.lint()
        impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.users.clear()
            self.erase_node(node)

    # Asking

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """Return the nodes of an op, and of a target, in order."""
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function op")
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def lint(self) -> None:
        """Check that the nodes are in order, have names of their own and targets that exist.

        Raises:
            RuntimeError: what is wrong.
        """
        _checks.lint(self)

    def _tensor_note(self, node: Node) -> str | None:
        text = described(node.meta.get("val"), PLAIN, include_stride=True, include_device=True)
        return f'Tensor "{text}"' if text else None

    def __str__(self) -> str:
        lines = [node.format_node([]) for node in self.nodes]
        return "\n    ".join(["graph():", *(line for line in lines if line)])

    def print_tabular(self) -> None:
        """Print the nodes as a table; needs the package `tabulate`."""
        try:
            tabulate = _tabulate.tabulate
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    # Code

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders, given the arguments of the program."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return the result of the program, given the value of the output."""
        return self._codegen.process_outputs(out)

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """Return the program as source, with the names it needs; `root_module` is the expression for its module.

        Args:
            verbose: with comments for the lines of the program, and what is known of tensors.
            expanded_def: a line for each parameter.

        Raises:
            NotImplementedError: `record_func` or `additional_meta`.
        """
        if record_func or additional_meta:
            raise NotImplementedError("Graph.python_code(): record_func and additional_meta are not offered")
        return self._codegen._gen_python_code(
            self.nodes,
            root_module,
            _Namespace(),
            verbose=verbose,
            include_stride=include_stride,
            include_device=include_device,
            colored=colored,
            expanded_def=expanded_def,
        )

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` write the program's source."""
        self._codegen = codegen

    def on_generate_code(
        self, make_transformer: Callable[[TransformCodeFunc | None], TransformCodeFunc]
    ) -> contextlib.AbstractContextManager[None]:
        """Change the lines of generated code: `make_transformer` gets the function that does, or None, and gives a new one,
        until the returned context is left."""
        old = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(old)

        @contextlib.contextmanager
        def restored() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = old

        return restored()


adopt(globals())
