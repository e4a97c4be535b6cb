"""New tensors over the bytes of others, and what autograd has to know of them."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from mindtorch_storage.deferred import MOST_DIMENSIONS
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.tensor_base import (
    TensorBase,
    ViewInfo,
    array_of_storage,
    conceal,
    has_math_bits,
    make_tensor,
    math_bits,
    shares_bytes,
)

from ..errors import bounds_error
from ..plan import Plan
from ..typing import Array


def view_of(plan: Plan, base: TensorBase, sig: Signature, offset: int) -> TensorBase:
    """Return a tensor over the bytes of `base`, `offset` elements into its storage."""
    spec = sig.spec
    storage, array = None, None
    if spec.ndim > MOST_DIMENSIONS or base._sig.spec.ndim > MOST_DIMENSIONS:
        return _view_of_geometry(plan, base, sig, offset)
    try:
        given = base._array
    except AttributeError:
        if not (shares_bytes(base) or has_math_bits(base)):
            raise
        return _view_of_geometry(plan, base, sig, offset)
    if given is not None:
        storage = base._storage
        if storage is None:
            storage = base._materialized_storage()
        if given.__class__ is not np.ndarray:
            array = array_of_storage(storage, spec, offset)
        elif spec.numel:
            try:
                array = np.ndarray(spec.shape, spec.np_dtype, storage.buffer, offset * spec.itemsize, spec.np_strides)
            except (TypeError, ValueError):  # numpy refuses what lies outside the buffer
                array = _with_short_steps(spec, offset, storage)
        else:
            array = _without_elements(spec)
    else:
        storage = base._materialized_storage()
    tensor = make_tensor(plan.cls, sig, array, storage, offset, base._counter)
    if plan.creation is not None:
        relate(plan, base, tensor)
    return tensor


def _without_elements(spec: Spec) -> Array:
    """Return the array of a view of no elements; torch's error where numpy cannot count the other extents."""
    try:
        return np.ndarray(spec.shape, spec.np_dtype)
    except ValueError:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(spec.shape)}") from None


def _with_short_steps(spec: Spec, offset: int, storage: Any) -> Array:
    """Return the array of a view whose steps over extents of 1 reach anywhere; torch's error where others do, too."""
    pairs = zip(spec.shape, spec.np_strides, strict=True)
    steps = tuple(step if extent > 1 else spec.itemsize for extent, step in pairs)
    try:
        return np.ndarray(spec.shape, spec.np_dtype, storage.buffer, offset * spec.itemsize, steps)
    except (TypeError, ValueError):
        raise bounds_error(spec, offset, storage) from None


def _view_of_geometry(plan: Plan, base: TensorBase, sig: Signature, offset: int) -> TensorBase:
    """As `view_of`, where a tensor is a geometry over its storage: numpy has no array of so many dimensions, the bytes are
    shared with a lazy clone, or negatives are shown."""
    spec, storage = sig.spec, base._materialized_storage()
    _check_math_bits(plan, base, spec)
    host = storage.device.type == "cpu"
    span = sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True)) + 1
    if host and spec.numel and (offset < 0 or (offset + span) * spec.itemsize > storage.nbytes()):
        raise bounds_error(spec, offset, storage)
    array = None
    hidden = shares_bytes(base) or has_math_bits(base)
    if host and spec.ndim <= MOST_DIMENSIONS and not hidden:
        array = array_of_storage(storage, spec, offset) if spec.numel else np.ndarray(spec.shape, spec.np_dtype)
    tensor = make_tensor(plan.cls, sig, array, storage, offset, base._counter)
    if host and array is None:
        conceal(tensor, base._pipe if hidden else None)
    if plan.creation is not None:
        relate(plan, base, tensor)
    return tensor


def _check_math_bits(plan: Plan, base: TensorBase, spec: Spec) -> None:
    """Raise torch's errors for views of other elements than those that a tensor with math bits shows."""
    bits = math_bits(base)
    if spec.dtype is base._sig.spec.dtype or not (bits.conj or bits.neg):
        return
    if plan.row.name == "view_as_real":
        if bits.conj:
            raise RuntimeError(
                "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view "
                "it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
            )
    elif bits.conj:
        raise RuntimeError(
            "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
        )
    elif plan.row.name.startswith("view.dtype"):
        raise RuntimeError(
            "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype."
        )


def relate(plan: Plan, base: TensorBase, view: TensorBase) -> None:
    """Note for autograd what `view` is a view of."""
    creation: Any = plan.creation
    above = base._view
    if above is not None:
        base = above.base
        if creation == "default":
            creation = above.creation
    view._view = ViewInfo(base, base._counter[0], creation)
    if plan.follows:
        follow(base, view)


def reveal(base: TensorBase, view: TensorBase) -> None:
    """Let a view that was composed with grad mode off count as one that was made with it on."""
    if view._view.creation == "no_grad":
        view._view.creation = "default" if base._view is None else base._view.creation
    if not view._sig.requires_grad and not view._sig.inference:
        follow(view._view.base, view)


def follow(base: TensorBase, view: TensorBase) -> None:
    """Let `view` require grad as soon as `base` does."""
    counter = base._counter
    count = len(counter)
    if count >= FOLLOWERS and not count & (count - 1):
        counter[1:] = [reference for reference in counter[1:] if reference() is not None]
    counter.append(weakref.ref(view))


FOLLOWERS = 64
"""From so many views of one base on, those that are gone are forgotten at every power of two."""
