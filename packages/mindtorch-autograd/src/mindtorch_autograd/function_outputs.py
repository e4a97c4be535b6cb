"""Outputs of custom functions: how each is connected to the function's node, by torch's rules."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.state import mode_set
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase, has_bytes, share_bytes

from .inplace import rebase_history
from .views import check_view, grad_fn, set_history


def alias_without_history(tensor: TensorBase) -> TensorBase:
    """Return a leaf over the same bytes and version counter."""
    if has_bytes(tensor) and tensor._array is not None:
        tensor._materialized_storage()  # two tensors over one array need the storage that says so
    return share_bytes(
        type(tensor) if type(tensor) is wired.tensor_class else wired.tensor_class, tensor._sig.spec.plain, tensor
    )


_WRONG_MARK = {  # torch's texts end there
    "mark_dirty": "mark_dirty can only accept variables, but argument ",
    "mark_non_differentiable": "mark_non_differentiable only accepts variable arguments, but got ",
}


_SEVERAL_OF_A_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view "
    "(using .clone() for example) or make your Function only return one Tensor (potentially splitting it into two "
    "Functions: one doing the inplace that returns a single Tensor and a second one that does the other operations). You "
    "can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


class _Wrapping:
    """The outputs of one call on their way to the caller."""

    def __init__(self, node: Any, args: Sequence[Any], outputs: list[Any], recording: bool) -> None:
        self.node = node
        self.outputs = outputs
        self.recording = recording
        self.inputs = {id(arg) for arg in args if isinstance(arg, TensorBase)}
        self.dirty = {id(one) for one in self._checked("mark_dirty", node.dirty_tensors)}
        self.plain = {id(one) for one in self._checked("mark_non_differentiable", node.non_differentiable)}

    @staticmethod
    def _checked(name: str, tensors: Sequence[Tensor]) -> Sequence[TensorBase]:
        if any(not isinstance(one, TensorBase) for one in tensors or ()):
            raise RuntimeError(_WRONG_MARK[name])
        return tensors or ()

    def run(self) -> None:
        """Connect every tensor among the outputs."""
        present = {id(one) for one in self.outputs}
        if self.dirty - present:
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
                "modified inplace must all be outputs of the Function."
            )
        differentiable = 0
        without: list[int] = []
        for index, one in enumerate(self.outputs):
            if not isinstance(one, TensorBase):
                continue
            dtype = one._sig.spec.dtype
            counts = self.recording and id(one) not in self.plain and (dtype.is_floating_point or dtype.is_complex)
            differentiable += counts
            if not counts:
                without.append(index)
            self.outputs[index] = self._connected(one, index, counts)
        if without and self.recording:
            self.node._without_gradient = frozenset(without)
        if differentiable > 1:
            for one in self.outputs:
                if isinstance(one, TensorBase) and one._view is not None:
                    one._view.creation = "multi_output"

    def _connected(self, one: TensorBase, index: int, differentiable: bool) -> TensorBase:
        given, modified = id(one) in self.inputs, id(one) in self.dirty
        if modified:
            if differentiable and one._view is not None:
                check_view(one, one._view, indirect=False)
                if len(self.outputs) > 1:
                    raise RuntimeError(_SEVERAL_OF_A_VIEW)
            one._counter[0] += 1
        if not differentiable:
            if given and not modified:
                return alias_without_history(one)
            if not modified and one._view is None and one._sig.requires_grad:
                one._grad_fn = None
                one._sig = one._sig.spec.plain
        elif modified:
            if one._sig.requires_grad and grad_fn(one) is None:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            if not given:
                warnings.warn(
                    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
                    "should be passed to ctx.mark_dirty().",
                    stacklevel=5,
                )
            self.node._outputs = (*self.node._outputs[:index], one._sig.spec, *self.node._outputs[index + 1 :])
            rebase_history(one, self.node)
            return one
        else:
            if given:
                with mode_set(grad=False):
                    one = aten.view(one, list(one.shape))
            set_history(one, self.node, index)
            if one._view is not None:
                one._view.attr_version = one._counter[0]
        if one._view is not None and not (given and modified):
            one._view.creation = "custom"
        return one


def check_saved_inputs(node: Any, args: Sequence[Any], output: Any) -> None:
    """Raise torch's error where a `setup_context` saves an input that `forward` returned as it is and did not write."""
    saved = (*(node.to_save or ()), *(node.saved_for_forward or ()))
    if not saved:
        return
    dirty = {id(one) for one in node.dirty_tensors or ()}
    given = {id(one) for one in args if isinstance(one, TensorBase)} - dirty
    returned = given & {id(one) for one in (output if isinstance(output, tuple) else (output,))}
    if returned & {id(one) for one in saved}:
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is not supported if you override "
            "setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
            "the forward function itself."
        )


def connect_outputs(node: Any, args: Sequence[Any], output: Any, recording: bool) -> Any:
    """Return what the caller gets of `output`, connected to `node` when the call is recorded."""
    single = not isinstance(output, tuple)
    outputs = [output] if single else list(output)
    if single and output is not None and not isinstance(output, TensorBase):
        return output
    if recording:
        node._input_specs = [arg._sig.spec if isinstance(arg, TensorBase) else None for arg in args]
    node._outputs = tuple(one._sig.spec if isinstance(one, TensorBase) else None for one in outputs)
    _Wrapping(node, args, outputs, recording).run()
    if recording:
        node.keep(outputs)
    return outputs[0] if single else tuple(outputs)
