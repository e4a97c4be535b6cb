"""`torch._library.utils`: questions about operators and their schemas."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mindtorch
from mindtorch._naming import adopt

_TENSORS = ("Tensor", "Optional[Tensor]")
_LISTS = tuple(form.format(one) for one in _TENSORS for form in ("List[{}]", "Optional[List[{}]]"))
_BUILTIN = {"aten", "prim", "prims"}


class RegistrationHandle:
    """Takes a registration back, once."""

    def __init__(self, on_destroy: Callable[[], None]) -> None:
        self._on_destroy = on_destroy

    def destroy(self) -> None:
        """Take it back."""
        self._on_destroy()


def get_source(stacklevel: int) -> str:
    """Return file and line of a caller, as texts about registrations name it."""
    frame = inspect.getframeinfo(inspect.stack()[stacklevel][0])
    return f"{Path(frame.filename).absolute()}:{frame.lineno}"


def parse_namespace(qualname: str) -> tuple[str, str]:
    """Return namespace and name; ValueError where it is not `namespace::name`."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            'Expected `qualname` to be of the form "namespace::name", but got ' + qualname + ". The qualname passed to "
            "the torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return parts[0], parts[1]


def lookup_op(qualname: str) -> Any:
    """Return the overload of a name like `aten::add.Tensor`, without one the default."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    return getattr(getattr(getattr(mindtorch.ops, namespace), name), overload or "default")


def is_builtin(op: Any) -> bool:
    """Whether an operator is one of torch's."""
    return op.namespace in _BUILTIN


def is_out(op: Any) -> bool:
    """Whether an operator is marked as one that writes to results given by the caller."""
    return mindtorch.Tag.out in op.tags


def is_inplace(op: Any) -> bool:
    """Whether an operator is marked as one that writes to its first argument."""
    return mindtorch.Tag.inplace in op.tags


def is_functional_schema(schema: Any, *, allow_valid_view: bool = False) -> bool:
    """Whether an operator writes to nothing, and what it returns is new.

    Args:
        schema: as text, or as any object that is one as text.
        allow_valid_view: one result that views the first argument is as good as a new one.
    """
    parsed = mindtorch._C.parse_schema(str(schema))
    if parsed.is_mutable or not parsed.returns:
        return False
    shared = [one for one in parsed.returns if one.alias_info is not None]
    if not shared:
        return True
    first = parsed.arguments[0].alias_info if parsed.arguments else None
    return allow_valid_view and len(parsed.returns) == 1 and first is not None


def is_tensorlist_like_type(typ: Any) -> bool:
    """Whether a schema's type is a list of tensors, of which either may be optional."""
    return str(typ) in _LISTS


def is_tensor_like_type(typ: Any) -> bool:
    """Whether a schema's type is a tensor, which may be optional."""
    return str(typ) in _TENSORS


def mutates_and_returns_first_arg(op: Any) -> bool:
    """Whether an operator writes to its first argument alone, and returns it."""
    if op.namespace != "aten":
        return False
    schema = op._schema
    if len(schema.returns) != 1 or not schema.arguments or schema.returns[0].alias_info is None:
        return False
    written, given = schema.returns[0].alias_info.after_set, schema.arguments[0].alias_info
    if len(written) != 1 or given is None or not given.is_write or given.after_set != written:
        return False
    return all(one.alias_info is None for one in schema.arguments[1:])


def fill_defaults(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call with the defaults of those that were left out."""
    positional, named = list(args), {}
    for place, one in enumerate(schema.arguments):
        if one.kwarg_only:
            named[one.name] = kwargs.get(one.name, one.default_value)
        elif place >= len(args):
            positional.append(kwargs.get(one.name, one.default_value))
    return tuple(positional), named


def zip_schema(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The arguments of a call, each with what the schema says of it; defaults are left out."""
    if len(schema.arguments) < len(args) + len(kwargs):
        raise AssertionError(
            f"schema has {len(schema.arguments)} arguments but got {len(args)} args and {len(kwargs)} kwargs"
        )
    for place, one in enumerate(schema.arguments):
        if one.kwarg_only or place >= len(args):
            if one.name in kwargs:
                yield one, kwargs[one.name]
        else:
            yield one, args[place]


def has_kwarg_only_args(schema: Any) -> bool:
    """Whether some arguments are given by name alone."""
    return any(one.kwarg_only for one in schema.arguments)


def _takes_tensors(one: Any) -> bool:
    return is_tensor_like_type(one.type) or is_tensorlist_like_type(one.type)


def has_kwarg_only_tensors(schema: Any) -> bool:
    """Whether some tensors are given by name alone."""
    return any(one.kwarg_only and _takes_tensors(one) for one in schema.arguments)


def has_tensor_arg(schema: Any) -> bool:
    """Whether there are tensors among the arguments."""
    return any(map(_takes_tensors, schema.arguments))


def get_device_arg_index(schema: Any) -> int | None:
    """Return the place of the argument `device`, None without one."""
    places = [place for place, one in enumerate(schema.arguments) if one.name == "device" and "Device" in str(one.type)]
    return places[0] if places else None


def iter_tensors(args: tuple[Any, ...], kwargs: dict[str, Any], allowed_nesting: int = 1) -> Iterator[Any]:
    """The tensors among the arguments of a call, in lists too."""

    def inside(value: Any, depth: int) -> Iterator[Any]:
        if isinstance(value, mindtorch.Tensor):
            yield value
        elif depth > 0 and isinstance(value, (tuple, list)):
            for one in value:
                yield from inside(one, depth - 1)

    for value in (*args, *kwargs.values()):
        yield from inside(value, allowed_nesting)


def mutated_args_kwargs(schema: Any) -> tuple[list[int], list[str]]:
    """Return the arguments that are written to, by place and by name."""
    written = [(place, one) for place, one in enumerate(schema.arguments) if one.is_write]
    return [place for place, one in written if not one.kwarg_only], [one.name for _, one in written if one.kwarg_only]


def has_fake_kernel(op: Any) -> bool:
    """Whether results of an operator can be described without computing them."""
    keys = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "Meta")
    return any(mindtorch._C._dispatch_has_kernel_for_dispatch_key(op.name(), key) for key in keys)


adopt(globals())
