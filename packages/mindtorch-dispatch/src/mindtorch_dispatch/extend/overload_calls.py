"""What calls one overload: natively where that is installed, else by the call path."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mindtorch_storage.deferred import thread
from mindtorch_storage.tensor_base import TensorBase

from ..arguments.overload import bind_overload
from ..interface.native import native_path
from ..interface.wiring import wired
from ..meta.packs import Pack
from ..schema import Schema
from ..table import OpRow, find_packet


def recording() -> Callable[..., Any] | None:
    """Return what records whole operators while this thread's calls wait, None where nothing does."""
    return getattr(thread.pipe, "operator", None)


def call_of(row: OpRow, overload: Any) -> Callable[..., Any]:
    """Return what calls an overload: natively where that is installed, for operators that nobody can take back."""

    def call(*args: object, **kwargs: object) -> Any:
        if "out" in kwargs and row.out and "::" not in row.packet:
            bind_overload(row.schema, args, kwargs)  # the form that writes is another overload, and this one refuses it
        return wired.call_overload(row, args, kwargs)

    def of_a_library(*args: object, **kwargs: object) -> Any:
        record = recording()
        return wired.call_overload(row, args, kwargs) if record is None else record(overload, args, kwargs)

    def in_place(*args: object, **kwargs: object) -> None:
        (of_a_library if "::" in row.packet else call)(*args, **kwargs)

    if not row.schema.returns:
        return in_place
    packet = find_packet(row.packet)
    if "::" in row.packet:
        return of_a_library
    if native_path.caller is None or packet is None:
        return call
    made: Callable[..., Any] = native_path.caller(packet, call, False, row)
    return made


def call_packet(packet: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the overload of a packet whose schema takes the arguments."""
    record = recording()
    return wired.call_matching(packet.packet, packet, args, kwargs) if record is None else record(packet, args, kwargs)


def call_of_packet(packet: Any, form: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a built-in operator's packet: as its function `form`, but also with the schema's name `self`.

    Where a list of tensors may hold None by the schema, which torch's function does not take, it is the only overload; of
    an operator that the table does not have, whichever takes the arguments. With native code a call that was made before
    passes no frame of Python.
    """
    rows = packet.packet.rows
    by_schema = any("Tensor?[]" in (row.base or row).signature for row in rows)
    if not by_schema and not any(" self" in (row.base or row).signature for row in rows):
        return form

    def call(*args: object, **kwargs: object) -> Any:
        if by_schema or "self" in kwargs:
            return call_packet(packet, args, kwargs)
        return form(*args, **kwargs)

    made: Callable[..., Any] = call
    if native_path.caller is not None and (not by_schema or len(rows) == 1):
        made = native_path.caller(packet.packet, call, False, *(rows if by_schema else ()))
    made.__name__ = packet.packet.name
    # Native functions make the text when it is first read.
    made.__doc__ = form.__doc__ if made is call else partial(getattr, form, "__doc__")  # type: ignore[assignment]
    return made


def call_with_outputs(row: OpRow, declared: Schema, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call the `out=` form of a row, whose signature is `declared`: tensors are given for the outputs by keyword."""
    names = [argument.name for argument in declared.out_arguments]
    for argument in declared.out_arguments:
        if argument.name not in kwargs:
            raise RuntimeError(
                f"{declared.name}() is missing value for argument '{argument.name}'. Declaration: {declared}"
            )
    outs = tuple(kwargs[name] for name in names)
    if not all(map(_are_tensors, outs, (argument.type.is_list for argument in declared.out_arguments))):
        bind_overload(declared, args, kwargs)  # refuses it, unless it refuses another argument first
    rest = {name: value for name, value in kwargs.items() if name not in names}
    try:
        made = wired.call_overload(row, args, {**rest, "out": outs[0] if len(outs) == 1 else outs})
    except RuntimeError:
        bind_overload(declared, args, kwargs)  # what does not fit is told of the signature with the outputs
        raise
    return tuple(made) if isinstance(made, Pack) else made


def _are_tensors(out: object, many: bool) -> bool:
    """Whether what is given for an output is a tensor, or a list of them where there are many."""
    listed = isinstance(out, (list, tuple)) and all(isinstance(item, TensorBase) for item in out)
    return listed if many else isinstance(out, TensorBase)
