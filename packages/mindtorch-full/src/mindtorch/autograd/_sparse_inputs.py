"""Sparse inputs in `gradcheck`, for which the numbers stand in that they are made of, and gradients of zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_autograd.mode import no_grad
from mindtorch_dispatch.call import aten
from mindtorch_storage.layout import sparse_coo, strided
from mindtorch_storage.tensor_base import TensorBase

Remade = Callable[[Any], Any]


def is_sparse(value: object) -> bool:
    """True for tensors of a sparse layout."""
    return isinstance(value, TensorBase) and value.layout is not strided


def with_numbers(
    func: Callable[..., Any], inputs: Sequence[Any], masked: bool
) -> tuple[Callable[..., Any], Sequence[Any]]:
    """Return a function of strided tensors, and those, for one whose inputs may be sparse.

    With `masked` the numbers of a sparse input are those that it stores, else all its elements.
    """
    if not any(is_sparse(one) and one.requires_grad for one in inputs):
        return func, inputs
    remade: list[Remade | None] = []
    numbers: list[Any] = []
    for one in inputs:
        if is_sparse(one) and one.requires_grad:
            made, number = _apart(one, masked)
            remade.append(made)
            numbers.append(number)
        else:
            remade.append(None)
            numbers.append(one)

    def of_numbers(*given: Any) -> Any:
        return func(*(one if make is None else make(one) for one, make in zip(given, remade, strict=True)))

    return of_numbers, numbers


def _apart(tensor: Any, masked: bool) -> tuple[Remade, Any]:
    """Return how a sparse tensor is made of its numbers, and those as a leaf."""
    with no_grad():
        if not masked:
            return _by_conversion(tensor), tensor.detach().to_dense().requires_grad_()
        if tensor.layout is sparse_coo:
            entries = tensor.detach().coalesce()
            indices, shape = entries.indices(), list(tensor.shape)
            return (
                lambda values: aten._sparse_coo_tensor_unsafe(indices, values, shape, is_coalesced=True),
                entries.values().clone().requires_grad_(),
            )
        bounds, plain = tensor._array.compressed, tensor._array.plain
        layout, shape = tensor.layout, list(tensor.shape)
        return (
            lambda values: aten._sparse_compressed_tensor_unsafe(bounds, plain, values, shape, layout=layout),
            tensor.detach().values().clone().requires_grad_(),
        )


def _by_conversion(tensor: Any) -> Remade:
    dense = tensor.dense_dim()
    if tensor.layout is sparse_coo:
        return lambda elements: aten.to_sparse(elements, dense_dim=dense)
    layout, blocks = tensor.layout, tensor._sig.spec.blocksize
    return lambda elements: aten.to_sparse(
        elements, layout=layout, blocksize=None if blocks is None else list(blocks), dense_dim=dense
    )


def _layout_problem(gradient: Any, target: Any) -> str | None:
    """Return what is wrong with the layout of the gradient of a sparse input, None for nothing."""
    if gradient.layout is strided:
        return None
    if gradient.layout is not target.layout:
        return f"grad is incorrect layout ({gradient.layout} is not {target.layout})"
    kind = str(gradient.layout).replace("torch.", "").replace("_coo", "")
    for name in ("sparse_dim", "dense_dim"):
        have, want = getattr(gradient, name)(), getattr(target, name)()
        if have != want:
            return f"grad is {kind} tensor, but has incorrect {name} {have}, expected {want}"
    return None


def zero_problem(outputs: Sequence[Any], targets: Sequence[Any]) -> str | None:
    """Return what is wrong with the gradients of zeros: they must be zero, with the inputs' types and sizes."""
    zeros = [aten.zeros_like(one) for one in outputs]
    found = grad(outputs, targets, zeros, retain_graph=True, allow_unused=True)
    for one, target in zip(found, targets, strict=True):
        if one is None:
            continue
        problem = _layout_problem(one, target)
        if problem is not None:
            return problem
        if not bool((one.to_dense() == 0).all()):
            return "backward not multiplied by grad_output"
        if one.dtype is not target.dtype or one.device != target.device:
            return "grad is incorrect type"
        if one.size() != target.size():
            return "grad is incorrect size"
    return None
