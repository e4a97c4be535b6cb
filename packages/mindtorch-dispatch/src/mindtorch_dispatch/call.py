"""THE call path: build the key, find the plan, run it.

    aten.add(x, y)          a packet: resolves the overload as Python's `torch.add` does
    aten.add.Tensor(x, y)   one overload

Each packet has one function and one method form, both made by `make_call`: the key of a call is the thread's mode,
each tensor's signature, the type of each number that is a kernel argument and the value of everything else. What is
not in the key must not influence a plan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from mindtorch_storage.tensor_base import TensorBase

from .arguments.binding import bind_overload, bind_packet
from .arguments.bound import Bound
from .arguments.description import PacketSignature, describe
from .arguments.parameter import INT64
from .arguments.python_defaults import with_python_defaults
from .arguments.receiver import check_receiver
from .execute.again import RETRIED, run_again
from .execute.profiling import plan_recorded
from .extend.overloads import namespace, overload_of
from .interface.autograd import hooks
from .interface.native import native_path
from .interface.wiring import wired
from .override import overrides
from .plan import plain_types
from .plan.family import Family, family_key
from .plan.fingerprint import Unplannable, fingerprint
from .plan.planner import plan_call
from .plan.record import differentiable
from .state import NONE_OVERRIDE, Mode, fresh_signature, state
from .table import OpRow, Packet, find_packet, packets

PLAN_LIMIT = 8192
"""How many plans a packet keeps at most; past it the oldest half goes."""

planned: dict[str, int] = {"count": 0}
"""How many plans were made in this process (a test counts that one geometry is planned once)."""


def make_call(packet: Packet, method: bool, operator: str | None = None) -> Callable[..., Any]:
    """Return the callable form of `packet`: as `torch.name`, as the method `Tensor.name`, or as the method called
    `operator`, which answers NotImplemented where the method raises TypeError for its arguments."""
    call_unplanned: Callable[..., Any] = _call_unplanned
    if operator:
        call_unplanned = partial(_call_operator, operator)

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 2 and not kwargs:  # the commonest form, its key without the loop below
            one, other = args
            if type(one) in plain_types and type(other) in plain_types:
                plan = packet.plans.get((state.mode, one._sig, other._sig))
                if plan is not None:
                    try:
                        return plan.run(plan, args)
                    except RETRIED as error:
                        return run_again(plan, args, error)
        key: list[Any] = [state.mode]
        if kwargs:
            return _call_with_names(packet, method, args, kwargs, call_unplanned)
        free = packet.free
        for arg in args:
            kind = type(arg)
            if kind in plain_types:
                key.append(arg._sig)
            elif kind is float or kind is int or kind is bool:
                any_one = len(key) in free and (kind is not int or arg in INT64)
                key.append(kind if any_one else arg if kind is int else (kind, arg))
            elif arg is None:
                key.append(None)
            else:
                try:
                    key.append(fingerprint(arg))
                except Unplannable:
                    return call_unplanned(packet, method, args, kwargs, None)
        plan = packet.plans.get(tuple(key))
        if plan is None:
            return call_unplanned(packet, method, args, kwargs, tuple(key))
        try:
            return plan.run(plan, args)
        except RETRIED as error:
            return run_again(plan, args, error)

    def keyed(*args: Any, **kwargs: object) -> Any:
        part = None if kwargs or not args or type(args[0]) not in plain_types else packet.key(*args)  # type: ignore[misc]
        if part is None:
            return call(*args, **kwargs)
        key = (state.mode, args[0]._sig, len(args), part)
        plan = packet.plans.get(key)
        if plan is None:
            return _call_unplanned(packet, method, args, kwargs, key)
        try:
            return plan.run(plan, args)
        except RETRIED as error:
            return run_again(plan, args, error)

    chosen = keyed if packet.key is not None else call
    if native_path.caller is not None:
        chosen = native_path.caller(packet, chosen, method)
    return _named(chosen, packet, method)


def _named(function: Callable[..., Any], packet: Packet, method: bool) -> Callable[..., Any]:
    """Give a callable form what `help` and `inspect` show."""
    function.__name__ = function.__qualname__ = packet.name
    function.__module__ = "torch"
    # Native functions make the text when it is first read.
    text = partial(describe, packet, method)
    function.__doc__ = text() if isinstance(function, FunctionType) else text  # type: ignore[assignment]
    function.__signature__ = PacketSignature(packet, method)  # type: ignore[attr-defined]
    function.__annotations__ = {}  # what `typing.get_type_hints` finds of torch's
    return function


def _call_with_names(
    packet: Packet, method: bool, args: tuple[Any, ...], kwargs: dict[str, Any], call_unplanned: Callable[..., Any]
) -> Any:
    """The keyword form of `call`: the names join the key, their values follow the positional arguments."""
    key: list[Any] = [state.mode]
    names, flat = tuple(kwargs), (*args, *kwargs.values())
    free = packet.free
    count = len(args)
    try:
        for position, arg in enumerate(flat):
            kind = type(arg)
            if kind in plain_types:
                key.append(arg._sig)
            elif kind is float or kind is int or kind is bool:
                place = position + 1 if position < count else names[position - count]
                any_one = place in free and (kind is not int or arg in INT64)
                key.append(kind if any_one else arg if kind is int else (kind, arg))
            else:
                key.append(fingerprint(arg))
    except Unplannable:
        return call_unplanned(packet, method, args, kwargs, None)
    key.append(names)
    plan = packet.plans.get(tuple(key))
    if plan is None:
        return call_unplanned(packet, method, args, kwargs, tuple(key))
    try:
        return plan.run(plan, flat)
    except RETRIED as error:
        return run_again(plan, flat, error)


def _call_unplanned(
    packet: Packet, method: bool, args: tuple[Any, ...], kwargs: dict[str, Any], key: tuple[Any, ...] | None
) -> Any:
    """First call of a geometry: Python overrides, then bind, plan, remember, run."""
    if state.mode.overriding or key is None:
        args = _with_plain_lists(packet, args)
        form = make_form(packet, method)
        handled, result = overrides.handle(form if method else with_python_defaults(packet, form), args, kwargs)
        if handled:
            return result
    else:
        flat = (*args, *kwargs.values())
        plan = _of_family(packet.plans, key, flat)
        if plan is not None:
            return _run_first(plan, flat)
    if method:
        check_receiver(packet.name, args)
    bound = bind_packet(packet, method, args, kwargs)
    return run_bound(bound, packet.plans if key is not None else None, key)


def _of_family(plans: dict[Any, Any], key: tuple[Any, ...], flat: tuple[Any, ...]) -> Any:
    """Return the plan of a call whose like, but for the sizes, was planned; None where it has to be planned in full."""
    family = plans.get(family_key(key, len(flat)))
    return None if family is None else plan_member(family, plans, key, flat)


def plan_member(family: Family, plans: dict[Any, Any], key: tuple[Any, ...], flat: tuple[Any, ...]) -> Any:
    """Return the plan of a call of a family and remember it; None where it has to be planned in full."""
    plan = family.member(flat, state.mode)
    if plan is not None:
        planned["count"] += 1
        _remember(plans, key, plan)
    return plan


def _run_first(plan: Any, flat: tuple[Any, ...], outer: Mode | None = None) -> Any:
    """Run a plan that a family gave."""
    state.mode = outer or state.mode
    try:
        return plan.run(plan, flat)
    except RETRIED as error:
        return run_again(plan, flat, error)


def _remember(plans: dict[Any, Any], key: Any, plan: Any) -> None:
    if len(plans) >= PLAN_LIMIT:
        for old in list(plans)[: PLAN_LIMIT // 2]:
            plans.pop(old, None)
    plans[key] = plan


def _with_plain_lists(packet: Packet, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with plain tuples for lists of tensors, whose type torch does not ask, but that of each item."""
    wanted = packet.rows[0].schema.arguments if packet.rows else ()
    return tuple(
        tuple(value)
        if isinstance(value, tuple)
        and overrides.overrides_as_tuple(type(value))
        and place < len(wanted)
        and (wanted[place].type.kind, wanted[place].type.is_list) == ("Tensor", True)
        and all(isinstance(item, TensorBase) for item in value)
        else value
        for place, value in enumerate(args)
    )


