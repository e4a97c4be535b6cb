"""`torch.library`: operators defined at run time."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mindtorch_autograd.function import Function
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.state import exclude_keys
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from . import ops
from ._naming import adopt

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "infer_schema",
    "register_autograd",
    "register_fake",
    "register_kernel",
]

_DEVICE_KEYS = {"cpu": DispatchKey.CPU, "npu": DispatchKey.NPU, "meta": DispatchKey.Meta}
_KEY_NAMES = {
    "CPU": (DispatchKey.CPU,),
    "NPU": (DispatchKey.NPU,),
    "PrivateUse1": (DispatchKey.NPU,),
    "Meta": (DispatchKey.Meta,),
    "Autograd": (DispatchKey.Autograd,),
    "CompositeImplicitAutograd": (DispatchKey.CPU, DispatchKey.NPU, DispatchKey.Meta),
    "CompositeExplicitAutograd": (DispatchKey.CPU, DispatchKey.NPU, DispatchKey.Meta),
    "": (DispatchKey.CPU, DispatchKey.NPU, DispatchKey.Meta),
}
_TYPE_NAMES: dict[Any, str] = {
    TensorBase: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    complex: "Scalar",
    Dtype: "ScalarType",
    Device: "Device",
}


def _qualified(name: Any) -> str:
    text = (
        name
        if isinstance(name, str)
        else name._qualified_op_name
        if hasattr(name, "_qualified_op_name")
        else name.name()
    )
    if "::" not in text:
        raise ValueError(f"expected the operator name to be of form 'namespace::name', got {text!r}")
    return text


def _lookup(qualified: str) -> Any:
    namespace, _, name = qualified.partition("::")
    return getattr(getattr(ops, namespace), name.partition(".")[0])


def _type_text(annotation: Any, name: str) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (list, Sequence) or getattr(origin, "__name__", "") == "Sequence":
        return _type_text(arguments[0], name) + "[]"
    if arguments and type(None) in arguments:
        return _type_text(next(one for one in arguments if one is not type(None)), name) + "?"
    if isinstance(annotation, type) and issubclass(annotation, TensorBase):
        return "Tensor"
    text = _TYPE_NAMES.get(annotation)
    if text is None:
        raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {annotation}.")
    return text


def infer_schema(fn: Callable[..., Any], *, mutates_args: Any = (), op_name: str | None = None) -> str:
    """Return the schema that a function's annotations describe; ValueError for what has no annotation."""
    hints = typing.get_type_hints(fn)
    parts: list[str] = []
    keyword_only = False
    written = "!" if mutates_args == "unknown" else None
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    for name, parameter in inspect.signature(fn).parameters.items():
        if name not in hints:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation.")
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        text = _type_text(hints[name], name)
        if text.startswith("Tensor") and (written or name in mutates_args):
            text = f"Tensor({next(letters)}!)" + text[len("Tensor") :]
        default = "" if parameter.default is parameter.empty else f"={_default_text(parameter.default)}"
        parts.append(f"{text} {name}{default}")
    result = hints.get("return")
    if result is None or result is type(None):
        returns = "()"
    elif typing.get_origin(result) is tuple:
        returns = "(" + ", ".join(_type_text(one, "return") for one in typing.get_args(result)) + ")"
    else:
        returns = _type_text(result, "return")
    return f"{op_name or ''}({', '.join(parts)}) -> {returns}"


