"""What the stages of the planner find out about one call, in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase

from ..arguments.bound import Bound, tensor_leaves
from ..execute import executor
from ..interface.autograd import Recorder
from ..keys import DispatchKeySet
from ..meta.rule import Outputs
from ..state import Mode
from ..table import Kernel
from .plan import Plan


class Call:
    """A bound call on its way to a plan; every stage reads what those before it wrote.

    `plan` is the plan in the making, `tensors` are the operands, `outs` the tensors given as `out=`.

    keys: `intercepted`, that Python handles it; else `device` (where it runs), `keys` (those it passes), `mode` (less what
        it passes by), `compressed`, whether a sparse layout of its operands compresses rows or columns.
    kernel: `kernel`, the device's, or `function`, which takes and returns tensors: `registered` by a program, or made from
        `composed`, what the op is made of. `settled` is the one call that a composed op comes to, `opaque` says that it has
        a derivative of its own.
    meta: `answer`.
    record: `recorder`.
    """

    __slots__ = (
        "answer",
        "bound",
        "composed",
        "compressed",
        "device",
        "function",
        "intercepted",
        "kernel",
        "keys",
        "mode",
        "opaque",
        "outs",
        "plan",
        "recorder",
        "registered",
        "row",
        "settled",
        "tensors",
    )

    compressed: bool
    device: Device

    @property
    def required_kernel(self) -> Kernel:
        """The device's kernel, after `_require_kernel` has seen that there is one."""
        assert self.kernel is not None, self.row.name
        return self.kernel

    def __init__(self, bound: Bound, mode: Mode) -> None:
        self.bound = bound
        self.row = bound.row
        self.mode = mode
        self.tensors: list[TensorBase] = tensor_leaves(bound.values)
        self.outs: list[TensorBase] = [] if bound.out is None else tensor_leaves((bound.out,))
        self.plan = Plan(bound.row, executor.run_composite)
        self.intercepted = False
        self.keys = DispatchKeySet()
        self.kernel: Kernel | None = None
        self.function: Callable[..., Any] | None = None
        self.composed: Callable[..., Any] | None = None
        self.registered: Callable[..., Any] | None = None
        self.settled: Any = None
        self.opaque = False
        self.answer = Outputs(None)
        self.recorder: Recorder | None = None

    def specs(self) -> list[Any]:
        """Return the call's values with every tensor replaced by its spec."""
        return specs_of(self.bound.values)


def specs_of(values: Sequence[Any]) -> list[Any]:
    """Return values with every tensor replaced by its spec."""
    specs: list[Any] = []
    for value in values:
        if isinstance(value, TensorBase):
            specs.append(value._sig.spec)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
            specs.append([item._sig.spec if isinstance(item, TensorBase) else item for item in value])
        else:
            specs.append(value)
    return specs
