"""Operators registered at run time: schemas, kernels per key, fallthroughs. What `torch.library` stands on.

The op table declares the built-in operators; this registry answers for them too, and its kernels take precedence
over the table's, key by key. A registered kernel is boxed: it takes and returns tensors.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .keys import DispatchKey, DispatchKeySet
from .schema import Schema, parse_schema
from .table import OpRow, Packet, find_packet, kernels, packets


class OperatorEntry:
    """One overload's registrations: `.schema`, `.kernels` by key, `.fallthrough` keys."""

    __slots__ = ("fallthrough", "kernels", "name", "row")

    def __init__(self, name: str, row: OpRow) -> None:
        self.name = name
        self.row = row
        self.kernels: dict[DispatchKey, Callable[..., Any]] = {}
        self.fallthrough: set[DispatchKey] = set()

    @property
    def schema(self) -> Schema:
        """The parsed schema."""
        return self.row.schema

    def __repr__(self) -> str:
        return f"OperatorEntry({self.name!r}, kernels={sorted(self.kernels)}, fallthrough={sorted(self.fallthrough)})"


def split_name(name: str) -> tuple[str, str]:
    """Return (packet name, overload) of `ns::op.overload`; `aten` is the namespace when none is given."""
    namespace, found, rest = name.partition("::")
    if not found:
        namespace, rest = "aten", name
    base, _, overload = rest.partition(".")
    return (base if namespace == "aten" else f"{namespace}::{base}"), overload


class Registry:
    """The process-wide operator registry; `registry_lock` guards every change."""

    def __init__(self) -> None:
        self.registry_lock = threading.RLock()
        self._entries: dict[str, OperatorEntry] = {}
        self.generation = 0

    def register_schema(self, name: str, schema: str | Schema) -> OperatorEntry:
        """Declare operator `name` with `schema`; RuntimeError when it is declared with another schema."""
        text = schema if isinstance(schema, str) else str(schema)
        if "(" not in text.split("->")[0]:
            raise RuntimeError(f"schema of {name!r} has no argument list: {text!r}")
        parsed = parse_schema(text if text.lstrip()[0] != "(" else name + text)
        packet_name, overload = split_name(name)
        with self.registry_lock:
            existing = self._find_row(packet_name, overload)
            if existing is not None:
                if str(existing.schema) != str(parsed):
                    raise RuntimeError(
                        f"Tried to register operator {parsed} but {existing.schema} is registered under the same name"
                    )
                return self._entry(packet_name, existing)
            suffix = f".{overload}" if overload else ""
            row = OpRow(f"{packet_name}{suffix}()", None, kind="functional")
            row.__dict__["schema"] = parsed
            row.signature = text
            packets.setdefault(packet_name, Packet(packet_name)).rows.append(row)
            return self._entry(packet_name, row)

    def _find_row(self, packet_name: str, overload: str) -> OpRow | None:
        packet = find_packet(packet_name)
        if packet is None:
            return None
        return next((row for row in packet.rows if row.overload == overload), None)

    def _entry(self, packet_name: str, row: OpRow) -> OperatorEntry:
        full = (packet_name if "::" in packet_name else f"aten::{packet_name}") + (
            f".{row.overload}" if row.overload else ""
        )
        return self._entries.setdefault(full, OperatorEntry(full, row))

    def get(self, name: str) -> OperatorEntry:
        """Return the entry of `name`; without overload it answers for the packet's first one. KeyError if unknown."""
        packet_name, overload = split_name(name)
        packet = find_packet(packet_name)
        if packet is None or not packet.rows:
            raise KeyError(f"operator {name!r} is not registered")
        row = self._find_row(packet_name, overload)
        if row is None:
            if overload:
                raise KeyError(f"operator {name!r} has no such overload")
            row = packet.rows[0]
        entry = self._entry(packet_name, row)
        for device_type, key in (("cpu", DispatchKey.CPU), ("npu", DispatchKey.NPU), ("meta", DispatchKey.Meta)):
            built_in = kernels[device_type].get(row.name)
            if built_in is not None:
                entry.kernels.setdefault(key, built_in.fn)
        return entry

    def _entries_of(self, name: str) -> list[OperatorEntry]:
        packet_name, overload = split_name(name)
        packet = find_packet(packet_name)
        if packet is None or not packet.rows:
            raise KeyError(f"operator {name!r} is not registered")
        rows = [row for row in packet.rows if not overload or row.overload == overload]
        return [self._entry(packet_name, row) for row in rows]

    def register_kernel(self, name: str, key: DispatchKey, fn: Callable[..., Any]) -> None:
        """Make `fn` the kernel of `name` for `key`; a name without overload registers every overload."""
        with self.registry_lock:
            for entry in self._entries_of(name):
                entry.kernels[DispatchKey(key)] = fn
                entry.row.__dict__.setdefault("boxed", {})[DispatchKey(key)] = fn
            self._invalidate(name)

    def unregister_kernel(self, name: str, key: DispatchKey) -> None:
        """Take back a registered kernel."""
        with self.registry_lock:
            for entry in self._entries_of(name):
                entry.kernels.pop(DispatchKey(key), None)
                entry.row.__dict__.get("boxed", {}).pop(DispatchKey(key), None)
            self._invalidate(name)

    def register_fallthrough(self, name: str, key: DispatchKey) -> None:
        """Make calls of `name` pass `key` by."""
        with self.registry_lock:
            for entry in self._entries_of(name):
                entry.fallthrough.add(DispatchKey(key))
                entry.row.__dict__.setdefault("fallthrough", set()).add(DispatchKey(key))
            self._invalidate(name)

    def _invalidate(self, name: str) -> None:
        """Plans made before a registration must not outlive it."""
        self.generation += 1
        packet = find_packet(split_name(name)[0])
        if packet is not None:
            packet.plans.clear()
            for plans in packet.plans_by_default.values():
                plans.clear()

    def resolve(self, row: OpRow, keys: DispatchKeySet) -> Callable[..., Any] | None:
        """Return the registered kernel the call meets first by key priority, None when the table's path applies."""
        boxed = row.__dict__.get("boxed")
        if not boxed:
            return None
        fallthrough = row.__dict__.get("fallthrough", ())
        for key in keys:
            if key in boxed and key not in fallthrough:
                return boxed[key]
        return None


registry = Registry()
"""The one registry of the process."""
