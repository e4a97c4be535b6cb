"""`Library`: the operators and kernels that belong together, and go together."""

from __future__ import annotations

import re
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from mindtorch_dispatch.extend.entries import Registration
from mindtorch_dispatch.extend.key_names import IMPLICIT, KEY_NAMES
from mindtorch_dispatch.extend.key_names import parse_key as parse_any_key
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.keys import DispatchKeySet
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.schema import parse_schema
from mindtorch_dispatch.state import state
from mindtorch_dispatch.table.tags import read_tags

from ._fakes import register_rule
from ._lifetime import Registrations
from ._names import caller_place, check_qualname, device_types, key_of_device, name_of

_RESERVED = ("prim",)
_BLOCKS = {"DEF": "TORCH_LIBRARY", "FRAGMENT": "TORCH_LIBRARY_FRAGMENT", "IMPL": "TORCH_LIBRARY_IMPL"}
_BUILT_IN = "mindtorch_dispatch/ops"
_SCHEMA = re.compile(r"\(.*\) -> .*")
_definers: dict[str, str] = {"aten": _BUILT_IN, "prims": _BUILT_IN}
"""Namespace to the place of the one library of kind DEF."""
_kernels: Counter[tuple[str, str]] = Counter()
"""How many kernels Python has given an operator for a dispatch key."""
_warned: set[str] = set()


def _forget_definer(namespace: str) -> None:
    _definers.pop(namespace, None)


def parse_key(name: str) -> str:
    """Return the name a key's registrations are kept under; RuntimeError for one that programs do not know."""
    if name not in KEY_NAMES:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return parse_any_key(name)


