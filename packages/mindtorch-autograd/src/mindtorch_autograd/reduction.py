"""Fitting of a node's gradients to its inputs: un-broadcast, cast, refused; done once here and in no formula."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .node import Node


def sum_to_shape(grad: TensorBase, shape: tuple[int, ...]) -> Any:
    """Return `grad` summed over the dimensions that broadcasting to its shape added or stretched."""
    have = grad.shape
    lead = len(have) - len(shape)
    dims = list(range(lead))
    if lead and have[lead:] == shape and not state.mode.grad and not state.mode.dispatch_modes:
        return aten.sum(grad, dims)  # what follows is torch's graph, but a view, which a leaf would have to copy
    dims += [lead + i for i, extent in enumerate(shape) if extent == 1 and have[lead + i] != 1]
    if dims:
        grad = aten.sum(grad, dims, True)
    return aten.view(grad, list(shape)) if lead else grad


def expandable(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """True when a tensor of `shape` can be broadcast to `target`."""
    lead = len(target) - len(shape)
    return lead >= 0 and all(extent in (1, wanted) for extent, wanted in zip(shape, target[lead:], strict=True))


def fit(grad: TensorBase, spec: Spec, node: Node, index: int) -> Any:
    """Return `grad`, which `node` gave for its input `index`, with the shape and dtype that `spec` describes.

    Raises torch's RuntimeError for shapes that do not broadcast and for another device.
    """
    have = grad._sig.spec
    if have.shape != spec.shape:
        if not expandable(spec.shape, have.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(have.shape)} but "
                f"expected shape compatible with {list(spec.shape)}"
            )
        grad = sum_to_shape(grad, spec.shape)
    if have.dtype is not spec.dtype:
        if have.dtype.is_complex and not spec.dtype.is_complex:
            grad = aten.real(grad)
        if grad._sig.spec.dtype is not spec.dtype:
            grad = aten._to_copy(grad, dtype=spec.dtype)
    if have.device != spec.device:
        if have.ndim:
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - expected device "
                f"{spec.device} but got {have.device}"
            )
        grad = aten._to_copy(grad, device=spec.device)
    return grad
