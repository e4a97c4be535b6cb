"""The structure of a tree without its leaves."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .containers import STANDARD_DICT_TYPES
from .kinds import node_type
from .registry import SUPPORTED_NODES, Context, PyTree


class TreeSpec:
    """A node type, its context, and the specs of its children; a leaf has no type."""

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Context, children_specs: list[TreeSpec]) -> None:
        self.type = type
        self._context = context
        self._children = children_specs
        self.num_children = len(children_specs)
        if type is None:
            self.num_leaves = self.num_nodes = 1
        else:
            self.num_leaves = sum(child.num_leaves for child in children_specs)
            self.num_nodes = 1 + sum(child.num_nodes for child in children_specs)

    @property
    def context(self) -> Context:
        """What besides its children makes the node."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The specs of the children; the older way to them."""
        warnings.warn(
            "`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a single child, "
            "or `treespec.children()` to get all children.",
            FutureWarning,
            stacklevel=2,
        )
        return self._children

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        inner = indent + 2
        children = (",\n" + " " * inner).join(child.__repr__(inner) for child in self._children)
        return f"TreeSpec({self.type.__name__}, {self._context}, [{children}])"

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return self.type is other.type and self._context == other._context and self._children == other._children

    def __hash__(self) -> int:
        context = self._context
        if type(context) is list:
            context = (list, tuple(map(repr, context)))
        return hash(
            (self.type, self.num_leaves, repr(context) if _unhashable(context) else context, tuple(self._children))
        )

    def is_leaf(self) -> bool:
        """Whether this is the spec of a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """A copy of the list of the children's specs."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """The spec of one child."""
        return self._children[index]

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """The subtrees of ``tree`` at the leaves of this spec; ``tree`` must have this structure above them."""
        subtrees: list[PyTree] = []
        self._collect(tree, subtrees)
        return subtrees

    def _collect(self, tree: PyTree, subtrees: list[PyTree]) -> None:
        if self.type is None:
            subtrees.append(tree)
            return
        found = node_type(tree)
        if self.type in STANDARD_DICT_TYPES and found in STANDARD_DICT_TYPES:
            children = self._ordered_values(tree)
        else:
            children = self._matched_children(tree, found)
        for spec, child in zip(self._children, children, strict=True):
            spec._collect(child, subtrees)

    def _matched_children(self, tree: PyTree, found: Any) -> list[PyTree]:
        if found != self.type:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {found!r}.")
        children, context = SUPPORTED_NODES[found].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        # The length limit of a deque is no part of its structure.
        if self.type.__name__ != "deque" and context != self._context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self._context!r}, but got {context!r}."
            )
        return children

    def _ordered_values(self, tree: Any) -> list[PyTree]:
        """The values of any kind of dictionary in this spec's key order."""
        if len(tree) != self.num_children:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(tree)}.")
        keys = self._context[1] if self.type.__name__ == "defaultdict" else self._context
        if set(keys) != set(tree):
            missing, extra = set(keys) - set(tree), set(tree) - set(keys)
            message = ""
            if missing:
                message += f"; missing key(s): {missing}"
            if extra:
                message += f"; extra key(s): {extra}"
            raise ValueError(f"Node keys mismatch{message}.")
        return [tree[key] for key in keys]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Build a tree of this structure from its leaves."""
        items = leaves if isinstance(leaves, (list, tuple)) else list(leaves)
        if len(items) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(items)} "
                f"but the spec refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(items))

    def _build(self, leaves: Any) -> PyTree:
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self._context)


def _unhashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False


class _LeafSpecMeta(type):
    """``isinstance(spec, LeafSpec)`` answers for every leaf, with a hint towards ``is_leaf``."""

    def __instancecheck__(cls, instance: object) -> bool:
        warnings.warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, "
            "use `isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(TreeSpec, metaclass=_LeafSpecMeta):
    """The spec of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def treespec_leaf() -> TreeSpec:
    """The spec of a leaf."""
    return _LEAF


def check_spec(treespec: Any) -> TreeSpec:
    """Refuse what is no spec."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    return treespec


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The spec of a tuple of the given specs."""
    children = list(iterable)
    if any(not isinstance(child, TreeSpec) for child in children):
        raise ValueError(f"Expected a tuple of TreeSpec values, got: {children!r}.")
    return TreeSpec(tuple, None, children)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The spec of a dictionary of the given specs."""
    entries = dict(mapping, **kwargs)
    if any(not isinstance(child, TreeSpec) for child in entries.values()):
        raise ValueError(f"Expected a dictionary of TreeSpec values, got: {entries!r}.")
    return TreeSpec(dict, list(entries.keys()), list(entries.values()))


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree of a spec, with stars for leaves."""
    return repr(check_spec(treespec).unflatten([_Star() for _ in range(treespec.num_leaves)]))
