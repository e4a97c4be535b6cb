"""`torch.fx.passes.reinplace`: operators that may change their argument, as they do."""

from __future__ import annotations

import collections
import operator
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes._aliases import FakeResults, storage_of, storages_of
from mindtorch.utils._pytree import tree_leaves
from mindtorch_dispatch.extend.overloads import OpOverload

__all__ = ["reinplace"]

_aten = torch.ops.aten
_VIEW_INVERSE_MAP: dict[Any, Any] = {
    _aten.diagonal_scatter.default: _aten.diagonal.default,
    _aten.select_scatter.default: _aten.select.int,
    _aten.slice_scatter.default: _aten.slice.Tensor,
    _aten.as_strided_scatter.default: _aten.as_strided.default,
}
"""Operators that give a copy of a tensor with a view of it replaced, and that view."""


def _maybe_get_inplace_op(op: Any) -> Any:
    """Return the overload that does what `op` does in its first argument, None where there is none."""
    if not isinstance(op, OpOverload):
        return None
    wanted = op._schema.arguments
    if wanted[0].alias_info is not None:  # a view
        return None
    packet = getattr(getattr(torch.ops, op.namespace), f"{op.overloadpacket.__name__}_", None)
    overloads = [] if packet is None else [getattr(packet, name) for name in packet.overloads()]
    found = [
        one
        for one in overloads
        if len(one._schema.arguments) == len(wanted)
        and all(str(a.type) == str(b.type) for a, b in zip(one._schema.arguments, wanted, strict=True))
    ]
    if len(found) > 1:
        raise AssertionError(f"Expected exactly 1 matching inplace overload, got {len(found)}")
    return found[0] if found else None


class _Reuse:
    """The nodes that use each storage, and which of them the pass has done away with."""

    def __init__(self, gm: GraphModule) -> None:
        self.gm = gm
        self.inputs = {
            storage_of(node)
            for node in gm.graph.find_nodes(op="placeholder")
            if isinstance(node.meta["fake_result"], torch.Tensor)
        }
        self.nodes: dict[Any, set[Node]] = collections.defaultdict(set)
        for node in gm.graph.nodes:
            for storage in storages_of(node):
                self.nodes[storage].add(node)
        self.gone: dict[Node, None] = {}

    def may_change(self, node: Node) -> bool:
        """Return whether a node is an operator of a tensor that is no input, has the result's size and dtype, and occurs once."""
        if node.op != "call_function" or not isinstance(node.target, OpOverload):
            return False
        arguments = node.target._schema.arguments
        if not arguments or str(arguments[0].type) != "Tensor" or not node.args or not isinstance(node.args[0], Node):
            return False
        own, made = (tree_leaves(one.meta["fake_result"]) for one in (node.args[0], node))
        differs = len(own) == len(made) and any(
            a.numel() != b.numel() or a.dtype != b.dtype or torch._debug_has_internal_overlap(a) == 1
            for a, b in zip(own, made, strict=True)
        )
        if differs and str(node.target) != "aten.resize.default":
            return False
        return storage_of(node.args[0]) not in self.inputs and sum(one is node.args[0] for one in node.args) == 1

    def later_uses(self, aliases: set[Node], place: int) -> set[Node]:
        """Return the nodes after a place that use one of the aliases, but for those that only make another alias."""
        return {
            user
            for one in aliases
            for user in one.users
            if user.meta.get("node_idx", -1) > place
            and not (user in aliases and (isinstance(user.target, OpOverload) or user.target is operator.getitem))
        }

    def undoings(self, uses: set[Node], aliases: set[Node]) -> list[Node]:
        """Return the uses that only put a changed view back into its base: a write to the view does that already."""
        return [
            node
            for node in sorted(uses, key=lambda one: one.meta["node_idx"])
            if node.target in _VIEW_INVERSE_MAP
            and any(_is_view_of(node, one) for one in aliases if "view_of" in one.meta)
        ]

    def replace(self, old: Node, after: int) -> None:
        """Let the users of a node after a place use its first argument, which is the result now."""
        new = old.args[0]
        for user in [one for one in old.users if one.meta["node_idx"] > after]:
            user.args, user.kwargs = map_arg((user.args, user.kwargs), lambda one: new if one is old else one)
            before, theirs = set(storages_of(old)), set(storages_of(user))
            if len(before) == 1 and before == theirs:
                self.join(storage_of(new), theirs.pop())

    def join(self, one: Any, other: Any) -> None:
        """Let two storages be one."""
        self.nodes[one] = self.nodes[other] = self.nodes[one] | self.nodes[other]

    def write_view(self, node: Node) -> None:
        """Copy into the view, before a node that gives a copy of the base with the view replaced."""
        graph = self.gm.graph
        with graph.inserting_before(node):
            view = graph.call_function(_VIEW_INVERSE_MAP[node.target], (node.args[0], *node.args[2:]), node.kwargs)
            graph.call_function(_aten.copy_.default, (view, node.args[1]), {})
        self.gone[node] = None


def _is_view_of(node: Node, alias: Node) -> bool:
    """Return whether a node puts back the view that `alias` is."""
    base = alias.meta["view_of"].meta["fake_result"]
    if not _same_place(base, node.args[0].meta["fake_result"]):
        return False
    try:
        view = _VIEW_INVERSE_MAP[node.target](base, *node.args[2:], **node.kwargs)
    except (RuntimeError, IndexError, TypeError):  # the arguments are those of another view
        return False
    return _same_place(view, alias.meta["fake_result"])


def _same_place(a: Any, b: Any) -> bool:
    return (a.size(), a.stride(), a.storage_offset()) == (b.size(), b.stride(), b.storage_offset())


@compatibility(is_backward_compatible=True)
def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """Let operators of a functional graph of aten write into their first argument where nobody needs it afterwards.

    `make_fx(functionalize(f))` makes such graphs. Inputs of the program are left as they are.

    Args:
        gm: is changed and returned.
        sample_args: arguments of the program, which tell what shares memory.
    """
    FakeResults(gm).propagate(*sample_args)
    reuse = _Reuse(gm)
    for node in gm.graph.nodes:
        if not reuse.may_change(node):
            continue
        place = node.meta["node_idx"]
        own = storage_of(node.args[0])
        uses = reuse.later_uses(reuse.nodes[own], place)
        undone = reuse.undoings(uses, reuse.nodes[own])
        if uses.difference(undone):
            continue
        if node.target in _VIEW_INVERSE_MAP and node not in reuse.gone:
            reuse.write_view(node)
        else:
            inplace = _maybe_get_inplace_op(node.target)
            if inplace is None:
                continue
            node.target = inplace
        reuse.join(own, storage_of(node))
        reuse.gone.update(dict.fromkeys(undone))
        for old in (node, *undone):
            reuse.replace(old, place)
    for node in reuse.gone:
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


adopt(globals())
