"""Saved values of a node: what is kept, how it is checked when it is read, and the pack/unpack hooks."""

from __future__ import annotations

import weakref
from typing import Any

from mindtorch_dispatch.executor import tensor_class
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, make_tensor

from .inplace import gradient_edge
from .node import FREED_TEXT, AccumulateGrad, Node


class Packed:
    """A saved tensor that went through a `pack_hook`."""

    __slots__ = ("edge", "packed", "result_nr", "unpack")

    def __init__(self, unpack: Any, packed: Any, result_nr: int | None, edge: tuple[Any, int] | None) -> None:
        self.unpack = unpack
        self.packed = packed
        self.result_nr = result_nr
        self.edge = edge


class SavedResult:
    """An output saved by its own node: an alias without the node, so that no reference cycle keeps it alive."""

    __slots__ = ("alias", "number")

    def __init__(self, alias: TensorBase, number: int) -> None:
        self.alias = alias
        self.number = number


def alias_of(tensor: TensorBase) -> TensorBase:
    """Return a tensor without history over the same bytes and version counter."""
    return make_tensor(
        type(tensor) if type(tensor) is tensor_class[0] else tensor_class[0],
        tensor._sig.spec.plain,
        tensor._array,
        tensor._storage,
        tensor._offset,
        tensor._counter,
    )


def pack(tensor: TensorBase, number: int | None) -> Any:
    """Return what a node keeps of `tensor`; `number` is the output number when the node made it."""
    hooks = state.mode.saved_hooks
    if hooks is None:
        return tensor if number is None else SavedResult(alias_of(tensor), number)
    if isinstance(hooks, str):
        raise RuntimeError(hooks)
    pack_hook, unpack_hook = hooks
    given = tensor if number is None else alias_of(tensor)
    before = state.mode
    state.mode = before.replace(grad=False, saved_hooks=None)
    try:
        packed = pack_hook(given)
    finally:
        state.mode = before
    # What the hook gives back has no history; an input gets its own again, for gradients of gradients.
    edge = gradient_edge(tensor) if number is None and tensor._sig.requires_grad else None
    return Packed(unpack_hook, packed, number, edge)


def unpack(node: Node, item: Any, version: int) -> Any:
    """Return the tensor saved as `item`, after checking that nobody wrote into it since."""
    if item.__class__ is Packed:
        before = state.mode
        state.mode = before.replace(saved_hooks=None)
        try:
            tensor = item.unpack(item.packed)
        finally:
            state.mode = before
        if not isinstance(tensor, TensorBase):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(tensor).__name__}")
        if item.result_nr is not None:
            return _with_history(node, tensor, item.result_nr)
        return tensor if item.edge is None else _with_history(item.edge[0], tensor, item.edge[1])
    if item.__class__ is SavedResult:
        alias = item.alias
        if alias._counter[0] != version:
            raise modified_error(alias, version, node, item.number)
        return _with_history(node, alias, item.number) if state.mode.grad else alias
    if item._counter[0] != version:
        raise modified_error(item, version, item._grad_fn, item._output_nr)
    return item


def _with_history(node: Node, alias: TensorBase, number: int) -> TensorBase:
    tensor = make_tensor(
        type(alias), alias._sig.spec.tracked, alias._array, alias._storage, alias._offset, alias._counter
    )
    if isinstance(node, AccumulateGrad):
        tensor._meta = AutogradMeta()
        tensor._meta.accumulator = weakref.ref(node)
    else:
        tensor._grad_fn = node
        tensor._output_nr = number
    return tensor


def modified_error(tensor: TensorBase, version: int, maker: Any, number: int) -> RuntimeError:
    """Return torch's error for a saved tensor that was written into."""
    spec = tensor._sig.spec
    made_by = f", which is output {number} of {maker.name()}," if maker is not None else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{spec.dtype.type_name} {list(spec.shape)}]{made_by} is at version {tensor._counter[0]}; expected version "
        f"{version} instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True)."
    )


def freed_error() -> RuntimeError:
    """Return torch's error for reading saved tensors that were freed."""
    return RuntimeError(FREED_TEXT)
