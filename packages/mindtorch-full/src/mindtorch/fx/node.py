"""`torch.fx.node`: a step of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx import _impure
from mindtorch.fx._impure import has_side_effect
from mindtorch.fx._protocols import GraphLike
from mindtorch.fx._spelling import _format_arg, _get_qualified_name, _type_repr, pretty_target
from mindtorch.fx.immutable_collections import immutable_dict, immutable_list
from mindtorch.fx.operator_schemas import normalize_function, normalize_module

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

Argument = Any
Target = Any
BaseArgumentTypes = Any

_LEGAL_OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Return `a` with `fn` applied to everything in its tuples, lists, dicts and slices; lists and dicts come back immutable.

    >>> from torch.fx.node import map_aggregate
    >>> map_aggregate([1, (2, {"a": 3})], lambda x: x * 10)
    [10, (20, {'a': 30})]
    """
    if isinstance(a, tuple):
        changed = [map_aggregate(one, fn) for one in a]
        return type(a)(*changed) if hasattr(a, "_fields") else tuple(changed)
    if isinstance(a, list):
        return immutable_list([map_aggregate(one, fn) for one in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Return `a` with `fn` applied to every node in it.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> torch.fx.node.map_arg([x, 1], lambda node: node.name)
    ['x', 1]
    """
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda one: fn(one) if isinstance(one, Node) else one)


def _shown_type(target: Any) -> str:
    kind = getattr(target, "__qualname__", None)
    if isinstance(target, type) or kind is None or not callable(target):
        return (
            type(target).__name__ if isinstance(target, str) else f"{type(target).__module__}.{type(target).__name__}"
        )
    name = _get_qualified_name(target)
    return name.replace("torch.", "torch._VariableFunctionsClass.", 1) if name.count(".") == 1 else name


class Node:
    """One step: an operation, its target, its arguments, and the nodes that use what it gives.

    Nodes are made by a `Graph` and stand in its circular list, whose sentinel has the op `root`.

    >>> [node.name for node in torch.fx.symbolic_trace(lambda x: x + 1).graph.nodes]
    ['x', 'add', 'output']
    """

    def __init__(
        self,
        graph: GraphLike,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in _LEGAL_OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function":
            if not callable(target):
                shown = f"Node [graph = {graph}, name = '{name}']"
                raise ValueError(f"{shown} target {target} has type {_shown_type(target)} but a Callable is expected")
        elif not isinstance(target, str):
            shown = f"Node [graph = {graph}, name = '{name}']"
            raise ValueError(f"{shown} target {target} has type {_shown_type(target)} but a str is expected")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._prev = self._next = self
        self._erased = False
        self._rank = 0
        self._repr_fn: Callable[[Node], str] | None = None
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = immutable_dict()
        self._update_args_kwargs(args, kwargs)

    # Where the node stands

    @property
    def next(self) -> Node:
        """The node after this one; the sentinel after the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one; the sentinel before the first."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x` to stand before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x
        self.graph._ranked = False

    _prepend = prepend

    def append(self, x: Node) -> None:
        """Move `x` to stand after this node."""
        if self._next is not x:
            self._next.prepend(x)

    def _remove_from_list(self) -> None:
        before, after = self._prev, self._next
        before._next, after._prev = after, before
        self.graph._ranked = False

    @property
    def _sort_key(self) -> int:
        self.graph._rank_nodes()
        return self._rank

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # Arguments

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments. Assigning them updates the users of the nodes in them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update_args_kwargs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name. Assigning them updates the users of the nodes in them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update_args_kwargs(self._args, k)

    def _update_args_kwargs(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}

        def note(node: Node) -> Node:
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args = map_arg(tuple(args), note)
        self._kwargs = map_arg(dict(kwargs), note)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in order."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Put `arg` in the place of the positional argument `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert `arg` before the positional argument `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Give the argument `key` the value `arg`."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use `new_input` wherever the arguments use `old_input`."""
        self._swap_inputs({old_input: new_input})

    def _replace_input_with(self, old_input: Node, new_input: Node) -> None:
        self.replace_input_with(old_input, new_input)

    def _swap_inputs(self, swaps: dict[Node, Any]) -> None:
        owner = self.graph.owning_module
        for hook in getattr(owner, "_replace_hooks", ()):
            for old, new in swaps.items():
                hook(old=old, new=new.name, user=self)
        changed = map_arg((self.args, self.kwargs), lambda node: swaps.get(node, node))
        self._update_args_kwargs(*changed)

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let every user use `replace_with` instead, and return those that now do.

        Args:
            delete_user_cb: which users to change, all without it.
            propagate_meta: `replace_with` takes this node's `meta`, and must have none of its own.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has "
                    ".meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user._swap_inputs({self: replace_with})
        return changed

    # What it says of itself

    @property
    def stack_trace(self) -> str | None:
        """The lines of the program that made the node, None where they were not recorded."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether the node does more than give its value, so that removing it changes the program."""
        return _impure.is_impure(self, impure_random)

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn is not None else self.name

    @staticmethod
    def _pretty_print_target(target: object) -> str:
        return pretty_target(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return the node's line in the text of its graph.

        Args:
            placeholder_names: a list that gets what a placeholder's line says; the line is then None.
            maybe_return_typename: a list whose first item gets the type of the graph's result.
            include_tensor_metadata: write what `meta["val"]` says of a tensor.
        """
        kind = f"{_type_repr(self.type)} " if self.type else ""
        if include_tensor_metadata:
            kind = self.graph._tensor_note(self) or kind
        start = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f": {_type_repr(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{start}[target={self.target}]{default}"
        if self.op == "get_attr":
            return f"{start}[target={pretty_target(self.target)}]"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        shown = f"args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)}"
        return f"{start}[target={pretty_target(self.target)}]({shown})"

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """Return the arguments as the target's signature has them, an `ArgsKwargsPair`; None where they cannot be told."""
        if self.op == "call_function":
            return normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs)
        return None


adopt(globals())
