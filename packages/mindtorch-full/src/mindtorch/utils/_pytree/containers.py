"""The containers of the standard library as tree nodes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterable
from typing import Any

from mindtorch_dispatch.meta.packs import pack_classes
from mindtorch_storage.lazy_import import load
from mindtorch_storage.size import Size

from .keys import GetAttrKey, KeyEntry, MappingKey, SequenceKey
from .registry import SUPPORTED_SERIALIZED_TYPES, Context, DumpableContext, announce, register_node

Keyed = tuple[list[tuple[KeyEntry, Any]], Context]

#: Serialized names of named tuple types.
NAMEDTUPLE_NAMES: dict[type, str] = {}


def _numbered(children: list[Any], context: Context) -> Keyed:
    return [(SequenceKey(index), child) for index, child in enumerate(children)], context


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Context]:
    return list(d), None


def _tuple_flatten_with_keys(d: tuple[Any, ...]) -> Keyed:
    return _numbered(*_tuple_flatten(d))


def _tuple_unflatten(values: Iterable[Any], context: Context) -> tuple[Any, ...]:
    return tuple(values)


def _list_flatten(d: list[Any]) -> tuple[list[Any], Context]:
    return d, None


def _list_flatten_with_keys(d: list[Any]) -> Keyed:
    return _numbered(*_list_flatten(d))


def _list_unflatten(values: Iterable[Any], context: Context) -> list[Any]:
    return list(values)


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d: dict[Any, Any]) -> Keyed:
    values, context = _dict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context, values, strict=True)], context


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _ordereddict_flatten(d: OrderedDict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d.keys())


def _ordereddict_flatten_with_keys(d: OrderedDict[Any, Any]) -> Keyed:
    values, context = _ordereddict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context, values, strict=True)], context


def _ordereddict_unflatten(values: Iterable[Any], context: Context) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values, strict=True))


def _defaultdict_flatten(d: defaultdict[Any, Any]) -> tuple[list[Any], Context]:
    values, keys = _dict_flatten(d)
    return values, [d.default_factory, keys]


def _defaultdict_flatten_with_keys(d: defaultdict[Any, Any]) -> Keyed:
    values, context = _defaultdict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context[1], values, strict=True)], context


def _defaultdict_unflatten(values: Iterable[Any], context: Context) -> defaultdict[Any, Any]:
    factory, keys = context
    return defaultdict(factory, _dict_unflatten(values, keys))


def _defaultdict_serialize(context: Context) -> DumpableContext:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _defaultdict_deserialize(dumpable_context: DumpableContext) -> Context:
    wanted = {"default_factory_module", "default_factory_name", "dict_context"}
    if not isinstance(dumpable_context, dict) or set(dumpable_context) != wanted:
        raise ValueError(f"Expected a dictionary with keys {wanted}, got {dumpable_context}")
    module = load(dumpable_context["default_factory_module"])
    return [getattr(module, dumpable_context["default_factory_name"]), dumpable_context["dict_context"]]


def _deque_flatten(d: deque[Any]) -> tuple[list[Any], Context]:
    return list(d), d.maxlen


def _deque_flatten_with_keys(d: deque[Any]) -> Keyed:
    return _numbered(*_deque_flatten(d))


def _deque_unflatten(values: Iterable[Any], context: Context) -> deque[Any]:
    return deque(values, maxlen=context)


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Context]:
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d: Any) -> Keyed:
    values, context = _namedtuple_flatten(d)
    return [(GetAttrKey(field), value) for field, value in zip(context._fields, values, strict=True)], context


def _namedtuple_unflatten(values: Iterable[Any], context: Context) -> Any:
    return context(*values)


def _namedtuple_serialize(context: Context) -> DumpableContext:
    if context not in NAMEDTUPLE_NAMES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {context} because we "
            "didn't register a serializated_type_name. Please register using "
            "`_register_namedtuple`."
        )
    return NAMEDTUPLE_NAMES[context]


def _namedtuple_deserialize(dumpable_context: DumpableContext) -> Context:
    for cls, name in NAMEDTUPLE_NAMES.items():
        if name == dumpable_context:
            return cls
    raise NotImplementedError(
        f"Can't deserialize TreeSpec of namedtuple class {dumpable_context} "
        "because we couldn't find a serializated name."
    )


def _register_namedtuple(cls: type[Any], *, serialized_type_name: str) -> None:
    """Give a named tuple type the name it has in serialized specs."""
    NAMEDTUPLE_NAMES[cls] = serialized_type_name
    SUPPORTED_SERIALIZED_TYPES.setdefault(cls, SUPPORTED_SERIALIZED_TYPES[namedtuple])  # type: ignore[index]


register_node(
    tuple,
    _tuple_flatten,
    _tuple_unflatten,
    serialized_type_name="builtins.tuple",
    flatten_with_keys_fn=_tuple_flatten_with_keys,
)
register_node(
    list,
    _list_flatten,
    _list_unflatten,
    serialized_type_name="builtins.list",
    flatten_with_keys_fn=_list_flatten_with_keys,
)
register_node(
    dict,
    _dict_flatten,
    _dict_unflatten,
    serialized_type_name="builtins.dict",
    flatten_with_keys_fn=_dict_flatten_with_keys,
)
register_node(
    namedtuple,  # stands for all named tuple types
    _namedtuple_flatten,
    _namedtuple_unflatten,
    serialized_type_name="collections.namedtuple",
    to_dumpable_context=_namedtuple_serialize,
    from_dumpable_context=_namedtuple_deserialize,
    flatten_with_keys_fn=_namedtuple_flatten_with_keys,
)
register_node(
    OrderedDict,
    _ordereddict_flatten,
    _ordereddict_unflatten,
    serialized_type_name="collections.OrderedDict",
    flatten_with_keys_fn=_ordereddict_flatten_with_keys,
)
register_node(
    defaultdict,
    _defaultdict_flatten,
    _defaultdict_unflatten,
    serialized_type_name="collections.defaultdict",
    to_dumpable_context=_defaultdict_serialize,
    from_dumpable_context=_defaultdict_deserialize,
    flatten_with_keys_fn=_defaultdict_flatten_with_keys,
)
register_node(
    deque,
    _deque_flatten,
    _deque_unflatten,
    serialized_type_name="collections.deque",
    flatten_with_keys_fn=_deque_flatten_with_keys,
)
register_node(
    Size,
    _tuple_flatten,
    _tuple_unflatten,  # what a function makes of sizes need not be whole numbers
    serialized_type_name="torch.Size",
    flatten_with_keys_fn=_tuple_flatten_with_keys,
)


def register_structure_sequence(cls: type[Any]) -> None:
    """Make one type of ``torch.return_types`` a node; its constructor takes the fields as one sequence."""
    register_node(
        cls,
        _tuple_flatten,
        lambda values, context: cls(list(values)),
        flatten_with_keys_fn=_tuple_flatten_with_keys,
    )
    announce(cls)


# Calls with `out=` may have made some of the forms with it.
for _cls in [cls for name, cls in pack_classes.items() if not (name.endswith("_out") and name[:-4] in pack_classes)]:
    register_structure_sequence(_cls)
    register_structure_sequence(_cls.for_out())


STANDARD_DICT_TYPES: frozenset[type] = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES: frozenset[Any] = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
