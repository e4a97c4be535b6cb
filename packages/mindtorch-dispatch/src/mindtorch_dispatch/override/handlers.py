"""Who handles a call from Python: the innermost mode first, then the types of the arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from mindtorch_storage.tensor_base import TensorBase

from ..keys import DispatchKey
from ..state import Mode, mode_set, state

PYTHON_MASK = 1 << DispatchKey.Python


def disabled_torch_dispatch(func: Any, types: object, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """A `__torch_dispatch__` that handles nothing: the call goes on as for a plain tensor."""
    with mode_set(exclude=state.mode.exclude | PYTHON_MASK):
        return func(*args, **(kwargs or {}))


disabled_torch_dispatch.__name__ = "_disabled_torch_dispatch_impl"


def dispatches(kind: type) -> bool:
    """True when tensors of type `kind` handle calls themselves."""
    handler = getattr(kind, "__torch_dispatch__", None)
    return handler is not None and handler is not disabled_torch_dispatch


def handling(tensors: Sequence[TensorBase]) -> list[TensorBase]:
    """Return one tensor of every type that handles calls, subclasses before their bases."""
    found: list[TensorBase] = []
    types: list[type] = []
    for tensor in tensors:
        kind = type(tensor)
        if kind in types or not dispatches(kind):
            continue
        types.append(kind)
        place = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(place, tensor)
    return found


def pushed(modes: tuple[Any, ...], mode: object) -> tuple[Any, ...]:
    """Return the stack with `mode` active: innermost among its like. The machinery's modes are below the program's, and
    modes that stand above autograd are above those."""
    rank = _rank(mode)
    place = next((i for i, other in enumerate(modes) if _rank(other) > rank), len(modes))
    return (*modes[:place], mode, *modes[place:])


def _rank(mode: object) -> int:
    if getattr(mode, "above_autograd", False):
        return 2
    return 0 if getattr(mode, "_mode_key", None) is not None else 1


def without_innermost(modes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the modes that stay active while the innermost one handles a call."""
    return modes[:-1]


def ask(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: Sequence[TensorBase],
    below: Mode,
    entry: Mode,
) -> Any:
    """Return the answer of the first handler that does not decline, run under `below`.

    While a mode's handler runs the mode is not active. `entry` is the state that `enable_reentrant_dispatch` returns to.
    Raises TypeError with torch's text when all decline.
    """
    takers = handling(tensors)
    types = tuple(type(taker) for taker in takers)
    before, before_entry, composing = state.mode, state.entry, state.composing
    state.composing = False
    state.entry = entry
    modes = below.dispatch_modes
    program = state.program_override
    if program is not None:
        below = below.replace(function_override=program)
        state.program_override = None
    try:
        if modes:
            state.mode = below.replace(dispatch_modes=without_innermost(modes))
            answer = _handler(func, modes[-1])(func, types, args, kwargs)
            if answer is not NotImplemented:
                return answer
        for taker in takers:
            state.mode = below
            answer = _handler(func, taker)(func, types, args, kwargs)
            if answer is not NotImplemented:
                return answer
    finally:
        state.mode, state.entry, state.composing = before, before_entry, composing
        state.program_override = program
    raise TypeError(_all_declined(func, modes[-1] if modes else None, types))


def _handler(func: Callable[..., Any], owner: Any) -> Callable[..., Any]:
    """Return what handles `func` for a mode or a tensor: the rule registered for its type, or its own method."""
    row = getattr(func, "row", None)
    rules = row.__dict__.get("python_rules") if row is not None else None
    rule = rules.get(type(owner)) if rules else None
    if rule is None:
        rule = owner.__torch_dispatch__
        if not isinstance(owner, TensorBase) and isinstance(getattr(rule, "__self__", None), type):
            raise RuntimeError(
                "Defining your mode's `__torch_dispatch__` as a classmethod is not supported, please make it a plain method"
            )
        return cast(Callable[..., Any], rule)
    if isinstance(owner, TensorBase):
        return cast(Callable[..., Any], rule)
    return lambda *call: rule(owner, *call)


def _all_declined(func: Callable[..., Any], mode: object, types: Sequence[type]) -> str:
    lines = [f"  - mode object {mode!r}"] if mode is not None else []
    lines += [f"  - tensor subclass {kind!r}" for kind in types]
    return (
        f"Multiple dispatch failed for 'torch._ops.{func}'; all __torch_dispatch__ handlers returned NotImplemented:\n\n"
        + "\n".join(lines)
        + "\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )
