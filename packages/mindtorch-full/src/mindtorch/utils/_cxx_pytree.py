"""`torch.utils._cxx_pytree`: trees of nested containers by optree, where that is installed.

Types that are registered with `torch.utils._pytree` are nodes here as well. Dictionaries keep the order of their keys.
"""

from __future__ import annotations

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import mindtorch
from mindtorch._naming import adopt
from mindtorch.torch_version import TorchVersion
from mindtorch.utils import _pytree as python_pytree
from mindtorch.utils._pytree import (
    FlattenFn,
    FlattenWithKeysFn,
    FromDumpableContextFn,
    KeyPath,
    PyTree,
    ToDumpableContextFn,
    UnflattenFn,
    map_only,
    registry,
)

try:
    import optree
    from optree import PyTreeSpec
except ImportError:
    optree = None

if optree is None or not python_pytree._cxx_pytree_exists:
    raise ImportError(
        f"torch.utils._cxx_pytree depends on `optree>={python_pytree._optree_minimum_version}`, which is an optional "
        "dependency of PyTorch. To use it, please upgrade your optree package via `python3 -m pip install --upgrade optree`"
    )

__all__ = list(python_pytree.__all__)  # torch has the same names in both, in one order

TreeSpec: TypeAlias = PyTreeSpec
LeafPredicate = Callable[[PyTree], bool] | None
_NAMESPACE = "mindtorch" if sys.modules.get("torch") not in (None, mindtorch) else "torch"
"""Where optree keeps our types: not among those of a PyTorch in the same process, which would refuse them."""
_PLACE: Any = {"none_is_leaf": True, "namespace": _NAMESPACE}
"""What is asked of optree in every call: None is a leaf, and types are looked for among those registered here."""
_KEYS = "KeyPaths are not yet supported in cxx_pytree."

_ordered = optree.dict_insertion_ordered(True, namespace=_NAMESPACE)
_ordered.__enter__()  # for as long as the process runs: it ends when the object goes
python_pytree._optree_version = TorchVersion(optree.__version__)


# Types


def _private_register_pytree_node(
    cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, **options: Any
) -> None:
    """Tell optree of a type, whose spec is written down by `torch.utils._pytree`."""
    if not optree.is_structseq_class(cls):  # these are nodes for optree by themselves
        optree.register_pytree_node(
            cls, flatten_fn, lambda context, leaves: unflatten_fn(leaves, context), namespace=_NAMESPACE
        )


def register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Make a type an inner node, here and in `torch.utils._pytree`."""
    if flatten_with_keys_fn is not None:
        raise NotImplementedError(_KEYS)
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn)
    registry.register_node(
        cls,
        flatten_fn,
        unflatten_fn,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=to_dumpable_context,
        from_dumpable_context=from_dumpable_context,
    )


def _register_pytree_node(cls: type[Any], flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, **options: Any) -> None:
    """The older, private name of :func:`register_pytree_node`."""
    warnings.warn(
        "`torch.utils._cxx_pytree._register_pytree_node` is deprecated. "
        "Please use `torch.utils._cxx_pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


# Trees


def tree_is_leaf(tree: PyTree, is_leaf: LeafPredicate = None) -> bool:
    """Whether a value is a leaf."""
    return optree.tree_is_leaf(tree, is_leaf=is_leaf, **_PLACE)


def tree_flatten(tree: PyTree, is_leaf: LeafPredicate = None) -> tuple[list[Any], TreeSpec]:
    """The leaves and the structure they came from."""
    return optree.tree_flatten(tree, is_leaf=is_leaf, **_PLACE)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Build a tree of the given structure from its leaves."""
    if not _is_spec(treespec):
        if not _is_spec(leaves):
            raise _no_spec(treespec)
        leaves, treespec = treespec, leaves  # type: ignore[assignment]
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: LeafPredicate = None) -> Iterable[Any]:
    """The leaves, one by one."""
    return optree.tree_iter(tree, is_leaf=is_leaf, **_PLACE)


def tree_leaves(tree: PyTree, is_leaf: LeafPredicate = None) -> list[Any]:
    """The leaves as a list."""
    return optree.tree_leaves(tree, is_leaf=is_leaf, **_PLACE)


