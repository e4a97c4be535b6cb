"""Accumulation into `.grad`: when a gradient's memory is taken over, when it is copied, when it is added in place.

As in torch: the first gradient becomes `.grad` itself if nothing else can see its memory and its layout is the leaf's,
otherwise it is copied into the leaf's layout, so that two leaves never share; later ones are added in place, or out of
place while the backward is itself recorded.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.interception import intercepted
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Array, Tensor
from mindtorch_storage.forking import renew_after_fork
from mindtorch_storage.layout import sparse_coo, strided
from mindtorch_storage.references import is_unshared
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import is_non_overlapping_and_dense
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, share_bytes

from .mode import layout_policy

lock = threading.Lock()
"""Held while a gradient is added to a leaf, which several threads may share."""
renew_after_fork(lambda: globals().update(lock=threading.Lock()))


def add_to(variable: TensorBase, meta: AutogradMeta, grads: list[Any], holders: int = 1) -> None:
    """Add the gradient in `grads`, which is taken out of it, to the gradient of `variable`, whose meta is `meta`.

    The list lets this function be the only one that refers to the gradient, however it is called: debuggers and
    compilers that evaluate frames themselves keep arguments alive. `holders` counts the list, and what else may refer to
    the gradient without being in the way.
    """
    unshared = is_unshared(grads, -1, holders)
    grad = grads.pop()
    with lock:
        old = meta.grad
        if grad._sig.spec.layout is not strided or (old is not None and old._sig.spec.layout is not strided):
            meta.grad = _with_sparse(old, grad) if old is not None else _first_sparse(grad, unshared)
        elif old is None:
            if state.mode.grad:
                meta.grad = obeying(grad, variable._sig.spec)
            elif unshared and _takeable(grad, variable._sig.spec):
                meta.grad = _taken(grad)
            else:
                meta.grad = _without_history(obeying(grad, variable._sig.spec))
        elif state.mode.grad:
            meta.grad = aten.add(old, grad)
        else:
            aten.add_(old, grad)


def _with_sparse(old: Any, grad: TensorBase) -> Any:
    """Return the sum of gradients of which one is sparse: it is sparse when all are."""
    if old._sig.spec.layout is strided:
        return aten.add_(old, grad)
    return aten.add(grad, old) if grad._sig.spec.layout is strided else aten.add(old, grad)


def _first_sparse(grad: TensorBase, unshared: bool) -> Any:
    """Return a first gradient that is sparse: with the memory of `grad` where nothing else refers to that."""
    if state.mode.grad:
        return aten.clone(grad)
    if grad._sig.spec.layout is not sparse_coo:
        return aten.detach(grad) if unshared else aten.clone(aten.detach(grad))
    indices, values = aten._indices(grad), aten._values(grad)
    if unshared and indices.is_contiguous() and values.is_contiguous():
        return aten.detach(grad)
    return aten.clone(aten.detach(grad))


def writable(sum_: TensorBase, grad: TensorBase) -> bool:
    """True when `grad` may be added to a sum in place: nothing else sees the memory of the sum, and both are alike.

    That nothing refers to the sum itself is for the caller to know.
    """
    try:
        array = sum_._array
    except AttributeError:  # its bytes are shared with a lazy clone
        return False
    return (
        sum_._sig is grad._sig
        and not state.mode.dispatch_modes
        and not sum_._sig.requires_grad
        and type(sum_) is wired.tensor_class
        and type(grad) is wired.tensor_class
        and type(array) is np.ndarray
        and is_unshared(sum_, "_array", 2)  # and the variable
        and (array.base is None and sum_._storage is None if sum_._view is None else _unseen(sum_, array))
    )


def _unseen(view: Any, array: Any) -> bool:
    """True for a view, without repeated elements, of what nothing else sees; `array` is the view's."""
    base, storage = view._view.base, view._storage
    whole = base._array
    return (
        (array.flags.forc or array.flags.f_contiguous)
        and array.flags.writeable
        and storage is not None
        and base._storage is storage
        and is_unshared(view._view, "base", 2)
        and is_unshared(view, "_storage", 3)
        and is_unshared(base, "_array", 3 + (array.base is whole))
    )


def add(have: Tensor, grad: Tensor) -> Any:
    """Return the sum of two gradients. A sparse one comes last: it can be added to a dense one, not the other way round."""
    return aten.add(grad, have) if have._sig.spec.layout is not strided else aten.add(have, grad)


def add_in_place(have: Tensor, grad: Tensor) -> Any:
    """Return `have` with `grad` added to it."""
    return aten.add_(have, grad)


def _taken(grad: Tensor) -> Any:
    if intercepted(state.mode, (grad,)):
        return aten.detach(grad)  # as handlers see it in torch
    return grad if grad._view is None else _without_view(grad)


def _takeable(grad: TensorBase, spec: Spec) -> bool:
    """True when the gradient is the only tensor over its memory and has the leaf's geometry.

    A view is taken too, where nothing but the view itself refers to its base.
    """
    if type(grad) is not wired.tensor_class and intercepted(state.mode, (grad,)):
        return grad._grad_fn is None and not grad._sig.requires_grad and _same_layout(grad._sig.spec, spec)
    try:
        storage, array, view = grad._storage, grad._array, grad._view
    except AttributeError:  # its bytes are shared with a lazy clone
        return False
    return (
        array is not None
        and (_alone(array) if view is None else is_unshared(view, "base"))
        and (storage is None or is_unshared(grad, "_storage", 2 if view is None else 3))
        and grad._grad_fn is None
        and not grad._sig.requires_grad
        and type(grad) is wired.tensor_class
        and (grad._sig.spec is spec or _same_layout(grad._sig.spec, spec) or not layout_policy.enforced)
    )


def _alone(array: Array) -> bool:
    """True when the array owns its memory, or is the only one over a flat buffer, as arrays in other orders are."""
    base = array.base
    return base is None or (getattr(base, "base", array) is None and is_unshared(array, "base", 2))


def _without_view(grad: TensorBase) -> TensorBase:
    return share_bytes(wired.tensor_class, grad._sig.spec.plain, grad)


def _same_layout(one: Spec, other: Spec) -> bool:
    """True for equal strides; those of dimensions of extent 1 are no part of a layout."""
    return one.stride == other.stride or all(
        extent == 1 or a == b for extent, a, b in zip(one.shape, one.stride, other.stride, strict=True)
    )


def obeying(grad: TensorBase, spec: Spec) -> Any:
    """Return a copy of `grad` in the layout of the leaf that `spec` describes, contiguous if that one overlaps."""
    have = grad._sig.spec
    stride = spec.stride if is_non_overlapping_and_dense(spec.shape, spec.stride) else have.contiguous().stride
    if have.is_contiguous and have.stride == stride and not state.mode.grad:
        return aten.clone(grad)
    return aten.copy_(aten.new_empty_strided(grad, list(have.shape), list(stride)), grad)


def _without_history(tensor: TensorBase) -> TensorBase:
    if tensor._grad_fn is None and not tensor._sig.requires_grad:
        return tensor
    return share_bytes(wired.tensor_class, tensor._sig.spec.plain, tensor)
