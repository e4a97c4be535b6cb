"""What the registry knows of one operator: its row, and the kernels registered for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..execute.arrays import backend_installed
from ..interface.wiring import wired
from ..keys import DEVICE_TYPES, DispatchKey
from ..schema import Schema
from ..state import state
from ..table import OpRow, Packet, find_packet, kernels
from .key_names import EXPLICIT, FUNCTIONAL, IMPLICIT, key_of


def fallthrough_kernel() -> Any:
    """The mark of a key that calls pass by; it is registered and never called.

    >>> with torch.library._scoped_library("docs_fall", "DEF") as library:
    ...     library.define("double(Tensor x) -> Tensor")
    ...     library.impl("double", lambda x: 2 * x, "CompositeExplicitAutograd")
    ...     library.impl("double", torch.library.fallthrough_kernel, "AutocastCPU")
    ...     print(torch.ops.docs_fall.double(torch.ones(1)))
    'double'
    tensor([2.])
    """
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class Registration:
    """One kernel as it was registered: `function`, what runs; `place`, who registered it, as messages say it."""

    __slots__ = ("function", "place", "run")

    def __init__(self, function: Callable[..., Any], with_keyset: bool = False, place: str = "") -> None:
        self.function = function
        self.place = place
        self.run: Callable[..., Any] = _with_keys(function) if with_keyset else function


def _with_keys(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: object, **kwargs: object) -> Any:
        return function(state.keys, *args, **kwargs)

    return run


class OperatorEntry:
    """One overload: `.schema`, `.kernels` by key, `.fallthrough` keys.

    `registrations` holds what was registered by name of the key, the latest last, and `boxed` the kernels that hold of
    them by key. `row` is None while the operator has kernels but no
    schema. An operator `declared` at run time has `tags` and a `place`, where that was, as messages say it. With
    `missing_fake` no kernel but its own serves the meta device, and that is what a call there says. `rules` are what
    handles calls for types with `__torch_dispatch__`.
    """

    __slots__ = (
        "boxed",
        "declared",
        "fallthrough",
        "missing_fake",
        "name",
        "place",
        "registrations",
        "row",
        "rules",
        "table_kernels",
        "tags",
    )

    def __init__(self, name: str, row: OpRow | None) -> None:
        self.name = name
        self.row = row
        self.declared = False
        self.missing_fake: str | None = None
        self.rules: dict[type, Callable[..., Any]] = {}
        self.place = ""
        self.tags: tuple[Any, ...] = ()
        self.boxed: dict[DispatchKey, Callable[..., Any]] = {}
        self.table_kernels: dict[DispatchKey, Callable[..., Any]] = {}
        self.fallthrough: set[DispatchKey] = set()
        self.registrations: dict[str, list[Registration]] = {}

    @property
    def schema(self) -> Schema:
        """The parsed schema; KeyError while there is none."""
        if self.row is None:
            raise KeyError(f"operator {self.name!r} has no schema")
        return self.row.schema

    @property
    def empty(self) -> bool:
        """True while no kernel is registered, also when all were taken back."""
        return not any(self.registrations.values())

    @property
    def kernels(self) -> dict[DispatchKey, Callable[..., Any]]:
        """The kernels by key: the registered ones, else the op table's for every backend that is installed."""
        found = dict(self.boxed)
        for key in DEVICE_TYPES:
            if key not in found and key not in self.fallthrough and self.served(key):
                found[key] = self._table_kernel(key)
        return found

    def _table_kernel(self, key: DispatchKey) -> Callable[..., Any]:
        made = self.table_kernels.get(key)
        if made is None:
            made = self.table_kernels[key] = wired.table_kernel(self.row, key)
        return made

    def served(self, key: DispatchKey) -> bool:
        """Whether the op table serves a backend: by a kernel, by a composition, or because the op is a view. Of a backend
        that is installed and not loaded yet it is only known when its kernel is called."""
        row, device_type = self.row, DEVICE_TYPES[key]
        if row is None or (row.meta is None and row.composite is None):
            return False
        if key is DispatchKey.Meta:
            return True
        if not kernels[device_type]:
            return backend_installed(device_type)
        return row.composite is not None or bool(row.meta.view) or self.built_in(key)

    def registered(self, name: str) -> Registration | None:
        """Return the registration that holds for the key called `name`."""
        found = self.registrations.get(name)
        return found[-1] if found else None

    def update(self) -> None:
        """Bring `kernels`, `fallthrough` and the row's view of them up to date."""
        self.boxed, self.fallthrough = {}, set()
        for name in self.registrations:
            key, one = key_of(name), self.registered(name)
            if key is None or one is None:
                continue
            if one.function is fallthrough_kernel:
                self.fallthrough.add(key)
            else:
                self.boxed[key] = one.run
        for name in (IMPLICIT, EXPLICIT, FUNCTIONAL):
            one = self.registered(name)
            if one is not None and one.function is not fallthrough_kernel:
                for key in DEVICE_TYPES:
                    if not self.built_in(key) and not (self.missing_fake and key is DispatchKey.Meta):
                        self.boxed.setdefault(key, one.run)
        if self.row is not None:
            shared = self.row.__dict__
            shared.pop("boxed", None)
            if any(key is not DispatchKey.Autocast for key in self.boxed):  # casts say nothing of what the op does
                shared["boxed"] = self.boxed
            shared["fallthrough"] = self.fallthrough
            shared["python_rules"] = self.rules
            shared["entry"] = self

    def built_in(self, key: DispatchKey) -> bool:
        """True when the table has a kernel of the operator for a backend."""
        row = self.row
        return row is not None and (row.base or row).name in kernels[DEVICE_TYPES[key]]

    def __repr__(self) -> str:
        return f"OperatorEntry({self.name!r}, kernels={sorted(self.kernels)}, fallthrough={sorted(self.fallthrough)})"


def split_name(name: str) -> tuple[str, str]:
    """Return (packet name, overload) of `ns::op.overload`; `aten` is the namespace when none is given."""
    namespace, found, rest = name.partition("::")
    if not found:
        namespace, rest = "aten", name
    base, _, overload = rest.partition(".")
    return (base if namespace == "aten" else f"{namespace}::{base}"), overload


def declared_packet(name: str) -> tuple[Packet, str]:
    """Return the packet of `ns::op.overload`, and the overload; KeyError where no overload of it is declared."""
    packet_name, overload = split_name(name)
    packet = find_packet(packet_name)
    if packet is None or not packet.rows:
        raise KeyError(f"operator {name!r} is not registered")
    return packet, overload


def full_name(packet_name: str, overload: str) -> str:
    """Return `ns::op.overload` of a packet's name and an overload, without the dot for the unnamed one."""
    name = packet_name if "::" in packet_name else f"aten::{packet_name}"
    return f"{name}.{overload}" if overload and overload != "default" else name
