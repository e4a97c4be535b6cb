"""The dispatcher's part of `torch._C`: keys, key sets, guards and questions about operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch_dispatch.batching.planning import composed
from mindtorch_dispatch.batching.rules.table import find_rule
from mindtorch_dispatch.batching.wrapper import is_batched
from mindtorch_dispatch.extend.entries import full_name
from mindtorch_dispatch.extend.key_names import parse_key
from mindtorch_dispatch.extend.overloads import OpOverload, OutOverload, find_overloads
from mindtorch_dispatch.extend.unoffered import unoffered_operators, unoffered_overloads
from mindtorch_dispatch.keys import BACKEND_KEYS, DispatchKey, DispatchKeySet
from mindtorch_dispatch.override.handlers import dispatches
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.schema import parse_schema as _parse
from mindtorch_dispatch.schema.function_schema import Argument, FunctionSchema
from mindtorch_dispatch.state import state
from mindtorch_dispatch.table import OpRow, packets
from mindtorch_dispatch.table.out_forms import out_rows, out_schema
from mindtorch_dispatch.table.tags import Tag
from mindtorch_storage.layout import strided

__all__ = [
    "Argument",
    "DispatchKey",
    "DispatchKeySet",
    "FunctionSchema",
    "Tag",
    "_AutoDispatchBelowAutograd",
    "_DispatchOperatorHandle",
    "_ExcludeDispatchKeyGuard",
    "_IncludeDispatchKeyGuard",
    "_after_autograd_keyset",
    "_dispatch_call_boxed",
    "_dispatch_find_schema_or_throw",
    "_dispatch_get_all_op_names",
    "_dispatch_get_registrations_for_dispatch_key",
    "_dispatch_has_kernel",
    "_dispatch_has_kernel_for_dispatch_key",
    "_dispatch_isTensorSubclassLike",
    "_dispatch_key_set",
    "_dispatch_keys",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_dispatch_tls_local_exclude_set",
    "_dispatch_tls_local_include_set",
    "_dispatch_tls_set_dispatch_key_excluded",
    "_dispatch_tls_set_dispatch_key_included",
    "parse_schema",
]

_after_autograd_keyset = DispatchKeySet(key for key in DispatchKey if key < DispatchKey.Autograd)


def parse_schema(schema: str, allow_typevars: bool = True) -> FunctionSchema:
    """Return a signature read from aten grammar; torch's RuntimeError for what is none."""
    return FunctionSchema(_parse(schema, namespace="", strict=True))


class _Guard:
    """Base of the guards: what was excluded and included before is so again after the block."""

    def __init__(self, keys: Any) -> None:
        self._keys = DispatchKeySet(keys)
        self._before: list[Any] = []

    def __enter__(self) -> _Guard:
        self._before.append(state.mode)
        self._apply()
        return self

    def _apply(self) -> None:
        raise NotImplementedError

    def __exit__(self, *error: Any) -> None:
        state.mode = self._before.pop()


class _ExcludeDispatchKeyGuard(_Guard):
    """In the block no call passes the keys."""

    def _apply(self) -> None:
        state.mode = state.mode.replace(exclude=state.mode.exclude | self._keys.mask)


class _IncludeDispatchKeyGuard(_Guard):
    """In the block every call passes the key."""

    def _apply(self) -> None:
        state.mode = state.mode.replace(include=state.mode.include | self._keys.mask)


class _AutoDispatchBelowAutograd(_ExcludeDispatchKeyGuard):
    """In the block nothing is recorded for gradients."""

    def __init__(self) -> None:
        super().__init__(DispatchKey.Autograd)


class _EnablePythonDispatcher:
    """A block in which operators are looked up in Python. They always are, so it changes nothing."""

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, *error: object) -> None:
        """End the block."""


class _DisablePythonDispatcher(_EnablePythonDispatcher):
    """A block in which torch looks operators up in compiled code; here it changes nothing."""


def _dispatch_tls_is_dispatch_key_excluded(key: Any) -> bool:
    return bool(state.mode.exclude >> key & 1)


def _dispatch_tls_is_dispatch_key_included(key: Any) -> bool:
    return bool(state.mode.include >> key & 1)


def _dispatch_tls_local_exclude_set() -> DispatchKeySet:
    return DispatchKeySet(state.mode.exclude)


def _dispatch_tls_local_include_set() -> DispatchKeySet:
    return DispatchKeySet(state.mode.include)


