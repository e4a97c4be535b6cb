"""Thread-local state of the dispatcher, as one interned value that is part of every plan key.

`state.mode` is a `Mode`: grad mode, inference mode, default device, key guards, and which Python modes are active.
Because it is immutable and interned, "does the state differ from when this plan was made" is answered by the plan
look-up itself. Change it only by `state.mode = state.mode.replace(...)`, and put the old value back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_storage.spec import Spec

from .keys import DispatchKey, DispatchKeySet

_FIELDS = (
    "grad",
    "inference",
    "saved_hooks",
    "default_device",
    "include",
    "exclude",
    "function_modes",
    "dispatch_modes",
    "autocast",
    "forward_ad",
    "profiling",
    "watching",
    "function_override",
)
_DEFAULTS = (True, False, None, None, 0, 0, (), (), None, False, False, False, 0)

ALL_OVERRIDE, ONLY_MODES_OVERRIDE, NONE_OVERRIDE = 0, 1, 2
"""Whose `__torch_function__` is asked: modes' and types', modes' alone, nobody's."""


class Mode:
    """One combination of thread-local switches; interned, hashed by identity.

    `overriding` is True when a Python mode must see calls first, so that no plan may be looked up before it; `records` when
    calls can be recorded, which in inference mode they never are, whatever the grad mode.
    """

    __slots__ = (*_FIELDS, "_replaced", "overriding", "records")

    grad: bool
    inference: bool
    saved_hooks: Any
    default_device: Any
    include: int
    exclude: int
    function_modes: tuple[Any, ...]
    dispatch_modes: tuple[Any, ...]
    autocast: Any
    forward_ad: bool
    profiling: bool
    watching: bool
    function_override: int

    def __init__(self, values: tuple[Any, ...]) -> None:
        for name, value in zip(_FIELDS, values, strict=True):
            setattr(self, name, value)
        self.overriding = bool(self.function_modes or self.dispatch_modes)
        self.records = self.grad and not self.inference
        self._replaced: dict[tuple[Any, ...], Mode] = {}

    def replace(self, **changes: object) -> Mode:
        """Return the interned mode that differs in `changes`."""
        key = tuple(changes.items())
        return self._replaced.get(key) or self._replace(key, changes)

    def with_grad(self, grad: bool) -> Mode:
        """As `replace(grad=grad)`, which programs do most."""
        if self.grad is grad:
            return self
        key = _GRAD[grad]
        return self._replaced.get(key) or self._replace(key, {"grad": grad})

    def with_inference(self, inference: bool, grad: bool) -> Mode:
        """As `replace(inference=inference, grad=grad)`."""
        key = _INFERENCE[inference][grad]
        return self._replaced.get(key) or self._replace(key, {"inference": inference, "grad": grad})

    def _replace(self, key: tuple[Any, ...], changes: dict[str, Any]) -> Mode:
        values = tuple(changes[name] if name in changes else getattr(self, name) for name in _FIELDS)
        if values[_PYTHON_MODES] != ((), ()):
            return Mode(values)  # no plan is kept for it, and a program's objects must not be
        mode = _modes.get(values)
        if mode is None:
            if len(_modes) >= MODE_LIMIT:
                _modes.clear()
            mode = _modes.setdefault(values, Mode(values))
        if len(self._replaced) < REPLACED_LIMIT:
            self._replaced[key] = mode
        return mode

    def __repr__(self) -> str:
        changed = (
            f"{n}={getattr(self, n)!r}" for n, d in zip(_FIELDS, _DEFAULTS, strict=True) if getattr(self, n) != d
        )
        return f"Mode({', '.join(changed)})"


_PYTHON_MODES = slice(_FIELDS.index("function_modes"), _FIELDS.index("dispatch_modes") + 1)

_GRAD = ((("grad", False),), (("grad", True),))
"""What `Mode.replace` makes of the two values of `grad`."""

_INFERENCE = tuple(
    tuple((("inference", inference), ("grad", grad)) for grad in (False, True)) for inference in (False, True)
)
"""The same of `inference` and `grad`."""

REPLACED_LIMIT = 64
"""How many modes that differ from it a mode remembers."""

MODE_LIMIT = 4096
"""How many combinations stay interned; past it the table starts anew (a new plan each, never a wrong one)."""

DEFAULT_MODE = Mode(_DEFAULTS)
_modes: dict[tuple[Any, ...], Mode] = {_DEFAULTS: DEFAULT_MODE}


class _State(threading.local):
    mode: Mode = DEFAULT_MODE
    keys: DispatchKeySet = DispatchKeySet()
    recording: Any = None
    entry: Any = None
    composing: bool = False
    program_override: int | None = None
    skip_override: bool = False
    transforms: int = 0


state = _State()
"""The calling thread's state.

`mode`; `keys`, those by which the running registered kernel was reached; `recording`, the `profiling.Recording` that is
running while `mode.profiling`; `skip_override`, that the next call is not overridden; `entry`, the mode in which the call
was made that a `__torch_dispatch__` handles now; `composing`, that a composed op makes the calls that handlers see;
`program_override`, the `Mode.function_override` of the program while a call has another one, else None; `transforms`, how
many transforms of `torch.func` the program is inside of.
"""


def fresh_signature(spec: Spec, requires_grad: bool = False) -> Any:
    """Return the signature of a new tensor of geometry `spec`: in inference mode that of an inference tensor."""
    if state.mode.inference:
        return spec.inference_tracked if requires_grad else spec.inference
    return spec.tracked if requires_grad else spec.plain


@contextmanager
def mode_set(**changes: object) -> Iterator[None]:
    """Run the block under the current mode with `changes`, and put the old one back."""
    before = state.mode
    state.mode = before.replace(**changes)
    try:
        yield
    finally:
        state.mode = before


@contextmanager
def include_keys(keys: DispatchKeySet) -> Iterator[None]:
    """Add `keys` to every call of this thread within the block."""
    with mode_set(include=state.mode.include | keys.mask):
        yield


@contextmanager
def exclude_keys(keys: DispatchKeySet) -> Iterator[None]:
    """Take `keys` out of every call of this thread within the block."""
    with mode_set(exclude=state.mode.exclude | keys.mask):
        yield


AUTOGRAD_MASK = 1 << DispatchKey.Autograd

PIPELINE_MASK = 1 << DispatchKey.Pipeline
"""Included while this thread records calls instead of running them."""
