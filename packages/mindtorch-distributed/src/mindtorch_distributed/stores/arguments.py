"""What methods of stores take: signatures as data, checked before a call, with torch's text when none fits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

_MODULE = "torch._C._distributed_c10d"
_KEYS = "collections.abc.Sequence[str]"
_INT = "typing.SupportsInt | typing.SupportsIndex"
SIGNATURES = {
    "set": [("arg0: str, arg1: str", "None")],
    "compare_set": [("arg0: str, arg1: str, arg2: str", "bytes")],
    "get": [("arg0: str", "bytes")],
    "add": [(f"arg0: str, arg1: {_INT}", "int")],
    "check": [(f"arg0: {_KEYS}", "bool")],
    "delete_key": [("arg0: str", "bool")],
    "set_timeout": [("arg0: datetime.timedelta", "None")],
    "wait": [(f"arg0: {_KEYS}", "None"), (f"arg0: {_KEYS}, arg1: datetime.timedelta", "None")],
    "append": [("arg0: str, arg1: str", "None")],
    "multi_get": [(f"arg0: {_KEYS}", "list[bytes]")],
    "multi_set": [(f"arg0: {_KEYS}, arg1: {_KEYS}", "None")],
    "queue_push": [("arg0: str, arg1: str", "None")],
    "queue_pop": [("key: str, block: bool = True", "bytes")],
    "queue_len": [("arg0: str", "int")],
}
CONSTRUCTORS = {
    "HashStore": "",
    "FileStore": f"file_name: str, world_size: {_INT} = -1",
    "PrefixStore": f"prefix: str, store: {_MODULE}.Store",
    "TCPStore": f"host_name: str, port: {_INT}, world_size: {_INT} | None = None, is_master: bool = False, "
    "timeout: datetime.timedelta = datetime.timedelta(seconds=300), wait_for_workers: bool = True, "
    f"multi_tenant: bool = False, master_listen_fd: {_INT} | None = None, use_libuv: bool = True",
}
PORTS = range(1 << 16)
Class = TypeVar("Class", bound=type)


def _is_text(value: object) -> bool:
    return isinstance(value, (str, bytes))


def _is_texts(value: object) -> bool:
    return isinstance(value, Sequence) and not _is_text(value) and all(map(_is_text, value))


def _is_int(value: object) -> bool:
    return not isinstance(value, (float, str, bytes)) and (hasattr(value, "__index__") or hasattr(value, "__int__"))


def _is_store(value: object) -> bool:
    return callable(getattr(value, "compare_set", None))  # a program may have a store of its own kind


_KINDS: dict[str, Callable[[object], bool]] = {
    "str": _is_text,
    "bool": lambda value: value is None or hasattr(value, "__bool__"),
    "datetime.timedelta": lambda value: isinstance(value, timedelta),
    f"{_MODULE}.Store": lambda value: value is None or _is_store(value),  # a None is refused by the store itself
    _KEYS: _is_texts,
    _INT: _is_int,
    f"{_INT} | None": lambda value: value is None or _is_int(value),
}


def _takes(signature: str) -> dict[str, tuple[Callable[[object], bool], bool]]:
    """Return what a signature's parameters take, and whether they may be left out."""
    found = {}
    for one in filter(None, signature.split(", ")):
        name, _, rest = one.partition(": ")
        kind, _, default = rest.partition(" = ")
        found[name] = (_KINDS[kind], bool(default))
    return found


def _fits(signature: str, args: Sequence[object], named: dict[str, object]) -> bool:
    takes = _takes(signature)
    if len(args) > len(takes):
        return False
    given = dict(zip(takes, args, strict=False)) | named
    if not given.keys() <= takes.keys():
        return False
    return all(takes[name][0](given[name]) if name in given else may for name, (_, may) in takes.items())


def _invoked(args: Sequence[object], named: dict[str, object]) -> str:
    words = ", ".join(_shown(value) if _is_store(value) else repr(value) for value in args)
    pairs = ", ".join(f"{name}={value!r}" for name, value in named.items())
    return f"Invoked with: {words}" + (f"{'; ' if args else ''}kwargs: {pairs}" if pairs else "")


def _shown(store: object) -> str:
    return f"<{_MODULE}.{type(store).__name__} object at {id(store):#x}>"


def _checked(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    names = list(inspect.signature(function).parameters)[1:]

    @functools.wraps(function)
    def call(self: object, *args: object, **named: object) -> Any:
        # Parameters have names here that torch's have not: what is given by name counts by its place.
        extra = len(args) + len(named)
        placed = [*args, *(named[one] for one in names[len(args) : extra] if one in named)]
        if len(placed) == extra and any(_fits(text, placed, {}) for text, _ in SIGNATURES[name]):
            return function(self, *args, **named)
        if name == "wait" and extra == 2 and placed[1:] == [None] and _is_texts(placed[0]):
            return function(self, *args, **named)
        lines = "".join(
            f"    {number}. (self: {_MODULE}.Store, {text}) -> {result}\n"
            for number, (text, result) in enumerate(SIGNATURES[name], 1)
        )
        told = _invoked(args, named)
        raise TypeError(
            f"{name}(): incompatible function arguments. The following argument types are supported:\n{lines}\n"
            f"{told.replace('Invoked with: ', f'Invoked with: {_shown(self)}' + (', ' if args else ''), 1)}"
        )

    return call


def _constructed(made: Callable[..., None], name: str) -> Callable[..., None]:
    signature = CONSTRUCTORS[name]

    @functools.wraps(made)
    def construct(self: object, *args: object, **named: object) -> None:
        port = named.get("port", args[1] if len(args) > 1 else 0)
        if not _fits(signature, args, named) or (name == "TCPStore" and port not in PORTS):
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are supported:\n"
                f"    1. {_MODULE}.{name}({signature})\n\n{_invoked(args, named)}"
            )
        made(self, *args, **named)

    return construct


def checks_arguments(cls: Class) -> Class:
    """Make the methods that a class of stores defines check what they are given."""
    for name in SIGNATURES.keys() & vars(cls).keys():
        setattr(cls, name, _checked(vars(cls)[name], name))
    if cls.__name__ in CONSTRUCTORS:
        type.__setattr__(cls, "__init__", _constructed(vars(cls)["__init__"], cls.__name__))
    return cls