def _changed(mask: int, key: Any, desired: bool) -> int:
    return mask | 1 << key if desired else mask & ~(1 << key)


def _dispatch_tls_set_dispatch_key_excluded(key: Any, desired: bool) -> None:
    state.mode = state.mode.replace(exclude=_changed(state.mode.exclude, key, desired))


def _dispatch_tls_set_dispatch_key_included(key: Any, desired: bool) -> None:
    state.mode = state.mode.replace(include=_changed(state.mode.include, key, desired))


def _dispatch_keys(tensor: Any) -> DispatchKeySet:
    keys = DispatchKeySet([BACKEND_KEYS[tensor.device.type]])
    return keys if tensor.is_inference() else keys.add(DispatchKey.Autograd)


def _dispatch_key_set(tensor: Any) -> str:
    """Return the keys of a tensor as a text."""
    return str(_dispatch_keys(tensor))


def _overloads() -> Iterator[tuple[str, OpRow, bool]]:
    """Yield the name of every overload, its row, and whether it is the form with `out=`."""
    for packet in list(packets.values()):
        yield from ((full_name(packet.name, row.overload), row, False) for row in packet.rows)
        yield from ((out_schema(row).qualified_name, row, True) for row in out_rows(packet))


def _others() -> Iterator[OpOverload]:
    """Yield the overloads of aten that the table does not have."""
    for name in unoffered_operators():
        found = find_overloads(f"aten::{name}")
        yield from (getattr(found, overload or "default") for overload in unoffered_overloads(name))


def _dispatch_get_all_op_names() -> list[str]:
    others = (full_name(name, overload) for name in unoffered_operators() for overload in unoffered_overloads(name))
    return list(dict.fromkeys([*(name for name, _, _ in _overloads()), *others]))


def _dispatch_get_registrations_for_dispatch_key(dispatch_key: str = "") -> list[str]:
    """Return the names of overloads with a kernel for a key; of those for batches, with a rule or made of their parts."""
    if not dispatch_key:
        return _dispatch_get_all_op_names()
    key = parse_key(dispatch_key)
    if dispatch_key == "FuncTorchBatched":
        return [name for name, row, out in _overloads() if not out and find_rule(row) is not None]
    if dispatch_key == "FuncTorchBatchedDecomposition":
        parts = [name for name, row, out in _overloads() if not out and find_rule(row) is None and composed(row)]
        more = [one.name() for one in _others() if not isinstance(one, OutOverload) and composed(one.row)]
        return list(dict.fromkeys([*parts, *more]))
    named = [(name, registry.overload_of(row)) for name, row, _ in _overloads()]
    named += [(one.name(), one) for one in _others()]
    return list(dict.fromkeys(name for name, one in named if one.has_kernel_for_dispatch_key(key)))


class _DispatchOperatorHandle:
    """An overload as `_dispatch_call_boxed` takes it."""

    def __init__(self, row: OpRow) -> None:
        self._overload = registry.overload_of(row)

    def schema(self) -> FunctionSchema:
        """Return the overload's signature."""
        schema: FunctionSchema = self._overload._schema
        return schema


def _dispatch_find_schema_or_throw(name: str, overload_name: str) -> _DispatchOperatorHandle:
    full = f"{name}.{overload_name}" if overload_name else name
    row = registry.find(full)
    if row is None:
        raise RuntimeError(f"Could not find schema for {full}" + "." * (not overload_name))
    return _DispatchOperatorHandle(row)


def _dispatch_call_boxed(handle: _DispatchOperatorHandle, *args: Any, **kwargs: Any) -> Any:
    return handle._overload(*args, **kwargs)


def _dispatch_isTensorSubclassLike(tensor: Any) -> bool:
    spec = tensor._sig.spec
    unusual = spec.device.type == "meta" or spec.layout is not strided
    return unusual or is_batched(tensor) or dispatches(type(tensor))


def _dispatch_has_kernel(name: str) -> bool:
    return registry.find(name) is not None


def _dispatch_has_kernel_for_dispatch_key(name: str, dispatch_key: Any) -> bool:
    row = registry.find(name)
    if row is None:
        raise RuntimeError(f"operator {name} does not exist")
    parse_key(getattr(dispatch_key, "name", dispatch_key))
    return registry.overload_of(row).has_kernel_for_dispatch_key(dispatch_key)