def _default_text(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


class CustomOpDef:
    """A custom operator: call it, and register what it does on devices, on fake tensors and in backward."""

    def __init__(self, qualified: str, fn: Callable[..., Any], schema: str, device_types: Any) -> None:
        self._qualname = qualified
        self._init_fn = fn
        name = qualified.partition("::")[2]
        registry.register_schema(qualified, schema if schema.lstrip().startswith(name) else f"{name}{schema}")
        self._opoverload = _lookup(qualified)
        keys = (DispatchKey.CPU, DispatchKey.NPU) if device_types is None else _device_keys(device_types)
        for key in keys:
            registry.register_kernel(qualified, key, fn)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None) -> Any:
        """Give the operator a kernel for device types; a decorator without `fn`."""
        return register_kernel(self._qualname, device_types, fn)

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Give the operator its geometry rule, which the meta device uses."""
        return register_fake(self._qualname, fn)

    def register_autograd(
        self, backward: Callable[..., Any], *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the operator its backward."""
        register_autograd(self._qualname, backward, setup_context=setup_context)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Give the operator its batching rule."""
        raise NotImplementedError("register_vmap: batching rules of custom operators are not supported yet")

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _device_keys(device_types: Any) -> list[DispatchKey]:
    names = [device_types] if isinstance(device_types, str) else list(device_types)
    return [_DEVICE_KEYS[name] for name in names if name in _DEVICE_KEYS]


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an operator `namespace::name`; a decorator without `fn`."""

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = schema if schema is not None else infer_schema(function, mutates_args=mutates_args)
        return CustomOpDef(_qualified(name), function, text, device_types)

    return make if fn is None else make(fn)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Give an operator a kernel for device types; a decorator without `func`."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        for key in [DispatchKey.CPU, DispatchKey.NPU] if device_types is None else _device_keys(device_types):
            registry.register_kernel(_name_of(op), key, fn)
        return fn

    return register if func is None else register(func)


def _name_of(op: Any) -> str:
    return op._qualname if isinstance(op, CustomOpDef) else _qualified(op)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Any = None,
    _stacklevel: int = 1,
    allow_override: bool = False,
) -> Any:
    """Give an operator its geometry rule, which the meta device uses; a decorator without `func`."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        registry.register_kernel(_name_of(op), DispatchKey.Meta, fn)
        return fn

    return register if func is None else register(func)


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """Give an operator its backward: `backward(ctx, *grads)`, with `setup_context(ctx, inputs, output)` to save values."""
    qualified = _name_of(op)
    below = DispatchKeySet([DispatchKey.Autograd])

    def forward(ctx: Any, *args: Any) -> Any:
        with exclude_keys(below):
            output = _lookup(qualified)(*args)
        if setup_context is not None:
            setup_context(ctx, args, output)
        return output

    name = qualified.partition("::")[2]
    function = type(
        f"GeneratedBackwardFor_{qualified.replace('::', '_')}",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )

    def recorded(*args: Any) -> Any:
        return function.apply(*args)

    recorded.__name__ = name
    registry.register_kernel(qualified, DispatchKey.Autograd, recorded)


class Library:
    """A namespace's definitions: `Library("mylib", "DEF")` defines, `Library("aten", "IMPL", "CPU")` overrides kernels."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("prim",) and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._registered: list[tuple[str, DispatchKey]] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator and return its name."""
        name = schema.partition("(")[0].strip()
        registry.register_schema(f"{self.ns}::{name}", schema)
        return f"{self.ns}::{name}"

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Make `fn` the kernel of an operator for a dispatch key."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        chosen = dispatch_key or self.dispatch_key
        if chosen not in _KEY_NAMES:
            raise NotImplementedError(
                f"Library.impl: dispatch key {chosen!r} is not offered; one of {sorted(_KEY_NAMES)}"
            )
        name = op_name if isinstance(op_name, str) else op_name.name()
        qualified = name if "::" in name else f"{self.ns}::{name}"
        for key in _KEY_NAMES[chosen]:
            registry.register_kernel(qualified, key, fn)
            self._registered.append((qualified, key))

    def _destroy(self) -> None:
        """Take back every kernel this library registered."""
        for qualified, key in self._registered:
            registry.unregister_kernel(qualified, key)
        self._registered.clear()


_kept: list[Library] = []


def define(qualname: str, schema: Any, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Declare operator `namespace::name` with `schema`."""
    namespace, _, name = _qualified(qualname).partition("::")
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _kept.append(lib)
    lib.define(name + schema)


def impl(qualname: str, types: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """Make a function the kernel of an operator for device types or dispatch keys; a decorator without `func`."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        for one in (types,) if isinstance(types, str) else types:
            keys = [_DEVICE_KEYS[one]] if one in _DEVICE_KEYS else _KEY_NAMES.get("" if one == "default" else one, ())
            for key in keys:
                registry.register_kernel(_qualified(qualname), key, fn)
        return fn

    return register if func is None else register(func)


adopt(globals())
