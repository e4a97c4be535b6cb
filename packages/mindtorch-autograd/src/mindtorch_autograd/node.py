"""Nodes of the backward graph: the base class, the node of table ops, and AccumulateGrad."""

from __future__ import annotations

import itertools
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.executor import tensor_class
from mindtorch_dispatch.state import mode_set, state
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase, make_tensor

from .hooks import add_hook

_sequence = itertools.count()

LATEST = 2**64 - 1
"""Sequence number of AccumulateGrad: it runs as soon as it is ready."""

FREED_TEXT = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class Node:
    """A function of the backward graph. `_edges` are (node, output number) pairs, (None, 0) where no gradient goes."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_edges",
        "_outputs",
        "_post_hooks",
        "_pre_hooks",
        "_seq",
        "_tensor_hooks",
    )

    def __init__(self, edges: Sequence[tuple[Any, int]] = (), outputs: Sequence[Spec | None] = ()) -> None:
        self._edges = tuple(edges)
        self._outputs = tuple(outputs)
        self._seq = next(_sequence)
        self._pre_hooks = self._post_hooks = self._tensor_hooks = None

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that this node's gradients go to, with the output number they arrive at."""
        return tuple(self._edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes on this node."""
        return self.__dict__.setdefault("_metadata", {})

    def name(self) -> str:
        """The node's name, `AddBackward0`."""
        return type(self).__name__

    def _sequence_nr(self) -> int:
        return self._seq

    def _set_sequence_nr(self, number: int) -> None:
        self._seq = number

    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(grad_inputs, grad_outputs)` after this node ran; what it returns replaces grad_inputs."""
        if self._post_hooks is None:
            self._post_hooks = OrderedDict()
        return add_hook(self._post_hooks, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(grad_outputs)` before this node runs; what it returns replaces grad_outputs."""
        if self._pre_hooks is None:
            self._pre_hooks = OrderedDict()
        return add_hook(self._pre_hooks, fn)

    def add_tensor_hook(self, output_nr: int, hooks: Any) -> None:
        """Let the hooks of the tensor that is output `output_nr` run on its gradient before this node does."""
        if self._tensor_hooks is None:
            self._tensor_hooks = {}
        self._tensor_hooks.setdefault(output_nr, [])
        if not any(existing is hooks for existing in self._tensor_hooks[output_nr]):
            self._tensor_hooks[output_nr].append(hooks)

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Return one gradient per edge for the gradients of this node's outputs (None where undefined)."""
        raise NotImplementedError(f"{self.name()} has no backward")

    def release(self) -> None:
        """Drop saved values after the node ran in a backward that does not retain the graph."""

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"


class OpNode(Node):
    """Node of an op from the table. Its class carries `_plan` (a `recorder.Recorder`), its slots the saved values."""

    __slots__ = ("_recorder", "_saved", "_versions")

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Run the formulas; see `recorder`."""
        return self._recorder.backward(self, grads)

    def release(self) -> None:
        """Drop the saved tensors; a second backward raises torch's error."""
        if self._recorder.saves_tensors:
            self._saved = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_") or name.startswith("_raw_saved_"):
            return self._recorder.saved_attribute(self, name.removeprefix("_raw_saved_").removeprefix("_saved_"))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class NotImplementedNode(Node):
    """Node of an op without a derivative row: recording works, running it raises."""

    __slots__ = ("op_name",)

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Raise torch's error for an op without a derivative."""
        raise RuntimeError(f"derivative for {self.op_name} is not implemented")

    def name(self) -> str:
        """torch's name of such nodes."""
        return "NotImplemented"


class AccumulateGrad(Node):
    """The sink of a leaf: adds the incoming gradient to `variable.grad`."""

    __slots__ = ("variable",)

    def __init__(self, variable: TensorBase) -> None:
        super().__init__((), (variable._sig.spec,))
        self._seq = LATEST
        self.variable = variable

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Accumulate into `variable.grad`, then run its post-accumulate hooks."""
        grad = grads[0]
        grads.clear()
        if grad is not None:
            self._accumulate(grad)
            meta = self.variable._meta
            if meta is not None and meta.post_accumulate_hooks:
                for hook in list(meta.post_accumulate_hooks.values()):
                    hook(self.variable)
        return ()

    def _accumulate(self, grad: TensorBase) -> None:
        meta = meta_of(self.variable)
        old = meta.grad
        if old is None:
            if state.mode.grad:
                meta.grad = grad.clone()
            else:
                meta.grad = grad if _owned(grad, self.variable._sig.spec) else _detached(_cloned(grad))
        elif state.mode.grad:
            meta.grad = old + grad
        else:
            old.add_(grad)


def _cloned(grad: TensorBase) -> Any:
    with mode_set(grad=False):
        return grad.clone()  # type: ignore[attr-defined]


def _detached(tensor: TensorBase) -> TensorBase:
    if tensor._grad_fn is None and not tensor._sig.requires_grad:
        return tensor
    return make_tensor(
        tensor_class[0], tensor._sig.spec.plain, tensor._array, tensor._storage, tensor._offset, tensor._counter
    )


def _owned(grad: TensorBase, spec: Spec) -> bool:
    """True when nothing else can see the gradient's memory, so that it may become `.grad` without a copy.

    The engine marks buffers it made itself or that only one edge received; a view or a shared array is copied.
    """
    return (
        grad._storage is None
        and grad._view is None
        and grad._grad_fn is None
        and not grad._sig.requires_grad
        and grad._array is not None
        and grad._array.base is None
        and grad._counter[0] == 0
        and grad._meta is None
        and type(grad) is tensor_class[0]
        and grad._sig.spec is spec
        and sys.getrefcount(grad) <= _UNSHARED
    )


_UNSHARED = 4
"""References to a gradient that only AccumulateGrad holds: three frames' locals and getrefcount's argument."""


def meta_of(tensor: TensorBase) -> AutogradMeta:
    """Return the tensor's autograd meta, making it when it has none."""
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = AutogradMeta()
    return meta


def accumulator(tensor: TensorBase) -> AccumulateGrad:
    """Return the leaf's AccumulateGrad node, the same one while anything refers to it."""
    meta = meta_of(tensor)
    node = meta.accumulator() if meta.accumulator is not None else None
    if node is None:
        node = AccumulateGrad(tensor)
        meta.accumulator = weakref.ref(node)
        if meta.hooks:
            node.add_tensor_hook(0, meta.hooks)
    return node
