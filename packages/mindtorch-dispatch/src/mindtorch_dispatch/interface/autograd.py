"""What the call path asks of autograd, and where autograd installs its answers.

L2 calls `hooks.install(...)` when it is imported. Without it ops run and nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mindtorch_storage.tensor_base import TensorBase

from ..state import Mode
from ..table import OpRow
from ..typing import Tensor
from .handover import Handover


class PlanRequest:
    """A call that may have to be recorded.

    `values` and `sources` are those of `planner.Bound`; `specs` the output specs, `View`s for views, None for a
    composite op with a formula of its own; `written` says that the first argument is written in place.
    """

    __slots__ = ("mode", "row", "sources", "specs", "values", "written")

    def __init__(
        self, row: OpRow, values: Sequence[Any], sources: Sequence[int | None], specs: Any, written: bool, mode: Mode
    ) -> None:
        self.row = row
        self.values = values
        self.sources = sources
        self.specs = specs
        self.written = written
        self.mode = mode


class Recorder(Protocol):
    """Made once per plan.

    `differentiable`: indices of the outputs that carry a gradient, None for all of floating or complex dtype.
    """

    differentiable: Sequence[int] | None

    def resized(self, wanted: PlanRequest) -> Recorder:
        """Return the recorder of a call that differs from this one's in sizes and strides alone."""

    def check(self, target: TensorBase) -> None:
        """Refuse an in-place write to `target` that would break the graph."""

    def before(self, flat: tuple[Any, ...]) -> Any:
        """As `check`, ahead of the kernel; what it returns goes to `after`."""

    def after(self, flat: tuple[Any, ...], result: Tensor, before: object = None) -> None:
        """Make the node of this call and connect `result` to it."""

    def after_view(self, flat: tuple[Any, ...], target: TensorBase, before: object = None) -> None:
        """As `after`, for an op that gives `target` another geometry in place."""


@dataclass(frozen=True)
class NativeParts:
    """The classes and objects of autograd that a native call path records and runs graphs with."""

    recorder: type
    node: type
    leaf: type
    task: type
    result: type
    save: type
    formula: type
    save_kinds: Any
    sequence: Iterator[int]
    anomaly: Any
    gradient_edge: Callable[..., Any]
    nowhere: Any
    add: Callable[..., Any]
    add_in_place: Callable[..., Any]
    fit: Callable[..., Any]
    unpack: Callable[..., Any]


class AutogradHooks:
    """The installed functions. `recorder` is None while autograd is absent; `forward` turns a plan into one that also
    carries tangents, for calls under forward-mode differentiation; `watched` one that shows what it writes beforehand, for
    calls while writes to saved tensors are allowed; `maker` names the op that computed a recorded tensor; `refuse_write`
    raises where an op must not write a tensor in place. `parts` hands over what native recording works with."""

    __slots__ = ("forward", "has_formula", "has_no_gradient", "maker", "parts", "recorder", "refuse_write", "watched")

    def __init__(self) -> None:
        self.parts: Handover[NativeParts] = Handover()
        self.recorder: Callable[[PlanRequest], Recorder | None] | None = None
        self.has_formula: Callable[[OpRow], bool] = lambda row: False
        self.has_no_gradient: Callable[[OpRow], bool] = lambda row: False
        self.maker: Callable[[Any], str] = lambda tensor: ""
        self.refuse_write: Callable[[OpRow, TensorBase], None] = lambda row, target: None
        self.forward: Callable[[Any, Any], Any] = lambda bound, plan: plan
        self.watched: Callable[[Any, Any], Any] = lambda bound, plan: plan

    def install(
        self,
        recorder: Callable[[PlanRequest], Any],
        has_formula: Callable[[OpRow], bool],
        has_no_gradient: Callable[[OpRow], bool],
        forward: Callable[[Any, Any], Any],
        watched: Callable[[Any, Any], Any],
    ) -> None:
        """Put autograd in place."""
        self.watched = watched
        self.forward = forward
        self.recorder = recorder
        self.has_formula = has_formula
        self.has_no_gradient = has_no_gradient


hooks = AutogradHooks()
"""The process's autograd, if any."""