def _unanswered(name: str, args: tuple[Any, ...], error: TypeError) -> Any:
    if name in ("__neg__", "__invert__", "__abs__"):  # there is no other
        raise error
    # Of all operators torch lets `==` take arrays, as without an answer Python compares by identity.
    if name == "__eq__" and isinstance(args[1], np.ndarray):
        return args[0] == wired.from_array(args[1])
    return NotImplemented


def _call_operator(
    name: str,
    packet: Packet,
    method: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    key: tuple[Any, ...] | None,
) -> Any:
    """As `_call_unplanned`, but arguments that fit no overload give NotImplemented, so that Python tries the other."""
    check_receiver(name, args)
    if key is not None and not state.mode.overriding:
        flat = (*args, *kwargs.values())
        plan = _of_family(packet.plans, key, flat)
        if plan is not None:
            return _run_first(plan, flat)
    try:
        if state.mode.overriding or key is None:  # what Python code answers may be a TypeError too
            form = _operators[name] if name in _OWN_NAMES else make_form(packet, method)
            handled, result = overrides.handle(form, args, kwargs)
            return result if handled else run_bound(bind_packet(packet, method, args, kwargs), None, None)
        bound = bind_packet(packet, method, args, kwargs)
    except TypeError as error:
        return _unanswered(name, args, error)
    return run_bound(bound, packet.plans, key)


def run_bound(
    bound: Bound, plans: dict[Any, Any] | None, key: tuple[Any, ...] | None, outer: Mode | None = None
) -> Any:
    """Plan a bound call, remember the plan under `key` when it may be, and run it, under `outer` if that is given."""
    mode = state.mode
    if key is not None or mode.function_override == NONE_OVERRIDE or not overrides.overloaded_arguments(bound.flat):
        return _run_bound(bound, plans, key, outer)
    # Nobody is asked about what happens within a call, say for the shape of an operand.
    program = state.program_override
    state.mode, state.program_override = mode.replace(function_override=NONE_OVERRIDE), mode.function_override
    try:
        return _run_bound(bound, plans, key, outer and outer.replace(function_override=NONE_OVERRIDE))
    finally:
        state.mode, state.program_override = mode, program


