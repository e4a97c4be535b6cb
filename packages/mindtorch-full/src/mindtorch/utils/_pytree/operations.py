"""Taking trees apart, putting them together, and mapping over their leaves."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from .keys import KeyPath
from .kinds import node_type
from .registry import SUPPORTED_NODES, PyTree
from .spec import TreeSpec, check_spec, treespec_leaf

LeafPredicate = Callable[[PyTree], bool] | None


def tree_is_leaf(tree: PyTree, is_leaf: LeafPredicate = None) -> bool:
    """Whether a value is a leaf: of no registered type, or called one by ``is_leaf``."""
    if is_leaf is not None and is_leaf(tree):
        return True
    return node_type(tree) not in SUPPORTED_NODES


def tree_iter(tree: PyTree, is_leaf: LeafPredicate = None) -> Iterable[Any]:
    """The leaves, one by one."""
    if tree_is_leaf(tree, is_leaf=is_leaf):
        yield tree
        return
    children, _ = SUPPORTED_NODES[node_type(tree)].flatten_fn(tree)
    for child in children:
        yield from tree_iter(child, is_leaf=is_leaf)


def tree_leaves(tree: PyTree, is_leaf: LeafPredicate = None) -> list[Any]:
    """The leaves as a list."""
    return list(tree_iter(tree, is_leaf=is_leaf))


def tree_flatten(tree: PyTree, is_leaf: LeafPredicate = None) -> tuple[list[Any], TreeSpec]:
    """The leaves and the structure they came from."""
    leaves: list[Any] = []

    def visit(node: PyTree) -> TreeSpec:
        kind = node_type(node)
        handler = None if is_leaf is not None and is_leaf(node) else SUPPORTED_NODES.get(kind)
        if handler is None:
            leaves.append(node)
            return treespec_leaf()
        children, context = handler.flatten_fn(node)
        return TreeSpec(kind, context, [visit(child) for child in children])

    return leaves, visit(tree)


def tree_structure(tree: PyTree, is_leaf: LeafPredicate = None) -> TreeSpec:
    """The structure alone."""
    return tree_flatten(tree, is_leaf=is_leaf)[1]


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Build a tree of the given structure from its leaves."""
    return check_spec(treespec).unflatten(leaves)


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Apply ``func`` to every leaf, and to what other trees hold at its place."""
    leaves, spec = tree_flatten(tree, is_leaf=is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Call ``func`` at every leaf for its effects, and return the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf=is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    for row in zip(*columns, strict=True):
        func(*row)
    return tree


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: apply the function to values of these types (or that pass the test), return others unchanged."""
    if isinstance(type_or_types_or_pred, (type, types.UnionType)) or (
        isinstance(type_or_types_or_pred, tuple) and all(isinstance(each, type) for each in type_or_types_or_pred)
    ):

        def chosen(value: Any) -> bool:
            return isinstance(value, type_or_types_or_pred)

    elif callable(type_or_types_or_pred):
        chosen = type_or_types_or_pred
    else:
        raise TypeError("Argument must be a type, a tuple of types, or a callable.")

    def decorate(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        @functools.wraps(func)
        def wrapped(value: Any) -> Any:
            return func(value) if chosen(value) else value

        return wrapped

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: LeafPredicate = None
) -> PyTree:
    """Apply ``func`` to the leaves of these types (or that pass the test)."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: LeafPredicate = None
) -> PyTree:
    """Call ``func`` at the leaves of these types for its effects, and return the tree itself."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafPredicate = None) -> bool:
    """Whether every leaf passes."""
    return all(map(pred, tree_iter(tree, is_leaf=is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafPredicate = None) -> bool:
    """Whether any leaf passes."""
    return any(map(pred, tree_iter(tree, is_leaf=is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafPredicate = None
) -> bool:
    """Whether every leaf of these types passes."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf=is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: LeafPredicate = None
) -> bool:
    """Whether any leaf of these types passes."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf=is_leaf) if isinstance(leaf, type_or_types))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of a call's arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_iter(tree)]


def broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: LeafPredicate = None) -> list[Any] | None:
    """One value per leaf of ``treespec``, where a leaf of ``tree`` stands for all below it; None if it does not fit."""
    check_spec(treespec)
    if tree_is_leaf(tree, is_leaf=is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    kind = node_type(tree)
    if kind != treespec.type:
        return None
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec._children, strict=True):
        part = broadcast_to_and_flatten(child, spec, is_leaf=is_leaf)
        if part is None:
            return None
        result += part
    return result


def _keyed_leaves(path: KeyPath, tree: PyTree, is_leaf: LeafPredicate) -> Iterable[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf=is_leaf):
        yield path, tree
        return
    handler = SUPPORTED_NODES[node_type(tree)]
    if handler.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {handler.type}. "
            "Please pass a flatten_with_keys_fn argument to register_pytree_node."
        )
    children, _ = handler.flatten_with_keys_fn(tree)
    for key, child in children:
        yield from _keyed_leaves((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: LeafPredicate = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with the path that leads to it."""
    return list(_keyed_leaves((), tree, is_leaf))


def tree_flatten_with_path(tree: PyTree, is_leaf: LeafPredicate = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves with their paths, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Like :func:`tree_map`, with the path of the leaf as first argument."""
    keyed, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [[path for path, _ in keyed], [leaf for _, leaf in keyed], *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(func(*row) for row in zip(*columns, strict=True))