def tree_structure(tree: PyTree, is_leaf: LeafPredicate = None) -> TreeSpec:
    """The structure alone."""
    return optree.tree_structure(tree, is_leaf=is_leaf, **_PLACE)


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Apply ``func`` to every leaf, and to what other trees hold at its place."""
    return optree.tree_map(func, tree, *rests, is_leaf=is_leaf, **_PLACE)


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Call ``func`` at every leaf for its effects, and return the tree itself."""
    return optree.tree_map_(func, tree, *rests, is_leaf=is_leaf, **_PLACE)


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: LeafPredicate = None
) -> PyTree:
    """Apply ``func`` to the leaves of these types (or that pass the test)."""
    return tree_map(_map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: LeafPredicate = None
) -> PyTree:
    """Call ``func`` at the leaves of these types for its effects, and return the tree itself."""
    return tree_map_(_map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def _map_only(chosen: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    # A tuple of anything is refused by `isinstance` when a leaf comes, and not before.
    if isinstance(chosen, (type, tuple, types.UnionType)):
        return map_only(lambda value: isinstance(value, chosen))
    return map_only(chosen)


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


def broadcast_prefix(prefix_tree: PyTree, full_tree: PyTree, is_leaf: LeafPredicate = None) -> list[Any]:
    """One value per leaf of ``full_tree``, where a leaf of ``prefix_tree`` stands for all below it."""
    result: list[Any] = []

    def repeat(value: Any, subtree: PyTree) -> None:
        result.extend([value] * tree_structure(subtree, is_leaf=is_leaf).num_leaves)

    tree_map_(repeat, prefix_tree, full_tree, is_leaf=is_leaf)
    return result


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: LeafPredicate = None) -> list[Any] | None:
    """As :func:`broadcast_prefix` for a structure; None if it does not fit."""
    if not _is_spec(treespec):
        raise _no_spec(treespec)
    try:
        return broadcast_prefix(tree, _filled(treespec, 0), is_leaf=is_leaf)
    except ValueError:
        return None


# Structures


def _is_spec(value: Any) -> bool:
    return isinstance(value, (PyTreeSpec, python_pytree.PyTreeSpec))


def _no_spec(value: Any) -> TypeError:
    return TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(value)}.")


def _filled(treespec: TreeSpec, value: Any) -> PyTree:
    return treespec.unflatten([value] * treespec.num_leaves)


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return optree.treespec_leaf(**_PLACE)


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of these."""
    return optree.treespec_tuple(iterable, **_PLACE)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dictionary of these."""
    return optree.treespec_dict(mapping, **kwargs, **_PLACE)


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Write a structure as text, the one that `torch.utils._pytree` writes."""
    if not _is_spec(treespec):
        raise _no_spec(treespec)
    return python_pytree.treespec_dumps(python_pytree.tree_structure(_filled(treespec, 0)), protocol=protocol)


@functools.lru_cache
def treespec_loads(serialized: str) -> TreeSpec:
    """Read back what :func:`treespec_dumps` wrote."""
    return tree_structure(_filled(python_pytree.treespec_loads(serialized), 0))


class _Asterisk(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree with asterisks for its leaves."""
    return repr(_filled(treespec, _Asterisk("*")))


class LeafSpecMeta(type(PyTreeSpec)):  # type: ignore[misc]
    """Makes every structure of a leaf an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return _is_spec(instance) and instance.is_leaf()  # type: ignore[attr-defined]


class LeafSpec(PyTreeSpec, metaclass=LeafSpecMeta):  # type: ignore[misc,valid-type]
    """The structure of a leaf."""

    def __new__(cls) -> Any:
        warnings.warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, "
            "use `isinstance(treespec, TreeSpec)` and `treespec.is_leaf()` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return treespec_leaf()


# Paths, which optree has in a form of its own


def tree_flatten_with_path(tree: PyTree, is_leaf: LeafPredicate = None) -> Any:
    """Raises, as torch does."""
    raise NotImplementedError(_KEYS)


def tree_leaves_with_path(tree: PyTree, is_leaf: LeafPredicate = None) -> Any:
    """Raises, as torch does."""
    raise NotImplementedError(_KEYS)


def tree_map_with_path(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: LeafPredicate = None) -> PyTree:
    """Raises, as torch does."""
    raise NotImplementedError(_KEYS)


def keystr(kp: KeyPath) -> str:
    """Raises, as torch does."""
    raise NotImplementedError(_KEYS)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Raises, as torch does."""
    raise NotImplementedError(_KEYS)


python_pytree._cxx_pytree_imported = True
registry.listen(_private_register_pytree_node)

adopt(globals())
