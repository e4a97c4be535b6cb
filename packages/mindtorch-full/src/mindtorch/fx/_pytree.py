"""`torch.fx._pytree`: trees flattened by a specification rather than by their own shape."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.utils._pytree import LeafSpec, PyTree, TreeSpec

FlattenFuncSpec = Callable[[PyTree, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[PyTree, TreeSpec], bool]

SUPPORTED_NODES: dict[type, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[type, FlattenFuncExactMatchSpec | None] = {}


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Let instances of `cls` be flattened as a specification says; `flatten_fn_spec` gives the children it wants."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: type) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """Return the leaves of `pytree` that `spec` asks for.

    Raises:
        RuntimeError: the specification has a type that nobody registered, or the wrong number of children.
    """
    if spec.is_leaf():
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(
            f"{type(pytree)} does not have a flatten_fn_spec associated with it. Please register one with "
            "torch.fx._pytree.register_pytree_flatten_spec.  If you have serialized your model, make sure that any "
            "custom pytrees have been registered before loading it."
        )
    children = SUPPORTED_NODES[spec.type](pytree, spec)
    wanted = spec.children()
    if len(children) != len(wanted):
        raise RuntimeError(f"the tree has {len(children)} children where its specification has {len(wanted)}")
    found: list[Any] = []
    for child, one in zip(children, wanted, strict=True):
        found.extend(tree_flatten_spec(child, one))
    return found


def _by_key(value: Any, spec: TreeSpec) -> list[Any]:
    return [value[key] for key in spec.context]


def _by_place(value: Any, spec: TreeSpec) -> list[Any]:
    return [value[index] for index in range(spec.num_children)]


def _same_keys(value: Any, spec: TreeSpec) -> bool:
    return set(value) == set(spec.context)


def _same_length(value: Any, spec: TreeSpec) -> bool:
    return len(value) == spec.num_children


register_pytree_flatten_spec(dict, _by_key, _same_keys)
register_pytree_flatten_spec(list, _by_place, _same_length)
register_pytree_flatten_spec(tuple, _by_place, _same_length)
register_pytree_flatten_spec(namedtuple, _by_place, _same_length)  # type: ignore[arg-type]  # a TreeSpec's name

__all__ = [
    "SUPPORTED_NODES",
    "LeafSpec",
    "register_pytree_flatten_spec",
    "tree_flatten_spec",
]

adopt(globals())
