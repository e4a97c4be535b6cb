"""Views in the graph: where gradients of a tensor go, how stale views catch up with writes to their base."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import MathBits, TensorBase, ViewInfo, math_bits, share_bytes

from .node import Node, accumulator, forward_name, hooks_of

_ADVICE = {
    "multi_output": "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    "custom": "This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
    "logic to handle view+inplace would override the custom backward associated with the custom Function, leading to "
    "incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.",
} | {
    kind: "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    f"the view and the inplace either both inside the {kind}{suffix} block (if you don't want the inplace to be tracked) or "
    "both outside (if you want the inplace to be tracked)."
    for kind, suffix in (("no_grad", ""), ("inference", "_mode"))
}


def check_view(target: TensorBase, view: ViewInfo, indirect: bool) -> None:
    """Raise torch's error for a write to, or through the base of, a view that may not be rebased."""
    creation = view.creation
    if creation == "default":
        return
    modified = "its base or another view of its base has been" if indirect else "is being"
    made = target._grad_fn
    if creation in ("inference", "no_grad") or made is None:
        prefix = (
            "A view was created in"
            if made is None
            else f"Output {target._output_nr} of {forward_name(made)} is a view of a view which was created in"
        )
        where = (
            f"inference mode and {modified} modified inplace in normal mode."
            if creation == "inference"
            else f"no_grad mode and {modified} modified inplace with grad mode enabled."
        )
        text = f"{prefix} {where}"
    else:
        text = f"Output {target._output_nr} of {forward_name(made)} is a view and {modified} modified inplace."
    raise RuntimeError(f"{text} {_ADVICE[creation]}")


def gradient_edge(tensor: TensorBase) -> tuple[Any, int]:
    """Return where a gradient of `tensor` goes: its node and output number, or its accumulator; (None, 0) if nowhere.

    A view that requires grad only because its base does, and has no node, passes gradients nowhere.
    """
    made = grad_fn(tensor)
    if made is not None:
        return made, tensor._output_nr
    if tensor._sig.requires_grad and (tensor._view is None or tensor._view.leaf):
        return accumulator(tensor), 0
    return None, 0


def grad_fn(tensor: TensorBase) -> Any:
    """Return the node that made `tensor`; a view whose base was written since gets a fresh one."""
    view = tensor._view
    if view is None or view.attr_version == tensor._counter[0]:
        return tensor._grad_fn
    base = view.base
    if (tensor._grad_fn is None and not base._sig.requires_grad) or not _differentiable(tensor._sig.spec):
        return tensor._grad_fn
    check_view(tensor, view, indirect=True)
    spec = tensor._sig.spec
    with mode_set(grad=True, saved_hooks=None, function_modes=(), dispatch_modes=()):
        needed = base._sig.requires_grad
        start = base if needed else leaf_over(base)
        fresh = with_bits(region_of(start, spec, tensor._offset), math_bits(tensor))
    if not needed:  # gradients go nowhere from here on, which makes no leaf of the view
        fresh._grad_fn._edges = ((None, 0),)
    set_history(tensor, fresh._grad_fn, 0)
    view.attr_version = tensor._counter[0]
    return tensor._grad_fn


def region_of(base: TensorBase, spec: Spec, offset: int) -> Any:
    """Return the view of `base` with a geometry, `offset` elements from where the storage starts.

    A real view of complex elements, or a complex view of pairs, is made as what it is. The view has the bits of `base`, but
    for real views of conjugates: those are of what the storage holds.
    """
    have = base._sig.spec.dtype
    if have.is_complex and not spec.dtype.is_complex:
        pairs = aten.view_as_real(aten._conj(base) if math_bits(base).conj else base)
        if pairs._sig.spec is spec and pairs._offset == offset:
            return pairs
        base = pairs
    elif spec.dtype.is_complex and not have.is_complex:
        stride = [2 * step for step in spec.stride]
        return aten.view_as_complex(aten.as_strided(base, [*spec.shape, 2], [*stride, 1], 2 * offset))
    return aten.as_strided(base, list(spec.shape), list(spec.stride), offset)


def with_bits(tensor: TensorBase, bits: MathBits) -> Any:
    """Return a tensor over the same bytes that has these bits: itself, or a view."""
    have = math_bits(tensor)
    shown: Any = aten._conj(tensor) if have.conj != bits.conj else tensor
    return aten._neg_view(shown) if have.neg != bits.neg else shown


def _differentiable(spec: Spec) -> bool:
    return spec.dtype.is_floating_point or spec.dtype.is_complex


def set_history(tensor: TensorBase, node: Node, number: int) -> None:
    """Make output `number` of `node` the history of `tensor`.

    Hooks stay with the old history; the function that retains the tensor's grad moves to the new one.
    """
    old, old_number, meta = tensor._grad_fn, tensor._output_nr, tensor._meta
    tensor._grad_fn = node
    tensor._output_nr = number
    set_requires_grad(tensor, True)
    if meta is None:
        return
    meta.hooks = None
    if meta.retains_grad and old is not None and node is not None:
        hooks_of(node).retain[number] = hooks_of(old).retain.pop(old_number)


def leaf_over(tensor: TensorBase) -> Any:
    """Return a leaf without history over the tensor's bytes and version counter that requires grad."""
    return alias_over(tensor, tensor._sig.spec.tracked)


def alias_over(tensor: TensorBase, sig: Any) -> Any:
    """Return a tensor without history over the bytes of a tensor, of its class; what a program keeps on it comes along."""
    made = share_bytes(type(tensor), sig, tensor)
    attributes = getattr(tensor, "__dict__", None)
    if attributes:
        vars(made).update(attributes)  # operators of a wrapper read them
    return made


def set_requires_grad(tensor: TensorBase, value: bool) -> None:
    """Set whether `tensor` requires grad, and of the views that follow it."""
    tensor._sig = tensor._sig.requiring(value)
    counter = tensor._counter
    if len(counter) == 1 or tensor._view is not None:
        return
    for reference in counter[1:]:
        view = reference()
        if view is not None and view._view.base is tensor and not view._view.leaf and _differentiable(view._sig.spec):
            view._sig = view._sig.requiring(value)