class Library:
    """A namespace's definitions: `Library("mylib", "DEF")` defines, `Library("aten", "IMPL", "CPU")` overrides kernels.

    What a library registered is taken back when it is collected.

    >>> torch.library.Library("docs_one", "DEF").define("twice(Tensor x) -> Tensor")
    'twice'
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _BLOCKS:
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._key = parse_key(dispatch_key) if dispatch_key else ""
        self._place = caller_place()
        self.m = Registrations()
        self._undo = self.m.undo
        if kind == "FRAGMENT" and ns == "_":
            raise RuntimeError(
                "TORCH_LIBRARY_FRAGMENT: cannot define TORCH_LIBRARY_FRAGMENT with the wildcard namespace _ (every "
                "TORCH_LIBRARY_FRAGMENT defines operators for a distinct namespace!) Did you mean to use "
                f"TORCH_LIBRARY_IMPL instead?  {self._where()}"
            )
        if kind == "DEF":
            self._claim()
        weakref.finalize(self, self.m.reset)

    def _claim(self) -> None:
        before = _definers.get(self.ns)
        if before is not None:
            raise RuntimeError(
                f"Only a single TORCH_LIBRARY can be used to register the namespace {self.ns}; please put all of your "
                "definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider "
                "using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a "
                "single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  "
                f"Previous registration of TORCH_LIBRARY was registered at {before}; latest registration was registered "
                f"at {self._place}"
            )
        namespace = self.ns
        _definers[namespace] = self._place
        self._undo.append(partial(_forget_definer, namespace))

    def _where(self) -> str:
        return f"(Error occurred while processing {_BLOCKS[self.kind]} block at {self._place})"

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator and return its name, with its namespace if `schema` gave that; torch's RuntimeError for
        what is no schema, belongs elsewhere or is declared already."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        given = read_tags(tags)
        parsed = parse_schema(schema, namespace="", strict=True, type_variables=False)
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{parsed.qualified_name}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All '
                f"def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.  {self._where()}"
            )
        shown = parsed.name
        if parsed.namespace and parsed.namespace != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({parsed.namespace}) in schema string does not match namespace of "
                f"enclosing {_BLOCKS[self.kind]} block ({self.ns}).  Move this definition to the (unique) TORCH_LIBRARY "
                "block corresponding to this namespace (and consider deleting the namespace from your schema string.)  "
                f"{self._where()}"
            )
        if not parsed.namespace:
            parsed = parsed.replace(name=f"{self.ns}::{parsed.name}")
        existing = registry.find(parsed.qualified_name)
        if existing is not None:
            entry = existing.__dict__.get("entry")
            place = entry.place if entry is not None and entry.place else _BUILT_IN
            raise RuntimeError(
                f"Tried to register an operator ({parsed}) with the same name and overload name multiple times. Each "
                "overload's schema should only be registered with a single call to def(). Duplicate registration: "
                f"registered at {self._place}. Original registration: registered at {place}"
            )
        entry = registry.declare(parsed)
        entry.place, entry.tags = self._place, given
        name = parsed.qualified_name
        self._undo.append(lambda: registry.remove(name))
        return shown

    def _operator_name(self, op_name: Any) -> str:
        if isinstance(op_name, OpOverload):
            name = op_name.name()
        elif isinstance(op_name, str):
            name = op_name
        else:
            raise RuntimeError(
                f"impl should be passed either a name or an OpOverload object as the first argument, got {type(op_name)}"
            )
        namespace, found, _ = name.partition("::")
        if not found:
            return f"{self.ns}::{name}"
        if namespace != self.ns:
            raise RuntimeError(
                f'impl("{name}", ...): Explicitly provided namespace ({namespace}) in operator name does not match '
                f"namespace of enclosing {_BLOCKS[self.kind]} block ({self.ns}).  Move this definition to the "
                f"{_BLOCKS[self.kind]} block corresponding to this namespace (and consider deleting the namespace from "
                f"your schema string.)  {self._where()}"
            )
        return name

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Make `fn` the kernel of an operator for a dispatch key, `fallthrough_kernel` that calls pass the key by.

        The operator may be declared later. TypeError when `fn` is not callable or cannot take the operator's arguments.
        RuntimeError where Python has given a kernel before, without `allow_override`.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = self._operator_name(op_name)
        given = (name, dispatch_key or self.dispatch_key)
        if not allow_override and _kernels[given]:
            raise RuntimeError(
                "This is not allowed since there's already a kernel registered from python overriding "
                f"{name.partition('::')[2]}'s behavior for {given[1]} dispatch key and {self.ns} namespace."
            )
        chosen = dispatch_key or self.dispatch_key or IMPLICIT
        key = parse_key(chosen)
        if key == "Meta":
            self._refuse_hidden_meta(name, op_name if isinstance(op_name, str) else name)
        if self._key and key != self._key:
            raise RuntimeError(
                f'impl("{name.partition("::")[2]}", ...): Explicitly provided dispatch key ({chosen}) is inconsistent '
                f"with the dispatch key of the enclosing TORCH_LIBRARY_IMPL block ({self.dispatch_key}).  Please declare a "
                f"separate TORCH_LIBRARY_IMPL block for this dispatch key and move your impl() there.  {self._where()}"
            )
        if self.ns == "aten" and registry.find(name) is None and registry.find(name.partition(".")[0]) is not None:
            raise NotImplementedError(
                f"{name}: kernels of this form cannot be registered, it is the out= form of another overload"
            )
        self._warn_of_override(name, key)
        registration = Registration(fn, with_keyset, self._place)
        registry.add(name, key, registration)
        self._undo.append(lambda: registry.discard(name, key, registration))
        _kernels[given] += 1
        self._undo.append(lambda: _kernels.subtract([given]))

    def _refuse_hidden_meta(self, name: str, shown: str) -> None:
        row = registry.find(name)
        if row is None:
            raise RuntimeError(f"operator {name} does not exist")
        if registry.overload_of(row).has_kernel_for_dispatch_key(IMPLICIT):
            raise RuntimeError(
                f"We should not register a meta kernel directly to the operator '{shown}', because it "
                "has a CompositeImplicitAutograd kernel in core. Instead we should let the operator decompose, and ensure "
                "that we have meta kernels for the base ops that it decomposes into."
            )

    def _warn_of_override(self, name: str, key: str) -> None:
        row = registry.find(name)
        if row is None or _warned or not registry.overload_of(row).has_kernel_for_dispatch_key(key):
            return
        entry = row.__dict__.get("entry")
        before = entry.registered(key) if entry is not None else None
        declared_at = entry.place if entry is not None and entry.place else _BUILT_IN
        replaced = before.place if before is not None else _BUILT_IN
        _warned.add(name)
        warnings.warn(
            "Warning only once for all operators,  other operators may also be overridden.\n"
            "  Overriding a previously registered kernel for the same operator and the same dispatch key\n"
            f"  operator: {row.schema}\n    registered at {declared_at}\n  dispatch key: {key}\n"
            f"  previous kernel: registered at {replaced}\n       new kernel: registered at {self._place}",
            stacklevel=3,
        )

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Make `fn(op, *args, **kwargs)` answer for every operator without a kernel for a key."""
        chosen = dispatch_key or self.dispatch_key
        if not chosen:
            raise AssertionError("dispatch_key must not be empty for fallback")
        if self.ns != "_":
            raise RuntimeError(
                f'Fallback can only be registered using library fragment on the global namespace "_" but it is {self.ns}'
            )
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = parse_key(chosen)
        registry.register_fallback(key, Registration(fn, with_keyset, self._place))
        self._undo.append(lambda: registry.unregister_fallback(key))

    def _register_fake(
        self, op_name: Any, fn: Callable[..., Any], _stacklevel: int = 1, *, allow_override: bool = True
    ) -> None:
        name = self._operator_name(op_name)
        if registry.find(name) is not None:
            self._refuse_hidden_meta(name, name)
        self._undo.append(register_rule(name, fn, caller_place(), allow_override))

    def _register_torch_dispatch_rule(self, op_name: Any, torch_dispatch_class: type, fn: Callable[..., Any]) -> None:
        name = self._operator_name(op_name)
        registry.register_rule(name, torch_dispatch_class, fn)
        self._undo.append(lambda: registry.unregister_rule(name, torch_dispatch_class))

    def _destroy(self) -> None:
        """Take back everything this library registered: its operators are gone from `torch.ops`."""
        if hasattr(self, "m"):
            self.m.reset()


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """In the block there is a library, made of the arguments; what it registered is gone after it."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()


_kept: dict[Any, Library] = {}


def library_for(namespace: str, kind: str = "FRAGMENT", lib: Library | None = None) -> Library:
    """Return `lib`, or the library that keeps for good what is registered without one."""
    if lib is not None:
        return lib
    if (namespace, kind) not in _kept:
        _kept[namespace, kind] = Library(namespace, kind)
    return _kept[namespace, kind]


def define(qualname: Any, schema: Any, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Declare operator `namespace::name` with `schema`, "(Tensor x) -> Tensor".

    As `define(lib, "name(Tensor x) -> Tensor")` it declares and is a decorator for the operator's kernel.

    >>> torch.library.define("docs::same", "(Tensor x) -> Tensor")
    >>> torch.library.impl("docs::same", "cpu", lambda x: x.clone())
    >>> torch.ops.docs.same(torch.ones(1))
    tensor([1.])
    """
    if isinstance(qualname, Library):
        return _define_in(qualname, schema, tags)
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = check_qualname(qualname)
    if not _SCHEMA.fullmatch(schema):
        raise ValueError(
            f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{schema}"'
        )
    library_for(namespace, lib=lib).define(name + schema, tags=tags)
    return None


