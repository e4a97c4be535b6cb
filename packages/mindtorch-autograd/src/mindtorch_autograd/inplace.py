"""In-place writes and views in the graph: what is refused, how history is rebased, how stale views catch up."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .node import Node, accumulator


def check_inplace(target: TensorBase) -> None:
    """Raise torch's errors for in-place writes that the graph cannot record."""
    if not state.mode.grad:
        return
    view = target._view
    if view is None:
        if target._sig.requires_grad and target._grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        return
    base = view.base
    if base._sig.requires_grad and base._grad_fn is None and view.creation == "default":
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if view.creation == "multi_output" and target._sig.requires_grad:
        maker = target._grad_fn.name() if target._grad_fn is not None else "the op"
        raise RuntimeError(
            f"Output {target._output_nr} of {maker} is a view and is being modified inplace. This view is the output "
            "of a function that returns multiple views. Such functions do not allow the output views to be modified "
            "inplace. You should replace the inplace operation by an out-of-place one."
        )
    if view.creation == "no_grad" and base._sig.requires_grad:
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this "
            "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
            "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or "
            "both outside (if you want the inplace to be tracked)."
        )


class AsStridedBackward0(Node):
    """Node of a view regenerated after a write to its base: the gradient scatters into the base's shape."""

    __slots__ = ("base_offset", "base_spec", "offset", "spec")

    def __init__(self, edge: tuple[Any, int], base: TensorBase, view: TensorBase) -> None:
        super().__init__((edge,), (view._sig.spec,))
        self.base_spec = base._sig.spec
        self.base_offset = base._offset
        self.spec = view._sig.spec
        self.offset = view._offset

    def apply(self, grads: list[Any]) -> list[Any]:
        """Scatter the view's gradient into zeros of the base's shape."""
        if grads[0] is None:
            return [None]
        total = _zeros(self.base_spec)
        region = _region(total, self.base_spec, self.base_offset, self.spec, self.offset)
        region.copy_(grads[0])
        return [total]


class CopySlices(Node):
    """Node of a base after an in-place write to one of its views: the written region's gradient goes through `fn`."""

    __slots__ = ("base_offset", "base_spec", "fn", "offset", "spec")

    def __init__(self, base: TensorBase, view: TensorBase, fn: Node) -> None:
        super().__init__((gradient_edge(base), *fn.next_functions[1:]), (base._sig.spec,))
        self.base_spec = base._sig.spec
        self.base_offset = base._offset
        self.spec = view._sig.spec
        self.offset = view._offset
        self.fn = fn

    def apply(self, grads: list[Any]) -> list[Any]:
        """Cut the written region out of the gradient, run the op's own node on it, put the result back."""
        if self.fn is None:
            raise RuntimeError("CopySlices: the graph was freed")
        if grads[0] is None:
            return [None] * len(self._edges)
        total = aten.clone(grads[0])
        if total._sig.spec.stride != self.base_spec.stride:
            fresh = _zeros(self.base_spec)
            fresh.copy_(total)
            total = fresh
        region = _region(total, self.base_spec, self.base_offset, self.spec, self.offset)
        inner = list(self.fn.apply([aten.clone(region)]))
        if inner and inner[0] is not None:
            region.copy_(inner[0])
        else:
            region.zero_()
        return [total, *inner[1:]]

    def release(self) -> None:
        """Drop what the op's node saved."""
        self.fn.release()


def _zeros(spec: Spec) -> Any:
    return aten.new_empty_strided(
        aten.zeros([], dtype=spec.dtype, device=spec.device), list(spec.shape), list(spec.stride)
    ).zero_()


def _region(total: Any, base_spec: Spec, base_offset: int, spec: Spec, offset: int) -> Any:
    return aten.as_strided(total, list(spec.shape), list(spec.stride), total._offset + offset - base_offset)


def gradient_edge(tensor: TensorBase) -> tuple[Any, int]:
    """Return where a gradient of `tensor` goes: its node and output number, or its accumulator; (None, 0) if nowhere."""
    made = grad_fn(tensor)
    if made is not None:
        return made, tensor._output_nr
    if tensor._sig.requires_grad:
        return accumulator(tensor), 0
    return None, 0


def grad_fn(tensor: TensorBase) -> Any:
    """Return the node that made `tensor`; a view whose base was written since gets a fresh one."""
    view = tensor._view
    if view is None or view.attr_version == tensor._counter[0]:
        return tensor._grad_fn
    base = view.base
    if base._sig.requires_grad and base._grad_fn is not None:
        tensor._grad_fn = AsStridedBackward0(gradient_edge(base), base, tensor)
        tensor._output_nr = 0
        spec = tensor._sig.spec
        tensor._sig = spec.tracked
    view.attr_version = tensor._counter[0]
    return tensor._grad_fn


def rebase_history(target: TensorBase, node: Node) -> None:
    """Make `node` the history of `target` after an in-place write; a view's base gets a CopySlices node."""
    view = target._view
    if view is None or view.creation == "no_grad":
        target._grad_fn = node
        target._output_nr = 0
        target._sig = target._sig.spec.tracked
        return
    base = view.base
    wrapped = CopySlices(base, target, node)
    base._grad_fn = wrapped
    base._output_nr = 0
    base._sig = base._sig.spec.tracked
    target._grad_fn = AsStridedBackward0((wrapped, 0), base, target)
    target._output_nr = 0
    target._sig = target._sig.spec.tracked
    view.attr_version = target._counter[0]
