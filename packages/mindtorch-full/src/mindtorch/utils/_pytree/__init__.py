"""Trees of nested containers: taking apart, putting together, mapping over leaves."""

# ruff: noqa: F401 (what is not in `__all__` is here for those who ask for it by name, as in torch)

import warnings
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from mindtorch._naming import adopt
from mindtorch.torch_version import TorchVersion

from .containers import (
    BUILTIN_TYPES,
    STANDARD_DICT_TYPES,
    _defaultdict_deserialize,
    _defaultdict_flatten,
    _defaultdict_flatten_with_keys,
    _defaultdict_serialize,
    _defaultdict_unflatten,
    _deque_flatten,
    _deque_flatten_with_keys,
    _deque_unflatten,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _namedtuple_deserialize,
    _namedtuple_flatten,
    _namedtuple_flatten_with_keys,
    _namedtuple_serialize,
    _namedtuple_unflatten,
    _ordereddict_flatten,
    _ordereddict_flatten_with_keys,
    _ordereddict_unflatten,
    _register_namedtuple,
    _tuple_flatten,
    _tuple_flatten_with_keys,
    _tuple_unflatten,
    register_structure_sequence,
)
from .dataclass_nodes import register_dataclass
from .keys import GetAttrKey, KeyEntry, KeyPath, MappingKey, SequenceKey, key_get, keystr
from .kinds import (
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    structseq,
)
from .kinds import node_type as _get_node_type
from .operations import (
    arg_tree_leaves,
    map_only,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten,
    tree_flatten_with_path,
    tree_is_leaf,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
    tree_structure,
    tree_unflatten,
)
from .operations import broadcast_to_and_flatten as _broadcast_to_and_flatten
from .operations import tree_is_leaf as _is_leaf
from .registry import (
    CONSTANT_NODES,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    ConstantNode,
    Context,
    DumpableContext,
    FlattenFn,
    FlattenWithKeysFn,
    FromDumpableContextFn,
    NodeDef,
    PyTree,
    ToDumpableContextFn,
    UnflattenFn,
    is_constant_class,
    register_constant,
    register_pytree_node,
)
from .registry import deregister_pytree_node as _deregister_pytree_node
from .registry import register_node as _private_register_pytree_node
from .serialize import (
    EnumEncoder,
    enum_object_hook,
    pytree_to_str,
    str_to_pytree,
    treespec_dumps,
    treespec_loads,
)
from .serialize import json_to_treespec as _json_to_treespec
from .serialize import treespec_to_json as _treespec_to_json
from .spec import LeafSpec, TreeSpec, treespec_dict, treespec_leaf, treespec_pprint, treespec_tuple

PyTreeSpec = TreeSpec

_optree_minimum_version = TorchVersion("0.13.0")
_optree_version = TorchVersion(version("optree") if find_spec("optree") is not None else "0.0.0a0")
_cxx_pytree_exists = _cxx_pytree_dynamo_traceable = _optree_version >= _optree_minimum_version
_cxx_pytree_imported = False

__all__ = [  # noqa: RUF022 (in the order that torch has)
    "PyTree",
    "Context",
    "FlattenFn",
    "UnflattenFn",
    "DumpableContext",
    "ToDumpableContextFn",
    "FromDumpableContextFn",
    "PyTreeSpec",
    "TreeSpec",
    "LeafSpec",
    "keystr",
    "key_get",
    "register_pytree_node",
    "tree_is_leaf",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_unflatten",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_structure",
    "tree_map",
    "tree_map_with_path",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_all",
    "tree_any",
    "tree_all_only",
    "tree_any_only",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
]


def _register_pytree_node(
    cls: type[Any],
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    **options: Any,
) -> None:
    """The older, private name of :func:`register_pytree_node`."""
    warnings.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. "
        "Please use `torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
        stacklevel=2,
    )
    if to_str_fn is not None or maybe_from_str_fn is not None:
        warnings.warn(
            "`to_str_fn` and `maybe_from_str_fn` is deprecated. "
            "Please use `to_dumpable_context` and `from_dumpable_context` instead.",
            FutureWarning,
            stacklevel=2,
        )
    _private_register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


adopt(globals())
