"""In-place writes in the graph: what is refused, how history is rebased."""

from __future__ import annotations

import weakref
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase, has_math_bits, math_bits

from .node import Node
from .saved import Packed, SavedResult, freed_error
from .views import check_view, grad_fn, gradient_edge, region_of, set_history, with_bits


def check_inplace(target: TensorBase) -> None:
    """Raise torch's errors for in-place writes that the graph cannot record; for calls that are to be recorded."""
    if not state.mode.records:
        return
    view = target._view
    if view is not None:
        check_view(target, view, indirect=False)
        if target._sig.requires_grad and view.base._grad_fn is None:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if target._sig.requires_grad and grad_fn(target) is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


class CopySlices(Node):
    """Node of a base after an in-place write to one of its views: the written region's gradient goes through `fn`."""

    __slots__ = ("base_bits", "base_offset", "base_spec", "bits", "fn", "offset", "spec")

    def __init__(self, base: TensorBase, view: TensorBase, fn: Node) -> None:
        super().__init__((gradient_edge(base), *fn.next_functions[1:]), (base._sig.spec,))
        self.base_spec = base._sig.spec
        self.base_offset = base._offset
        self.base_bits, self.bits = math_bits(base), math_bits(view)
        self.spec = view._sig.spec
        self.offset = view._offset
        self.fn: Node | None = fn

    def name(self) -> str:
        """torch's C++ name of the node."""
        return "torch::autograd::CopySlices"

    def apply(self, grads: list[Any]) -> list[Any]:
        """Cut the written region out of the gradient, run the op's own node on it, put the result back."""
        if self.fn is None:
            raise freed_error()
        if grads[0] is None:
            return [None] * len(self._edges)
        base = self.base_spec
        total = aten.new_empty_strided(grads[0], list(base.shape), list(base.stride), device=base.device)
        total = with_bits(total, self.base_bits)
        total.copy_(grads[0])
        size, whole = self.spec.itemsize, base.itemsize
        start = ((total._offset - self.base_offset) * whole + self.offset * size) // size
        region = with_bits(region_of(total, self.spec, start), self.bits)
        given = [aten.clone(region)]
        recorder = self.fn._recorder  # its own first edge leads to the view, which has no part in the pass
        inner = list(self.fn.apply(given) if recorder is None else recorder.apply(self.fn, given, self))
        if not inner or inner[0] is None:  # not wanted, or left out by a custom function
            return [None, *inner[1:]]
        region.copy_(inner[0])
        return [aten.clone(total) if has_math_bits(total) else total, *inner[1:]]

    def release(self) -> None:
        """Drop the op's node with what it saved."""
        self.fn = None


def rebase_history(target: TensorBase, node: Node) -> None:
    """Make `node` the history of `target` after an in-place write; a view's base gets a CopySlices node."""
    view = target._view
    if view is None:
        set_history(target, node, 0)
        return
    base = view.base
    wrapped = CopySlices(base, target, node)
    set_history(base, wrapped, 0)
    view.attr_version = -1  # what was asked for before the base had this history is stale
    made = grad_fn(target)
    for item in getattr(node, "_saved", None) or ():
        if item.__class__ is SavedResult or item.__class__ is Packed:
            item.owner = weakref.ref(made)
