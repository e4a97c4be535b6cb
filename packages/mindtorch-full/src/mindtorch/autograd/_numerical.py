"""Jacobians for `gradcheck`: by central differences, and by backward.

Columns are real numbers: a complex output counts as its real or its imaginary part, chosen by the caller. A complex input
gives `d/dx + i d/dy`, which is what backward computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_autograd.mode import enable_grad, no_grad
from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

Tensors = Sequence[Any]


def differentiable(value: Any) -> bool:
    """True for tensors that a gradient can flow through."""
    return isinstance(value, TensorBase) and (value.dtype.is_floating_point or value.dtype.is_complex)


def flat_tensors(value: Any) -> list[Any]:
    """Return the tensors in nested sequences that require grad."""
    if isinstance(value, TensorBase):
        return [value] if value.requires_grad else []
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in flat_tensors(item)]
    return []


def outputs_of(result: Any) -> tuple[Any, ...]:
    """Return the differentiable outputs of a function."""
    results = result if isinstance(result, (list, tuple)) else (result,)
    return tuple(one for one in results if one.requires_grad and differentiable(one))


def part_of(output: Any, imaginary: bool) -> Any:
    """Return the real or the imaginary part of a complex output, a real one as it is."""
    if not output.dtype.is_complex:
        return output  # of any dtype: what cannot be subtracted raises here, as in torch
    return aten.imag(output) if imaginary else aten.real(output)


def _values(call: Callable[[], Tensors], imaginary: bool) -> list[Any]:
    with enable_grad():  # the function may itself ask for gradients
        return [part_of(one.detach(), imaginary).clone() for one in call()]


def check_same(one: Any, other: Any, how: str) -> None:
    """Raise AssertionError where an output has another shape or dtype at another place: such have no difference."""
    for what in ("shape", "dtype"):
        first, second = getattr(one, what), getattr(other, what)
        if first != second:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed {how}, but got: "
                f"{what}s {first} and {second}."
            )


def numerical(call: Callable[[], Tensors], target: Any, count: int, eps: float, imaginary: bool) -> list[Any]:
    """Return for each of `count` outputs a matrix (elements of `target`, elements of the output)."""
    rows: list[list[Any]] = [[] for _ in range(count)]
    with no_grad():
        # `.data` writes past version counters, so that `call` may be a recorded function
        elements = target.data
        for index in _indices(elements.shape):
            before = elements[index].clone()
            steps = (eps, eps * 1j) if elements.dtype.is_complex else (eps,)
            pieces = []
            for step in steps:
                elements[index] = before + step
                above = _values(call, imaginary)
                elements[index] = before - step
                below = _values(call, imaginary)
                elements[index] = before
                for one, other in zip(below, above, strict=True):
                    check_same(one, other, f"on index {index} by {eps}")
                pieces.append([(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)])
            for place in range(count):
                row = pieces[0][place] if len(pieces) == 1 else pieces[0][place] + 1j * pieces[1][place]
                rows[place].append(row.reshape(-1))
    return [aten.stack(one) if one else None for one in rows]


def _indices(shape: Any) -> Sequence[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for extent in shape:
        found = [(*index, place) for index in found for place in range(extent)]
    return found


def analytical(output: Any, inputs: Tensors, imaginary: bool, create_graph: bool = False) -> list[Any]:
    """Return for each input a matrix (elements of the input, elements of `output`), by one backward per element."""
    columns: list[list[Any]] = [[] for _ in inputs]
    for index in _indices(output.shape):
        cotangent = aten.zeros_like(output)
        cotangent[index] = 1j if imaginary else 1
        found = grad(output, inputs, cotangent, retain_graph=True, allow_unused=True, create_graph=create_graph)
        for column, one, ref in zip(columns, found, inputs, strict=True):
            column.append(aten.zeros_like(ref).reshape(-1) if one is None else one.detach().to_dense().reshape(-1))
    return [
        aten.stack(column, 1) if column else aten.zeros([ref.numel(), 0], dtype=ref.dtype)
        for column, ref in zip(columns, inputs, strict=True)
    ]
