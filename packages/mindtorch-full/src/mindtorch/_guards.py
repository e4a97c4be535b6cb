"""`torch._guards`: what a tracer knows of the program it traces, which is the mode of its fake tensors."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from mindtorch_storage.lazy_import import LazyModule

from ._naming import adopt

_fake_tensor = LazyModule("mindtorch._subclasses.fake_tensor", "it stands on tensors, and this module is loaded before")
_dispatch = LazyModule("mindtorch.utils._python_dispatch", "the same")
_pytree = LazyModule("mindtorch.utils._pytree", "the same")


class _OfThread(threading.local):
    """The context of each thread's trace."""

    context: TracingContext | None = None


_present = _OfThread()


class TracingContext:
    """What belongs to one trace: the mode whose fakes its tensors are, or None."""

    def __init__(self, fake_mode: Any) -> None:
        self.fake_mode = fake_mode

    @staticmethod
    def try_get() -> TracingContext | None:
        """Return the context of the trace that goes on, None outside of `tracing`."""
        return _present.context

    @staticmethod
    def get() -> TracingContext:
        """Return the context of the trace that goes on; RuntimeError outside of `tracing`."""
        if _present.context is None:
            raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
        return _present.context


@contextlib.contextmanager
def tracing(context: TracingContext | None) -> Iterator[TracingContext | None]:
    """Run the block as a trace with this context."""
    before = _present.context
    _present.context = context
    try:
        yield context
    finally:
        _present.context = before


def active_fake_mode() -> Any:
    """Return the mode of fake tensors that is entered, the innermost one, or None."""
    modes = reversed(_dispatch._get_current_dispatch_mode_stack())
    return next((mode for mode in modes if isinstance(mode, _fake_tensor.FakeTensorMode)), None)


def detect_fake_mode(inputs: Any = None) -> Any:
    """Return the mode of fake tensors of a trace: its context's, else one that is entered or that made an input, or None."""
    if _present.context is not None and _present.context.fake_mode is not None:
        return _present.context.fake_mode
    modes = reversed(_dispatch._get_current_dispatch_mode_stack())
    found = [
        (mode, f"active fake mode {place}")
        for place, mode in enumerate(modes)
        if isinstance(mode, _fake_tensor.FakeTensorMode)
    ]
    for place, leaf in enumerate(_pytree.tree_leaves(inputs)):
        mode = _fake_tensor.maybe_get_fake_mode(leaf)
        if mode is not None:
            found.append((mode, f"fake tensor input {place}"))
    for mode, where in found[1:]:
        if mode is not found[0][0]:
            raise AssertionError(
                f"fake mode ({found[0][0]}) from {found[0][1]} doesn't match mode ({mode}) from {where}\n"
            )
    return found[0][0] if found else None


adopt(globals())
