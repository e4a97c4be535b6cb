"""The derivative table: one formula per differentiable argument, whose parameter names are the save list.

    derivative("mul.Tensor", self=lambda grad, other: grad * conj(other), other=lambda grad, self: grad * conj(self))

A parameter names what the formula needs, and nothing else is kept alive:
    grad            gradient of the first output (never None); grads: of every output, None where undefined
    result          the output (`result0`, `result1`, ... for several)
    NAME            the argument NAME; NAME_spec: its geometry only (a list of specs for `Tensor[]`); NAME_offset: where
                    in its storage it starts
    needs           for `joint`: which of its arguments need a gradient

A number given at a `Tensor` place arrives as that number; `conj` and `to_dtype` below accept both. Reducing to the
input's shape and casting to its dtype happen in the engine, not in formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.table import OpRow, find_row
from mindtorch_dispatch.typing import Tensor

ZERO = "zero"
"""A formula: the gradient is zeros, whatever the op was called with."""

NON_DIFFERENTIABLE = "non_differentiable"
"""Instead of formulas: the op's outputs never carry a gradient."""


class Formula:
    """One formula: which arguments it gives gradients for, the function, and its parameter names."""

    __slots__ = ("arguments", "fn", "joint", "parameters")

    def __init__(self, arguments: tuple[str, ...], fn: Callable[..., Any], joint: bool) -> None:
        self.arguments = arguments
        self.fn = fn
        self.joint = joint
        code = fn.__code__
        self.parameters = code.co_varnames[: code.co_argcount]


class Joint:
    """Formula for several arguments at once: `fn` returns a tuple of gradients in the order of `arguments`."""

    __slots__ = ("arguments", "fn")

    def __init__(self, arguments: Sequence[str], fn: Callable[..., Any]) -> None:
        self.arguments = tuple(arguments)
        self.fn = fn


def joint(*arguments: str) -> Callable[[Callable[..., Any]], Joint]:
    """Decorator: make a function the joint formula of `arguments`."""
    return lambda fn: Joint(arguments, fn)


_PASSED = frozenset(("grad", "grads", "needs"))
"""Parameters that are no part of the call."""


class Derivative:
    """The derivative row of one op: formulas, the node's class name, output differentiability.

    `active` are the arguments that formulas give gradients for, `read` the names that they are given.
    """

    __slots__ = ("active", "formulas", "name", "node", "non_differentiable", "outputs", "read", "tangent")

    def __init__(
        self, name: str, formulas: list[Formula], node: str, non_differentiable: bool, outputs: Sequence[int] | None
    ) -> None:
        self.name = name
        self.formulas = formulas
        self.node = node
        self.non_differentiable = non_differentiable
        self.outputs = outputs
        self.active = frozenset(name for formula in formulas for name in formula.arguments)
        self.read = frozenset(name for formula in formulas for name in formula.parameters) - _PASSED
        self.tangent: Callable[..., Any] | None = None


derivatives: dict[str, Derivative] = {}
"""Row name to derivative row."""


def node_name(packet: str) -> str:
    """Return torch's node class name for an op name: `avg_pool2d` gives `AvgPool2DBackward0`."""
    stem = "".join(part.title() for part in packet.rpartition("::")[2].strip("_").split("_"))
    return f"{stem}Backward0"


def derivative(
    names: str,
    marker: str | Joint | None = None,
    *,
    node: str | None = None,
    outputs: Sequence[int] | None = None,
    tangent: Callable[..., Any] | None = None,
    **formulas: Any,
) -> None:
    """Declare how to differentiate one op, or several (space-separated) by the same formulas.

    Args:
        names: row names, `packet.overload`.
        marker: `NON_DIFFERENTIABLE`, or a `Joint` formula.
        node: torch's node name where it is not `<Name>Backward0`.
        outputs: indices of the differentiable outputs; default: all of floating or complex dtype.
        tangent: for an op of one differentiable argument whose tangent does not follow from its gradient, or for a view
            whose tangent is not that view of the tangent: makes it of the argument's tangent and the call's arguments.
        formulas: argument name to lambda, or `ZERO`.

    Raises ValueError for a second declaration.
    """
    for name in names.split():
        if name in derivatives:
            raise ValueError(f"derivative of {name!r} is declared twice")
        made = [
            Formula((argument,), fn, False) if fn is not ZERO else Formula((argument,), _zero, False)
            for argument, fn in formulas.items()
        ]
        if isinstance(marker, Joint):
            made.append(Formula(marker.arguments, marker.fn, True))
        made.sort(key=lambda formula: ", ".join(formula.arguments))  # the order in which torch evaluates them
        derivatives[name] = Derivative(
            name, made, node or node_name(name.partition(".")[0]), marker == NON_DIFFERENTIABLE, outputs
        )
        derivatives[name].tangent = tangent


def _zero(grad: Tensor) -> Any:
    return aten.zeros_like(grad)


def find_derivative(row: OpRow) -> Derivative | None:
    """Return the derivative row of an op row; in-place and out forms without one inherit their functional row's."""
    return derivatives.get(row.name) or derivatives.get((row.base or row).name)


def check_table() -> list[str]:
    """Return what is wrong with the table: unknown ops, arguments or parameter names (a test wants it empty)."""
    problems = []
    for name, entry in derivatives.items():
        row = find_row(name)
        if row is None:
            problems.append(f"derivative of unknown op {name!r}")
            continue
        known = {argument.name for argument in row.schema.arguments}
        allowed = (
            known
            | {f"{argument}_{what}" for argument in known for what in ("spec", "offset")}
            | {"grad", "grads", "needs", "result"}
        )
        allowed |= {f"result{index}" for index in range(len(row.schema.returns))}
        for formula in entry.formulas:
            problems += [f"{name}: no argument {a!r}" for a in formula.arguments if a not in known]
            problems += [f"{name}: unknown name {p!r}" for p in formula.parameters if p not in allowed]
    return problems
