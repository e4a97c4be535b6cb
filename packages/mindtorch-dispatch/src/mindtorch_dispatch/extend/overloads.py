"""`torch.ops`: namespaces, operators (`aten.add`) and their overloads (`aten.add.Tensor`) as objects.

The objects only name operators. How a call runs is the call path's business: `wired` holds its entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from mindtorch_storage.cached import cached_property

from ..arguments.description import TextOfFunction
from ..arguments.overload import bind_overload
from ..interface.autograd import hooks
from ..interface.wiring import wired
from ..keys import DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..schema import Schema
from ..schema.function_schema import FunctionSchema
from ..state import mode_set, state
from ..table import OpRow, Packet, find_packet, kernels
from ..table.out_forms import out_rows, out_schema
from ..table.tags import Tag, built_in_tags
from .entries import full_name
from .key_names import IMPLICIT, key_of, parse_key
from .overload_calls import call_of, call_of_packet, call_packet, call_with_outputs
from .registry import registry
from .unoffered import declare_unoffered, row_of, unoffered_overloads, unoffered_schema

_BACKENDS = DispatchKeySet([*DEVICE_TYPES, DispatchKey.Sparse, DispatchKey.Quantized, DispatchKey.NestedTensor])
_EVERY = DispatchKeySet(DispatchKey)


class OpOverload:
    """`torch.ops.aten.add.Tensor`: a callable for one overload."""

    __slots__ = ("__dict__", "__weakref__", "_call")

    def __init__(self, packet: OpOverloadPacket, row: OpRow) -> None:
        self._call = call_of(row, self)
        self._overloadpacket = packet
        self.row = row
        self.py_kernels: dict[Any, Callable[..., Any]] = {}
        self.python_key_table: dict[Any, Callable[..., Any]] = {}
        self.functorch_table: dict[Any, Callable[..., Any]] = {}
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__qualname__ = self._name
        self.__module__ = f"torch._ops.{self.namespace}"

    if TYPE_CHECKING:

        def __call__(self, /, *args: object, **kwargs: object) -> Any: ...

    @property
    def declared(self) -> Schema:
        """The signature as the call path reads it."""
        return self.row.schema

    @cached_property
    def _schema(self) -> FunctionSchema:
        return FunctionSchema(self.declared)

    @property
    def _overloadname(self) -> str:
        return self.declared.overload or "default"

    @property
    def _opname(self) -> str:
        return self.row.packet.rpartition("::")[2]

    @property
    def _name(self) -> str:
        return self.declared.qualified_name

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The operator this is an overload of."""
        return self._overloadpacket

    @property
    def op(self) -> OpOverload:
        """What runs."""
        return self

    @property
    def _op(self) -> OpOverload:
        return self

    @property
    def namespace(self) -> str:
        """The library's name, "aten" for built-in operators."""
        return self.declared.namespace

    @property
    def tags(self) -> list[Tag]:
        """What is known of the operator, as torch classifies it."""
        entry = self.row.__dict__.get("entry")
        if entry is not None and entry.declared:
            return list(entry.tags)
        return built_in_tags(self.declared)

    @property
    def is_view(self) -> bool:
        """Whether a result is a view of an argument and nothing is written."""
        return any(one.alias is not None and not one.alias.is_write for one in self.declared.returns)

    @property
    def _nondeterministic_seeded(self) -> bool:
        return Tag.nondeterministic_seeded in self.tags

    @property
    def _defined_in_python(self) -> bool:
        entry = self.row.__dict__.get("entry")
        return entry is not None and entry.declared

    def name(self) -> str:
        """`aten::add.Tensor`; without the dot for the default overload."""
        return self._name

    def redispatch(self, keyset: Any, /, *args: object, **kwargs: object) -> Any:
        """Call with only the keys of `keyset` taking part; the arguments choose the backend."""
        removed = _EVERY - DispatchKeySet(keyset) - _BACKENDS
        before = state.mode
        with mode_set(exclude=before.exclude | removed.mask):
            return wired.call_overload(self.row, args, kwargs, before)

    def has_kernel_for_dispatch_key(self, key: str) -> bool:
        """Whether the overload itself has a kernel for a key, given as `DispatchKey` or by name."""
        name = parse_key(getattr(key, "name", key))
        entry = self.row.__dict__.get("entry")
        if entry is not None and entry.registered(name) is not None:
            return True
        known, row = key_of(name), self.row
        if name == IMPLICIT:
            return row.composite is not None and not hooks.has_formula(row)
        if known is DispatchKey.Meta and row.meta is not None:
            return True
        return known in DEVICE_TYPES and (row.base or row).name in kernels[DEVICE_TYPES[known]]

    def has_kernel_for_any_dispatch_key(self, keys: Any) -> bool:
        """Whether the overload has a kernel for one of the keys."""
        return any(self.has_kernel_for_dispatch_key(key) for key in keys)

    def py_impl(self, key: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that makes a function the answer for a key, or for a mode's or a tensor's type.

        RuntimeError, for a type AssertionError, when there is one already.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            table = self.python_key_table if isinstance(key, type) else self.py_kernels
            if isinstance(key, type) and key in table:
                raise AssertionError(f"{key} already registered in python_key_table")
            if key in table:
                raise RuntimeError(f"Trying to override a python impl for {key} on operator {self._name}")
            if isinstance(key, type):
                registry.register_rule(self._name, key, function)
            else:
                registry.register_kernel(
                    self._name, cast(DispatchKey, key_of(parse_key(getattr(key, "name", key)))), function
                )
            table[key] = function
            return function

        return register

    def _can_decompose(self) -> bool:
        return self.has_kernel_for_dispatch_key(IMPLICIT)

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the operator's composition makes of the arguments, NotImplemented where it is not composed."""
        entry = self.row.__dict__.get("entry")
        one = entry.registered(IMPLICIT) if entry is not None else None
        if one is not None:
            return one.run(*args, **kwargs)
        if not self._can_decompose():
            return NotImplemented
        return self.row.composite(*bind_overload(self.declared, args, kwargs).values)  # type: ignore[misc]

    def __deepcopy__(self, memo: dict[int, Any]) -> OpOverload:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return find_overload, (self._name,)

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self._opname}.{self._overloadname}"