def _define_in(lib: Library, schema: str, tags: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        lib.impl(lib.define(schema, tags=tags), fn)
        return fn

    return register


def impl(
    qualname: Any, types: str | Sequence[str], func: Callable[..., Any] | None = None, *, lib: Library | None = None
) -> Any:
    """Make a function the kernel of an operator for device types, or "default" ones; a decorator without `func`.

    >>> torch.library.define("docs::less", "(Tensor x) -> Tensor"); torch.library.impl("docs::less", "cpu", torch.neg)
    >>> torch.ops.docs.less(torch.ones(1))
    tensor([-1.])
    """
    if isinstance(qualname, Library):
        return _implement_in(qualname, types, func or "")
    namespace, _ = check_qualname(qualname)
    keys = ["CompositeExplicitAutograd" if one == "default" else _key_given(one) for one in device_types(types)]

    def register(fn: Callable[..., Any]) -> None:
        chosen = library_for(namespace, lib=lib)
        for key in keys:
            chosen.impl(qualname, fn, key)

    return register if func is None else register(func)


def _key_given(one: str) -> str:
    try:
        return parse_key(one)
    except RuntimeError:  # not a key's name, so it is a device type's, or nothing
        return key_of_device(one)


def _implement_in(lib: Library, name: Any, dispatch_key: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        lib.impl(name, fn, dispatch_key)
        return fn

    return register


class SafeKernelFunction:
    """One kernel of an operator: `call_boxed(keyset, *args, **kwargs)` runs it."""

    def __init__(self, op: OpOverload, function: Callable[..., Any], place: str) -> None:
        self.op_handle = op
        self._function = function
        self._place = place

    def call_boxed(self, keyset: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel, which is told that it was reached by `keyset`."""
        before = state.keys
        state.keys = DispatchKeySet(keyset)
        try:
            return self._function(*args, **kwargs)
        finally:
            state.keys = before

    def __repr__(self) -> str:
        return f"SafeKernelFunction(debug='registered at {self._place}')"


def get_kernel(op: Any, dispatch_key: Any) -> SafeKernelFunction:
    """Return the kernel that calls of an operator run for a key; torch's errors for an unknown operator or key."""
    name = name_of(op, "get_kernel")
    given = getattr(dispatch_key, "name", dispatch_key)
    try:
        key = parse_key(given)
    except RuntimeError:
        raise ValueError(f"Invalid dispatch key: {dispatch_key}") from None
    row = registry.find(name)
    if row is None:
        raise RuntimeError(f"operator {name} does not exist")
    overload = registry.overload_of(row)
    entry = row.__dict__.get("entry")
    for wanted in (key, "CompositeExplicitAutograd", IMPLICIT):
        found = entry.registered(wanted) if entry is not None else None
        if found is not None:
            return SafeKernelFunction(overload, found.run, found.place)
        if wanted == key and overload.has_kernel_for_dispatch_key(key):
            return SafeKernelFunction(overload, overload, _BUILT_IN)
    if row.composite is not None:
        return SafeKernelFunction(overload, row.composite, _BUILT_IN)
    raise RuntimeError(f"no kernel for {given} for {name}")