def _run_bound(bound: Bound, plans: dict[Any, Any] | None, key: tuple[Any, ...] | None, outer: Mode | None) -> Any:
    plan = plan_call(bound)
    if state.mode.forward_ad:
        plan = hooks.forward(bound, plan)
    if state.mode.watching:
        plan = hooks.watched(bound, plan)
    if state.mode.profiling:
        plan = plan_recorded(bound, plan)
    planned["count"] += 1
    state.mode = outer or state.mode
    try:
        result = plan.run(plan, bound.flat)
    except RETRIED as error:
        result = run_again(plan, bound.flat, error)
    if bound.requires_grad:
        if not differentiable(result.dtype):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        result._sig = fresh_signature(result._sig.spec, True)
    if plans is not None and bound.cacheable and not state.mode.overriding:
        if bound.family is not None and key is not None:
            _remember(plans, family_key(key, len(bound.flat)), bound.family)
        _remember(plans, key, plan)
    return result


_forms: dict[tuple[str, bool], tuple[Packet, Callable[..., Any]]] = {}


def make_form(packet: Packet, method: bool) -> Callable[..., Any]:
    """Return the packet's function or method, the same object every time."""
    found = _forms.get((packet.name, method))
    if found is None or found[0] is not packet:  # an operator that was taken back may come again
        found = _forms[packet.name, method] = (packet, make_call(packet, method))
    return found[1]


def function(name: str) -> Callable[..., Any] | None:
    """Return the function form of the packet `name`, None when there is no such op."""
    packet = find_packet(name)
    return None if packet is None else with_python_defaults(packet, make_form(packet, False))


def method(name: str) -> Callable[..., Any] | None:
    """Return the method form of the packet `name`, None when there is no such op."""
    packet = find_packet(name)
    return None if packet is None else make_form(packet, True)


def operator(name: str, dunder: str) -> Callable[..., Any]:
    """Return the packet `name` as the operator method `dunder`; KeyError when there is no such op."""
    packet = find_packet(name)
    if packet is None:
        raise KeyError(name)
    made = make_call(packet, True, operator=dunder)
    if dunder not in _PACKET_NAMED:
        made.__name__ = "__idiv__" if dunder == "__itruediv__" else dunder
    _operators[dunder] = made
    return made


_OWN_NAMES = frozenset(
    f"__{name}__" for name in "and or xor iand ior ixor lshift rshift ilshift irshift floordiv eq invert".split()
)
"""Operator methods that overrides get as such; for the others they get the method of the packet's name."""

_PACKET_NAMED = frozenset(("__pow__", "__ipow__", "__neg__", "__abs__"))  # they are the packet's method itself
_operators: dict[str, Callable[..., Any]] = {}


def call_overload(row: OpRow, args: tuple[Any, ...], kwargs: dict[str, Any], outer: Mode | None = None) -> Any:
    """Call one overload, arguments bound by its schema alone; plans are shared through the packet's table.

    With `outer` the current mode only chooses the plan: the calls that a kernel makes run under `outer`.
    """
    if "out" in kwargs:
        kwargs["out"] = kwargs.pop("out")  # last, where `bind_overload` and every later run of the plan look for it
    packet = packets.get(row.packet)
    if packet is None:
        raise RuntimeError(f"operator {row.schema.qualified_name} was taken back by the library that defined it")
    return _call_keyed(row, packet, bind_overload, args, kwargs, outer)


def call_below(packet: Packet, args: tuple[Any, ...], kwargs: dict[str, Any], outer: Mode) -> Any:
    """Call a packet as its function does, planned under the current mode and run under `outer`."""
    return _call_keyed(packet, packet, _bind_function, args, kwargs, outer)


def _bind_function(packet: Packet, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return bind_packet(packet, False, args, kwargs)


def _call_keyed(
    called: object,
    packet: Packet,
    bind: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    outer: Mode | None,
) -> Any:
    try:
        key = (called, state.mode, tuple(kwargs), *[fingerprint(value) for value in (*args, *kwargs.values())])
    except Unplannable:
        key = None
    plans = packet.plans
    plan = plans.get(key) if key is not None else None
    if plan is None and key is not None:
        flat = (*args, *kwargs.values())
        plan = _of_family(plans, key, flat)
        if plan is not None:
            return _run_first(plan, flat, outer)
    if plan is None:
        if key is None and isinstance(called, OpRow) and overrides.has_stranger((*args, *kwargs.values())):
            handled, result = overrides.handle(overload_of(called, "out" in kwargs), args, kwargs)
            if handled:
                return result
        return run_bound(bind(called, args, kwargs), plans if key is not None else None, key, outer)
    flat = (*args, *kwargs.values())
    state.mode = outer or state.mode
    try:
        return plan.run(plan, flat)
    except RETRIED as error:
        return run_again(plan, flat, error)


aten = namespace("aten")
"""The built-in operators."""
