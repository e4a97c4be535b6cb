"""Geometry rules of operators: what `register_fake` registers and what runs on the meta device."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from mindtorch_dispatch.extend.entries import Registration
from mindtorch_dispatch.registry import registry


class FakeImplCtx:
    """The geometry rule that runs: of which operator, and where it was registered."""

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place


_running: ContextVar[FakeImplCtx | None] = ContextVar("running_rule", default=None)


def get_ctx() -> None:
    """Return None outside of a geometry rule.

    Within one it raises RuntimeError with torch's text: sizes that depend on values cannot be made without them.

    >>> import inspect
    >>> inspect.isfunction(torch.library.get_ctx)
    True
    """
    running = _running.get()
    if running is not None:
        error: Any = RuntimeError(
            f"{running.name} ({running.place}): You're trying to run this operator with meta Tensors (as opposed to "
            "FakeTensors), but this operator may return an output Tensor with data-dependent shape. Meta Tensors don't "
            "support operators with outputs that have data-dependent shapes but FakeTensors do. If your operator does not "
            "return an output with data-dependent shape, make sure the FakeTensor and/or meta kernel does not call "
            "torch.library.get_ctx(). Otherwise, please use FakeTensors."
        )
        error.sizes_need_values = True  # so that a call which waits for its turn is made at once
        raise error


def register_rule(name: str, fn: Callable[..., Any], place: str, allow_override: bool) -> Callable[[], None]:
    """Make `fn` the geometry rule of operator `name` and return what takes it back.

    Torch's RuntimeError when the operator has a rule and may not lose it.
    """
    row = registry.find(name)
    entry = row.__dict__.get("entry") if row is not None else None
    before = entry.registered("Meta") if entry is not None else None
    if before is not None and not allow_override:
        raise RuntimeError(
            f"register_fake(...): the operator {name} already has a fake impl registered at {before.place}."
        )
    context = FakeImplCtx(name, place)

    def rule(*args: Any, **kwargs: Any) -> Any:
        token = _running.set(context)
        try:
            return fn(*args, **kwargs)
        finally:
            _running.reset(token)

    rule.__signature__ = inspect.signature(fn)  # type: ignore[attr-defined]
    registration = Registration(rule, place=place)
    registry.add(name, "Meta", registration)
    return lambda: registry.discard(name, "Meta", registration)
