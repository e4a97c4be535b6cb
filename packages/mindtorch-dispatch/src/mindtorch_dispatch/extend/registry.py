"""Operators registered at run time: schemas, kernels per key, fallthroughs. What `torch.library` stands on.

The op table declares the built-in operators; this registry answers for them too, and its kernels take precedence
over the table's, key by key. A registered kernel is boxed: it takes and returns tensors. The latest registration for
a key holds; when it is taken back the one before holds again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from mindtorch_storage.forking import renew_after_fork

from ..interface.wiring import wired
from ..keys import DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..schema import Schema, parse_schema
from ..table import OpRow, Packet, RowKind, find_packet, kernels, packets
from .entries import OperatorEntry, Registration, declared_packet, fallthrough_kernel, full_name, split_name
from .key_names import EXPLICIT, FUNCTIONAL, IMPLICIT, names_for, parse_key
from .matching import check_signature


class Registry:
    """The process-wide operator registry; `registry_lock` guards every change."""

    def __init__(self) -> None:
        self.registry_lock = threading.RLock()
        self._entries: dict[str, OperatorEntry] = {}
        self.fallbacks: dict[str, Registration] = {}
        self.on_removal: list[Callable[[str, str], None]] = []
        self.generation = 0

    def overload_of(self, row: OpRow) -> Any:
        """Return the `torch.ops` object of a row."""
        return wired.overload_of(row)

    def register_schema(self, name: str, schema: str | Schema) -> OperatorEntry:
        """Declare operator `name` with `schema`; RuntimeError when it is declared with another schema."""
        text = schema if isinstance(schema, str) else str(schema)
        if "(" not in text.split("->")[0]:
            raise RuntimeError(f"schema of {name!r} has no argument list: {text!r}")
        packet_name, overload = split_name(name)
        parsed = parse_schema(text if text.lstrip()[0] != "(" else name + text, namespace="")
        if parsed.qualified_name != full_name(packet_name, overload):
            base, _, _ = full_name(packet_name, "").partition(".")
            parsed = parsed.replace(name=base, overload=overload)
        with self.registry_lock:
            existing = self._find_row(packet_name, overload)
            if existing is not None:
                if str(existing.schema) != str(parsed):
                    raise RuntimeError(
                        f"Tried to register operator {parsed} but {existing.schema} is registered under the same name"
                    )
                return self._entry(packet_name, existing)
            return self.declare(parsed)

    def declare(self, schema: Schema) -> OperatorEntry:
        """Add an operator that is not declared yet; kernels registered before hold from now on."""
        packet_name, overload = split_name(schema.qualified_name)
        suffix = f".{overload}" if overload else ""
        row = OpRow(f"{packet_name}{suffix}()", None, kind=RowKind.FUNCTIONAL, variants=("function",))
        row.__dict__["schema"] = schema
        row.signature = str(schema)
        with self.registry_lock:
            packets.setdefault(packet_name, Packet(packet_name)).rows.append(row)
            self._forget_derived(packet_name)
            entry = self._entry(packet_name, row)
            entry.row, entry.declared = row, True
            entry.update()
            self._invalidate(packet_name)
        return entry

    def remove(self, name: str) -> None:
        """Take back the declaration of `ns::op.overload`: the operator is gone, its kernels wait for another one."""
        packet_name, overload = split_name(name)
        with self.registry_lock:
            packet = packets[packet_name]
            packet.rows[:] = [row for row in packet.rows if row.overload != overload]
            self._invalidate(packet_name)
            self._forget_derived(packet_name)
            entry = self._entries[full_name(packet_name, overload)]
            entry.row, entry.declared, entry.missing_fake, entry.place, entry.tags = None, False, None, "", ()
            entry.table_kernels.clear()
            if entry.empty:
                del self._entries[entry.name]
            if not packet.rows:
                del packets[packet_name]
        for forget in self.on_removal:
            forget(packet_name, overload)

    def _forget_derived(self, packet_name: str) -> None:
        """What was worked out from the packet's rows is worked out anew."""
        packet = packets[packet_name]
        for name in [name for name in packet.__dict__ if name != "derived"]:
            del packet.__dict__[name]

    def _find_row(self, packet_name: str, overload: str) -> OpRow | None:
        packet = find_packet(packet_name)
        if packet is None:
            return None
        return next((row for row in packet.rows if row.overload == overload), None)

    def find(self, name: str) -> OpRow | None:
        """Return the row of exactly `ns::op.overload`, None when it is not declared."""
        return self._find_row(*split_name(name))

    def _entry(self, packet_name: str, row: OpRow) -> OperatorEntry:
        name = full_name(packet_name, row.overload)
        entry = self._entries.setdefault(name, OperatorEntry(name, row))
        if entry.row is None:
            entry.row = row
        return entry

    def get(self, name: str) -> OperatorEntry:
        """Return the entry of `name`; without overload it answers for the packet's first one. KeyError if unknown."""
        packet, overload = declared_packet(name)
        row = self._find_row(packet.name, overload)
        if row is None:
            if overload:
                raise KeyError(f"operator {name!r} has no such overload")
            row = packet.rows[0]
        return self._entry(packet.name, row)

    def _entries_of(self, name: str) -> list[OperatorEntry]:
        packet, overload = declared_packet(name)
        rows = [row for row in packet.rows if not overload or row.overload == overload]
        if not rows:
            raise KeyError(f"operator {name!r} has no such overload")
        return [self._entry(packet.name, row) for row in rows]

    def add(self, name: str, key_name: str, registration: Registration) -> None:
        """Register for exactly the overload `name`, declared already or not, under a key's name.

        Raises TypeError for a kernel that no call of the declared operator could reach with its arguments.
        """
        with self.registry_lock:
            self._add(self._exact(name), key_name, registration)

    def _add(self, entry: OperatorEntry, key_name: str, registration: Registration) -> None:
        given = registration.function
        if entry.row is not None and given is registration.run and given is not fallthrough_kernel:
            check_signature(entry.name, entry.row.schema, given)
        entry.registrations.setdefault(parse_key(key_name), []).append(registration)
        entry.update()
        self._invalidate(split_name(entry.name)[0])

    def discard(self, name: str, key_name: str, registration: Registration) -> None:
        """Take one registration back, if it is there."""
        with self.registry_lock:
            entry = self._entries.get(full_name(*split_name(name)))
            found = entry.registrations.get(parse_key(key_name), []) if entry is not None else []
            if entry is None or registration not in found:
                return
            found.remove(registration)
            entry.update()
            self._invalidate(split_name(name)[0])
            if entry.row is None and entry.empty:
                del self._entries[entry.name]

    def register_kernel(self, name: str, key: DispatchKey, fn: Callable[..., Any]) -> None:
        """Make `fn` the kernel of `name` for `key`; a name without overload registers every overload.

        KeyError for an operator that is not declared, TypeError for a function that does not take its arguments.
        """
        with self.registry_lock:
            for entry in self._entries_of(name):
                self._add(entry, DispatchKey(key).name, Registration(fn))

    def unregister_kernel(self, name: str, key: DispatchKey) -> None:
        """Take back the kernels of `name` for `key`."""
        with self.registry_lock:
            for entry in self._entries_of(name):
                entry.registrations.pop(DispatchKey(key).name, None)
                entry.update()
            self._invalidate(split_name(name)[0])

    def register_fallthrough(self, name: str, key: DispatchKey) -> None:
        """Make calls of `name` pass `key` by."""
        self.register_kernel(name, key, fallthrough_kernel)

    def register_fallback(self, key_name: str, registration: Registration) -> None:
        """Make `function(op, *args, **kwargs)` answer for operators without a kernel for a key.

        RuntimeError when the key has a fallback.
        """
        name = parse_key(key_name)
        with self.registry_lock:
            before = self.fallbacks.get(name)
            if before is not None:
                raise RuntimeError(
                    "Tried to register multiple backend fallbacks for the same dispatch key "
                    f"{key_name}; previous registration {before.place}, new registration {registration.place}"
                )
            self.fallbacks[name] = registration
            self._invalidate_all()

    def unregister_fallback(self, key_name: str) -> None:
        """Take back the fallback of a key."""
        with self.registry_lock:
            self.fallbacks.pop(parse_key(key_name), None)
            self._invalidate_all()

    def register_rule(self, name: str, kind: type, function: Callable[..., Any]) -> None:
        """Make `function` handle calls of `name`, declared already or not, in the place of the `__torch_dispatch__` of
        `kind`, a tensor's or a mode's type; RuntimeError when it has a rule."""
        with self.registry_lock:
            entry = self._exact(name)
            if kind in entry.rules:
                raise RuntimeError(f"{kind} already has a `__torch_dispatch__` rule registered for {entry.name}")
            entry.rules[kind] = function
            entry.update()

    def unregister_rule(self, name: str, kind: type) -> None:
        """Take a rule back, if it is there."""
        with self.registry_lock:
            entry = self._exact(name)
            entry.rules.pop(kind, None)
            entry.update()

    def _exact(self, name: str) -> OperatorEntry:
        packet_name, overload = split_name(name)
        row = self._find_row(packet_name, overload)
        if row is not None:
            return self._entry(packet_name, row)
        name = full_name(packet_name, overload)
        return self._entries.setdefault(name, OperatorEntry(name, None))

    def _invalidate(self, packet_name: str) -> None:
        """Plans made before a registration must not outlive it."""
        self.generation += 1
        packet = find_packet(packet_name)
        if packet is not None:
            packet.forget_plans()

    def _invalidate_all(self) -> None:
        for name in list(packets):
            self._invalidate(name)

    def resolve(self, row: OpRow, keys: DispatchKeySet) -> Callable[..., Any] | None:
        """Return the registered kernel the call meets first by key priority, None when the table's path applies."""
        entry: OperatorEntry | None = row.__dict__.get("entry")
        if (entry is None or entry.empty) and not self._may_fall_back(row):
            return None
        backends = [key.name for key in keys if key in DEVICE_TYPES]
        for key in keys:
            found = self._explicit(entry, key, backends) if entry is not None else None
            if found is None and key in DEVICE_TYPES and (entry is None or not entry.built_in(key)):
                found = self._composed(entry, key)
            if found is None:
                found = self._fallback(row, key, backends)
            if found is not None and found.function is not fallthrough_kernel:
                return found.run
        found = None if backends else self._composed(entry, DispatchKey.CPU)
        return None if found is None else found.run

    def _may_fall_back(self, row: OpRow) -> bool:
        """Whether a fallback can answer for an operator without registrations. That of Autograd, which every process with
        a custom operator has, does not where the table describes the operator."""
        described = row.meta or row.composite
        return any(not described or not name.startswith(DispatchKey.Autograd.name) for name in self.fallbacks)

    def _explicit(self, entry: OperatorEntry, key: DispatchKey, backends: list[str]) -> Registration | None:
        return next((one for name in names_for(key, backends) if (one := entry.registered(name))), None)

    def _composed(self, entry: OperatorEntry | None, key: DispatchKey) -> Registration | None:
        if entry is None or (entry.missing_fake and key is DispatchKey.Meta):
            return None
        return entry.registered(FUNCTIONAL) or entry.registered(EXPLICIT) or entry.registered(IMPLICIT)

    def _fallback(self, row: OpRow, key: DispatchKey, backends: list[str]) -> Registration | None:
        found = next((one for name in names_for(key, backends) if (one := self.fallbacks.get(name))), None)
        if found is None or found.function is fallthrough_kernel:
            return found
        if key in DEVICE_TYPES and (row.composite or (row.meta and row.name in kernels[DEVICE_TYPES[key]])):
            return None
        if key is DispatchKey.Autograd:
            entry = row.__dict__.get("entry")
            implicit = entry is not None and entry.registered(IMPLICIT) is not None
            if (
                row.meta
                or row.composite
                or (entry and implicit and not any(entry.registered(name) for name in backends))
            ):
                return None
        return Registration(partial(found.run, self.overload_of(row)))


registry = Registry()
renew_after_fork(lambda: setattr(registry, "registry_lock", threading.RLock()))
"""The one registry of the process."""