# A call is that of `_call`, without a frame of Python in between.
OpOverload.__call__ = OpOverload.__dict__["_call"]  # type: ignore[method-assign]


class OutOverload(OpOverload):
    """`torch.ops.aten.add.out`: the overload that writes into tensors given by keyword."""

    def __init__(self, packet: OpOverloadPacket, row: OpRow, schema: Schema | None = None) -> None:
        self.__dict__["declared"] = out_schema(row) if schema is None else schema
        super().__init__(packet, row)

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        return call_with_outputs(self.row, self.declared, args, kwargs)

    @property
    def declared(self) -> Schema:
        """The signature of the `out=` form."""
        schema: Schema = self.__dict__["declared"]
        return schema


OutOverload.__name__ = "OpOverload"


class OpOverloadPacket:
    """`torch.ops.aten.add`: the packet's function form, with its overloads as attributes."""

    __slots__ = ("__dict__", "__weakref__", "function")

    def __init__(self, packet: Packet) -> None:
        self.packet = packet
        form: Any = wired.call_form(packet, False)
        self.function: Callable[..., Any] = self._match if "::" in packet.name else call_of_packet(self, form)
        if "::" not in packet.name:
            self.__signature__ = form.__signature__
        self.__name__ = packet.name.rpartition("::")[2]
        self.__module__ = f"torch._ops.{self._qualified_op_name.partition('::')[0]}"

    if TYPE_CHECKING:

        def __call__(self, *args: object, **kwargs: object) -> Any: ...

    def _match(self, *args: object, **kwargs: object) -> Any:
        return call_packet(self, args, kwargs)

    def __getattr__(self, overload: str) -> OpOverload:
        if overload in ("packet", "function"):  # while a copy is being made
            raise AttributeError(overload)
        if overload.startswith("__"):
            raise AttributeError(
                f"'{self}' can't have an overload name beginning with '__' and the underlying op {self.function} has no "
                f"attribute {overload} either."
            )
        named = "" if overload == "default" else overload
        row = next((row for row in self.packet.rows if row.overload == named), None)
        made = OpOverload(self, row) if row is not None else None
        if made is None:
            row = next((row for row in out_rows(self.packet) if out_schema(row).overload == named), None)
            made = OutOverload(self, row) if row is not None else None
        if made is None:
            made = self._unoffered(named)
        if made is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        self.__dict__[overload] = made
        return made

    def _unoffered(self, overload: str) -> OpOverload | None:
        schema = unoffered_schema(self.packet.name, overload)
        if schema is None:
            return None
        row = row_of(self.packet, schema)
        return OutOverload(self, row, schema) if row.out else OpOverload(self, row)

    def __deepcopy__(self, memo: dict[int, Any]) -> OpOverloadPacket:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return find_overloads, (self._qualified_op_name,)

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.overloads()})

    def overloads(self) -> list[str]:
        """The names of the overloads, "default" for the unnamed one, `out=` forms included."""
        names = [row.overload or "default" for row in self.packet.rows]
        outs = [out_schema(row).overload for row in out_rows(self.packet)]
        others = [name or "default" for name in unoffered_overloads(self.packet.name)]
        return list(dict.fromkeys([*names, *outs, *others]))

    @property
    def _overload_names(self) -> list[str]:
        return ["" if name == "default" else name for name in self.overloads()]

    @property
    def op(self) -> Callable[..., Any]:
        """What runs: the function that chooses among the overloads."""
        return self.function

    _op = op

    @property
    def _qualified_op_name(self) -> str:
        return self.packet.name if "::" in self.packet.name else f"aten::{self.packet.name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._qualified_op_name.replace('::', '.')}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")


