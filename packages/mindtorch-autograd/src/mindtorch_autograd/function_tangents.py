"""Tangents of the outputs of custom functions: what a function's `jvp` is given, and what it may return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set
from mindtorch_storage.tensor_base import TensorBase

from .forward_mode import attach, check_tangent, set_tangent, tangent_of

_NOT_IN_PLACE = (
    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input "
    "inplace, then the jvp function must modify the corresponding gradient inplace."
)
_NO_INPUT = (
    "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to pass it to "
    "mark_dirty()."
)
_NO_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
_OTHER_VIEW = "A custom Function is returning a view but the jvp is not returning a view of the "
_NO_TANGENT = "Expected both tensor and its forward grad to be floating point or complex"


def _differentiable(value: object) -> bool:
    if not isinstance(value, TensorBase):
        return False
    dtype = value._sig.spec.dtype
    return dtype.is_floating_point or dtype.is_complex


class _Call:
    """A call whose inputs have tangents: the inputs, what `forward` returned, and what the caller gets of it."""

    def __init__(self, node: Any, args: Sequence[Any], raw: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.node = node
        self.raw = raw
        self.outputs = outputs
        self.tangents = [tangent_of(arg) for arg in args]
        self.inputs = {id(arg): tangent for arg, tangent in zip(args, self.tangents, strict=True)}
        self.versions = {id(one): one._counter[0] for one in self.tangents if one is not None}
        self.bases = {
            id(arg if arg._view is None else arg._view.base): tangent
            for arg, tangent in zip(args, self.tangents, strict=True)
            if isinstance(arg, TensorBase)
        }
        self.given = [
            aten.zeros_like(arg.detach())
            if tangent is None and node.materialize_grads and _differentiable(arg)
            else tangent
            for arg, tangent in zip(args, self.tangents, strict=True)
        ]
        self.dirty = {id(one) for one in node.dirty_tensors or ()}
        self.plain = {id(one) for one in node.non_differentiable or ()}

    def put(self, index: int, tangent: TensorBase | None) -> None:
        """Make `tangent` that of output `index`, by torch's rules."""
        raw, output = self.raw[index], self.outputs[index]
        if not isinstance(raw, TensorBase):
            return
        if not _differentiable(raw) or id(raw) in self.plain:
            if tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {index}, but  the corresponding forward output is not "
                    "a differentiable Tensor.You should return None at that position instead."
                )
            return
        if id(raw) in self.dirty:
            self._put_written(raw, output, tangent)
            return
        if tangent is None:
            raise RuntimeError(_NO_TANGENT)
        check_tangent(output, tangent)
        if self._check_view(raw, output, tangent):
            attach(output, tangent)
        else:
            set_tangent(output, tangent)

    def _put_written(self, raw: TensorBase, output: TensorBase, tangent: TensorBase | None) -> None:
        if id(raw) not in self.inputs:
            raise RuntimeError(_NO_INPUT)
        before = self.inputs[id(raw)]
        if before is not None:
            if tangent is not before or tangent._counter[0] == self.versions[id(tangent)]:
                raise RuntimeError(_NOT_IN_PLACE)
        elif tangent is not None:
            check_tangent(output, tangent)
            set_tangent(output, tangent)

    def _check_view(self, raw: TensorBase, output: TensorBase, tangent: TensorBase) -> bool:
        """Raise where a view of an input has a tangent that is not that view of the input's; False for a view of an input
        without a tangent, whose base gets one with it."""
        if id(raw) in self.inputs:
            matching = self.inputs[id(raw)]
        elif output._view is not None and id(output._view.base) in self.bases:
            matching = self.bases[id(output._view.base)]
        else:
            return True
        if matching is None:
            return output._view is None
        if tangent._view is None:
            raise RuntimeError(_NO_VIEW)
        if matching._view is not None:
            if matching._view.base is not tangent._view.base:
                raise RuntimeError(_OTHER_VIEW + "same base as the given grad input.")
        elif matching is not tangent._view.base:
            raise RuntimeError(_OTHER_VIEW + "given grad input.")
        return True


def _answers(cls: Any, node: Any, given: Sequence[Any]) -> Sequence[Any]:
    """Return what `jvp` gives, which sees the tensors that were saved for it."""
    kept, forward = node._saved, node.saved_for_forward or ()
    node._saved = [part for one in forward for part in (one, None if one is None else one._counter[0])]
    try:
        with mode_set(forward_ad=False):
            found = cls.jvp(node, *given)
    finally:
        node._saved = kept
    tangents = found if isinstance(found, tuple) else (found,)
    for place, one in enumerate(tangents):
        if one is not None and not isinstance(one, TensorBase):
            raise RuntimeError(f"expected Variable or None (got {type(one).__name__}) for grad output {place}.")
    return tangents


def function_tangents(cls: Any, node: Any, args: Sequence[Any], raw: object, result: Any) -> Any:
    """Give the outputs of a custom function the tangents that its `jvp` returns; `raw` is what `forward` returned."""
    outputs = result if isinstance(result, tuple) else (result,)
    with mode_set(forward_ad=False):
        call = _Call(node, args, raw if isinstance(raw, tuple) else (raw,), outputs)
    tangents = _answers(cls, node, call.given)
    if len(tangents) != len(outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
            f"{len(tangents)})"
        )
    for index, tangent in enumerate(tangents):
        call.put(index, tangent)
    return result
