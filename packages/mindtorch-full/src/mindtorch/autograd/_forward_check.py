"""The part of `gradcheck` that compares forward mode with central differences.

A function of complex inputs is checked along their real and along their imaginary direction; complex outputs are compared
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.mode import enable_grad, no_grad
from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

from . import forward_ad
from ._mismatch import Failure
from ._numerical import check_same, differentiable

IMAGINARY = "While considering the imaginary part of complex inputs only, "


def parts(targets: Sequence[Any]) -> tuple[bool, ...]:
    """Return the directions to check, imaginary (True) first, as torch reports them."""
    return (True, False) if any(one.dtype.is_complex for one in targets) else (False,)


def results_of(func: Callable[..., Any], inputs: Any) -> list[Any]:
    """Return all outputs of a call."""
    return as_list(func(*inputs))


def as_list(result: Any) -> list[Any]:
    """Return what a function returned as a list of outputs."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def tracked_of(outputs: Sequence[Any]) -> list[int]:
    """Return the places of the outputs that a gradient flows to."""
    return [number for number, one in enumerate(outputs) if differentiable(one) and one.requires_grad]


def tracked_numbers(func: Callable[..., Any], inputs: Any) -> list[int]:
    """Return the places, among all outputs, of those that a gradient flows to."""
    return tracked_of(results_of(func, inputs))


def with_tangents(inputs: Any, target: Any, direction: Any) -> Any:
    """Return the arguments as dual tensors without history: `target` moves in `direction`, other inputs do not move."""
    if isinstance(inputs, (list, tuple)):
        return type(inputs)(with_tangents(one, target, direction) for one in inputs)
    if not differentiable(inputs) or not inputs.requires_grad:
        return inputs
    return forward_ad.make_dual(inputs.detach(), direction if inputs is target else aten.zeros_like(inputs.detach()))


def tangents_along(func: Callable[..., Any], inputs: Any, target: Any, direction: Any) -> list[Any]:
    """Return the outputs' tangents when `target` moves in `direction`; zeros where an output has none."""
    with forward_ad.dual_level():
        found = []
        for one in results_of(func, with_tangents(inputs, target, direction)):
            tangent = forward_ad.unpack_dual(one).tangent
            found.append(aten.zeros_like(one.detach()) if tangent is None else tangent.detach())
    return found


def differences_along(func: Callable[..., Any], inputs: Any, target: Any, direction: Any, eps: float) -> list[Any]:
    """Return the outputs' central differences when `target` moves in `direction`."""
    before = target.detach().clone()
    values = []
    for step in (eps, -eps):
        with no_grad():
            target.data.copy_(before + step * direction)  # `.data` writes past version counters
        with enable_grad():
            values.append([one.detach().clone() for one in results_of(func, inputs)])
    with no_grad():
        target.data.copy_(before)
    for above, below in zip(*values, strict=True):
        check_same(below, above, f"by {eps}")
    return [(above - below) / (2 * eps) for above, below in zip(*values, strict=True)]


def _units(target: TensorBase, imaginary: bool) -> list[Any]:
    units = []
    for index in range(target.numel()):
        unit = aten.zeros([target.numel()], dtype=target.dtype)
        unit[index] = 1j if imaginary else 1
        units.append(unit.reshape(list(target.shape)))
    return units


def jacobian(
    along: Callable[..., list[Any]], func: Any, inputs: Any, target: Any, number: int, imaginary: bool, *eps: float
) -> Any:
    """Return the Jacobian of the output at place `number` by `target`, a row per element of `target`."""
    rows = [along(func, inputs, target, unit, *eps)[number].reshape(-1) for unit in _units(target, imaginary)]
    return aten.stack(rows) if rows else aten.zeros([0, 0], dtype=target.dtype)


def failure(
    func: Any, inputs: Any, targets: Sequence[Any], imaginary: bool, eps: float, close: Callable[[Any, Any], bool]
) -> Failure | None:
    """Return the first output and input whose forward Jacobian is not that of differences, None when all agree."""
    for place, target in enumerate(targets):
        if imaginary and not target.dtype.is_complex:
            continue
        for number, at in enumerate(tracked_numbers(func, inputs)):
            have = jacobian(tangents_along, func, inputs, target, at, imaginary)
            want = jacobian(differences_along, func, inputs, target, at, imaginary, eps)
            if not close(have, want):
                return number, place, want, have
    return None