# A call is the function's, without a frame of Python in between.
OpOverloadPacket.__call__ = OpOverloadPacket.__dict__["function"]  # type: ignore[method-assign]
OpOverloadPacket.__doc__ = TextOfFunction(OpOverloadPacket.__doc__)  # type: ignore[assignment]
OpOverloadPacket.__signature__ = Signature(
    [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("kwargs", Parameter.VAR_KEYWORD)]
)


class OpNamespace(ModuleType):
    """Operators by name, `aten.mul(x, y)`; AttributeError for an operator that is not declared."""

    __file__ = "torch.ops"

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name
        self._prefix = "" if name == "aten" else f"{name}::"

    def __getattr__(self, name: str) -> OpOverloadPacket:
        packet = find_packet(self._prefix + name) or (None if self._prefix else declare_unoffered(name))
        if packet is None or not packet.rows:
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        made = OpOverloadPacket(packet)
        self.__dict__[name] = made
        return made

    def __iter__(self) -> Iterator[str]:
        return (name for name, value in self.__dict__.items() if isinstance(value, OpOverloadPacket))

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


for _class, _name in ((OpOverload, None), (OutOverload, None), (OpOverloadPacket, None), (OpNamespace, "_OpNamespace")):
    _class.__module__ = "torch._ops"
    _class.__qualname__ = _class.__name__ = _name or _class.__name__

namespaces: dict[str, OpNamespace] = {}
"""The namespaces of `torch.ops` that were asked for."""


def namespace(name: str) -> OpNamespace:
    """Return `torch.ops.<name>`, the same object every time."""
    return namespaces.get(name) or namespaces.setdefault(name, OpNamespace(name))


def find_overloads(name: str) -> OpOverloadPacket:
    """Return the object of operator `ns::op`; AttributeError when it is not declared."""
    space, _, base = name.rpartition("::")
    found: OpOverloadPacket = getattr(namespace(space or "aten"), base)
    return found


def find_overload(name: str) -> OpOverload:
    """Return the object of overload `ns::op.overload`; AttributeError when it is not declared."""
    base, _, overload = name.partition(".")
    found: OpOverload = getattr(find_overloads(base), overload or "default")
    return found


def overload_of(row: OpRow, out: bool = False) -> OpOverload:
    """Return the object of a row, or of its `out=` form."""
    key = "out_overload_call" if out else "overload_call"
    made = row.__dict__.get(key)
    if made is None:
        name = out_schema(row).overload if out else row.overload
        made = row.__dict__.setdefault(key, find_overload(full_name(row.packet, name)))
    found: OpOverload = made
    return found


def _forget(packet_name: str, overload: str) -> None:
    """Drop the objects of an overload that was taken back."""
    space, _, base = packet_name.rpartition("::")
    found = namespaces.get(space or "aten")
    made = found.__dict__.get(base) if found is not None else None
    if made is not None:
        made.__dict__.pop(overload or "default", None)
        if not made.packet.rows:
            del found.__dict__[base]


registry.on_removal.append(_forget)
