"""Which types are inner nodes of a tree, and how each is taken apart and put together."""

from __future__ import annotations

import builtins
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mindtorch_storage.forking import renew_after_fork

from .keys import KeyEntry

Context = Any
DumpableContext = Any
PyTree = Any
FlattenFn = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], PyTree]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]
FlattenWithKeysFn = Callable[[PyTree], tuple[list[tuple[KeyEntry, Any]], Any]]

NO_SERIALIZED_TYPE_NAME_FOUND = "NO_SERIALIZED_TYPE_NAME_FOUND"


class NodeDef(NamedTuple):
    """How to take a node type apart and put it together."""

    type: builtins.type[Any]
    flatten_fn: FlattenFn
    unflatten_fn: UnflattenFn
    flatten_with_keys_fn: FlattenWithKeysFn | None


class SerializeNodeDef(NamedTuple):
    """How a node type appears in a serialized spec."""

    typ: type[Any]
    serialized_type_name: str
    to_dumpable_context: ToDumpableContextFn | None
    from_dumpable_context: FromDumpableContextFn | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
CONSTANT_NODES: set[type] = set()
_LOCK = threading.Lock()
renew_after_fork(lambda: globals().update(_LOCK=threading.Lock()))


def register_node(
    cls: Any,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: ToDumpableContextFn | None = None,
    from_dumpable_context: FromDumpableContextFn | None = None,
    flatten_with_keys_fn: FlattenWithKeysFn | None = None,
) -> None:
    """Enter a type into the tables, whether or not it is there already."""
    with _LOCK:
        if cls in SUPPORTED_NODES:
            warnings.warn(
                f"{cls} is already registered as pytree node. Overwriting the previous registration.", stacklevel=2
            )
        SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
        if (to_dumpable_context is None) ^ (from_dumpable_context is None):
            raise ValueError(
                f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
            )
        name = NO_SERIALIZED_TYPE_NAME_FOUND if serialized_type_name is None else serialized_type_name
        SUPPORTED_SERIALIZED_TYPES[cls] = SerializeNodeDef(cls, name, to_dumpable_context, from_dumpable_context)
        SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


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
    """Make a type an inner node.

    ``flatten_fn(node)`` returns children and a context, ``unflatten_fn(children, context)`` puts them together.
    ``flatten_with_keys_fn`` returns children with the key of each; the other options let specs be serialized.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    register_node(
        cls,
        flatten_fn,
        unflatten_fn,
        serialized_type_name=serialized_type_name,
        to_dumpable_context=to_dumpable_context,
        from_dumpable_context=from_dumpable_context,
        flatten_with_keys_fn=flatten_with_keys_fn,
    )
    announce(cls)


_announced: list[type[Any]] = []
_listeners: list[Callable[..., object]] = []


def announce(cls: type[Any]) -> None:
    """Tell other libraries of trees of a type that is registered, now or as soon as they are imported."""
    _announced.append(cls)
    for listener in _listeners:
        listener(cls, SUPPORTED_NODES[cls].flatten_fn, SUPPORTED_NODES[cls].unflatten_fn)


def listen(listener: Callable[..., object]) -> None:
    """Have a function called with every type, how it is taken apart and how it is put together."""
    for cls in _announced:
        if cls in SUPPORTED_NODES:
            listener(cls, SUPPORTED_NODES[cls].flatten_fn, SUPPORTED_NODES[cls].unflatten_fn)
    _listeners.append(listener)


def deregister_pytree_node(cls: type[Any]) -> None:
    """Take a type out of the tables; meant for tests."""
    with _LOCK:
        del SUPPORTED_NODES[cls]
        serialized = SUPPORTED_SERIALIZED_TYPES.pop(cls)
        del SERIALIZED_TYPE_TO_PYTHON_TYPE[serialized.serialized_type_name]
        CONSTANT_NODES.discard(cls)


class ConstantNode(NamedTuple):
    """The context of a node that is all context: the value itself."""

    value: Any

    def __repr__(self) -> str:
        return f"ConstantNode({self.value!r})"


def register_constant(cls: type[Any]) -> None:
    """Make a type a node without children: its values are part of the structure, compared with ``==``."""
    if cls.__eq__ is object.__eq__:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__eq__` implementation.")
    if cls.__hash__ is None:
        raise TypeError("register_constant(cls) expects `cls` to have a non-default `__hash__` implementation.")

    def unflatten(_: Iterable[Any], context: ConstantNode) -> Any:
        return context.value

    register_pytree_node(
        cls,
        lambda value: ([], ConstantNode(value)),
        unflatten,
        flatten_with_keys_fn=lambda value: ([], ConstantNode(value)),
    )
    CONSTANT_NODES.add(cls)


def is_constant_class(cls: type[Any]) -> bool:
    """Whether values of this type are constants of the structure."""
    return isinstance(cls, type) and cls in CONSTANT_NODES
