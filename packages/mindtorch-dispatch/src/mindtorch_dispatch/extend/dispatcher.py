"""Calls by operator name, and calls below a given key: what kernels registered at run time use."""

from __future__ import annotations

import copy
from typing import Any

from ..arguments.bound import tensor_leaves
from ..call import call_below, call_overload, make_form
from ..execute.arrays import load_backend
from ..keys import DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..state import mode_set, state
from ..table import OpRow, Packet
from .entries import declared_packet

ALL_KEYS = DispatchKeySet(DispatchKey)
"""Every key."""

BACKENDS = DispatchKeySet([*DEVICE_TYPES, DispatchKey.Sparse, DispatchKey.Quantized, DispatchKey.NestedTensor])
"""The keys that the arguments choose, whatever a caller asks for."""


def current_dispatch_keyset() -> DispatchKeySet:
    """Return the keys by which the running registered kernel was reached; the empty set outside of one."""
    return state.keys


def dispatch(name: str, *args: object, **kwargs: object) -> Any:
    """Call operator `ns::name` (resolving its overload) or `ns::name.overload`; KeyError for an unknown name."""
    packet, row = _find(name)
    return make_form(packet, False)(*args, **kwargs) if row is None else call_overload(row, args, kwargs)


def _find(name: str) -> tuple[Packet, OpRow | None]:
    packet, overload = declared_packet(name)
    return packet, packet.row("" if overload == "default" else overload) if overload else None


def redispatch(name: str, keyset: DispatchKeySet, *args: object, **kwargs: object) -> Any:
    """Call operator `name` with only the keys of `keyset` taking part; backends are chosen by the arguments.

    The keys are left out of this call alone: what the kernel calls in turn passes them again.
    """
    removed = ALL_KEYS - keyset - BACKENDS
    before = state.mode
    packet, row = _find(name)
    with mode_set(exclude=before.exclude | removed.mask):
        if row is not None:
            return call_overload(row, args, kwargs, before)
        return call_below(packet, args, kwargs, before)


class TableKernel:
    """What the op table has of an operator for one backend, as a kernel that takes and returns tensors.

    Kernels registered for the operator take no part, so that a registered one may call it. The backend is loaded by the
    first call.
    """

    __slots__ = ("key", "row")

    def __init__(self, row: OpRow, key: DispatchKey) -> None:
        self.key = key
        self.row = copy.copy(row)
        for name in ("boxed", "entry", "fallthrough", "python_rules"):
            self.row.__dict__.pop(name, None)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the operator below the keys that have priority over the backend's.

        RuntimeError for tensors of other backends alone, NotImplementedError where the backend has no kernel.
        """
        device_type = DEVICE_TYPES[self.key]
        load_backend(device_type)
        devices = {tensor.device.type for tensor in tensor_leaves((*args, *kwargs.values()))}
        if devices and device_type not in devices:
            raise RuntimeError(
                f"{self.row.aten_name}: the {self.key.name} kernel got tensors on {', '.join(sorted(devices))}"
            )
        before = state.mode
        with mode_set(exclude=before.exclude | _ABOVE_BACKENDS.mask):
            return call_overload(self.row, args, kwargs, before)

    def __repr__(self) -> str:
        return f"TableKernel({self.row.aten_name!r}, {self.key})"


_ABOVE_BACKENDS = ALL_KEYS - BACKENDS
