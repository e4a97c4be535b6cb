"""Nodes of the backward graph: the base class, the node of table ops, and AccumulateGrad."""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import AutogradMeta, TensorBase

from . import accumulate
from .hooks import NodeHooks, add_hook, run_post_accumulate_hooks

_new = object.__new__
sequence = itertools.count()
"""Sequence numbers: later nodes run earlier in backward."""

LATEST = 2**64 - 1
"""Sequence number of AccumulateGrad: it runs as soon as it is ready."""

FREED_TEXT = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class InputMetadata:
    """Geometry of what flows into a node: one entry of `_input_metadata`."""

    __slots__ = ("spec",)

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    @property
    def shape(self) -> list[int]:
        """Extents of the output this gradient belongs to."""
        return list(self.spec.shape)

    @property
    def dtype(self) -> Any:
        """Element type of that output."""
        return self.spec.dtype

    @property
    def device(self) -> Any:
        """Device of that output."""
        return self.spec.device

    is_nested_tensor = is_cpp_nested_tensor = False

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name != "spec"]


_PUBLIC = {
    "_input_metadata",
    "_register_hook_dict",
    "_sequence_nr",
    "_set_sequence_nr",
    "metadata",
    "name",
    "next_functions",
    "register_hook",
    "register_prehook",
    "requires_grad",
}
"""What `dir` shows of a node."""


class Node:
    """A function of the backward graph. `_edges` are (node, output number) pairs, (None, 0) where no gradient goes.

    >>> isinstance(torch.ones(1, requires_grad=True).exp().grad_fn, torch.autograd.graph.Node)
    True
    """

    __slots__ = ("__weakref__", "_edges", "_hooks", "_outputs", "_seq")

    _recorder: Any = None
    """What knows the formulas of an `OpNode`; the engine then asks it, and not the node."""

    _edges: Sequence[tuple[Any, int]]
    _hooks: NodeHooks | None
    _outputs: Sequence[Spec | None]
    _seq: int

    def __init__(self, edges: Sequence[tuple[Any, int]] = (), outputs: Sequence[Spec | None] = ()) -> None:
        self._edges = tuple(edges)
        self._outputs = tuple(outputs)
        self._seq = next(sequence)
        self._hooks = None

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that this node's gradients go to, with the output number they arrive at."""
        return tuple(self._edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes on this node."""
        return hooks_of(self).metadata

    @property
    def requires_grad(self) -> bool:
        """True: what needs no gradient has no node."""
        return True

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        return tuple(InputMetadata(spec) for spec in self._outputs if spec is not None)

    def _register_hook_dict(self, hooks: dict[int, Any]) -> None:
        """Attach a dict of tensor hooks to this node's first output."""
        hooks_of(self).tensor.append((0, hooks))

    def name(self) -> str:
        """The node's name, `AddBackward0`."""
        return type(self).__name__

    def _sequence_nr(self) -> int:
        return self._seq

    def _set_sequence_nr(self, number: int) -> None:
        self._seq = number

    def register_hook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(grad_inputs, grad_outputs)` after this node ran; the tuple it returns replaces grad_inputs."""
        return add_hook(hooks_of(self).post, fn)

    def register_prehook(self, fn: Callable[..., Any]) -> Any:
        """Call `fn(grad_outputs)` before this node runs; the tuple it returns replaces grad_outputs."""
        return add_hook(hooks_of(self).pre, fn)

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Return one gradient per edge for the gradients of this node's outputs (None where undefined)."""
        raise NotImplementedError(f"{self.name()} has no backward")

    def release(self) -> None:
        """Drop saved values after the node ran in a backward that does not retain the graph."""

    def __call__(self, *grads: object) -> Any:
        """Run the node by hand on gradients of its outputs; TypeError for another number of them."""
        if len(grads) != len(self._outputs):
            raise TypeError(f"expected {len(self._outputs)} arguments, got {len(grads)} instead")
        answers = tuple(self.apply(list(grads)))
        return answers[0] if len(answers) == 1 else answers

    def __dir__(self) -> list[str]:
        return sorted(_PUBLIC | {name for name in object.__dir__(self) if name.startswith("__")})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"


def hooks_of(node: Node) -> NodeHooks:
    """Return the node's hooks, making their place when it has none."""
    hooks = node._hooks
    if hooks is None:
        hooks = node._hooks = NodeHooks()
    return hooks


_BACKWARD = re.compile(r"Backward(0$|(?=\d+$)|$)")


def forward_name(node: Node) -> str:
    """Return the name of the operation behind a node as torch's texts show it, `Clamp1` of `ClampBackward1`."""
    return _BACKWARD.sub("", node.name())


class OpNode(Node):
    """Node of an op from the table: its recorder knows the formulas, `_saved` has the values of this call."""

    __slots__ = ("_recorder", "_saved")

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Run the formulas; see `recorder`. Within a pass for some inputs only, what leads elsewhere is left out."""
        found: Sequence[Any] = self._recorder.apply(self, grads)
        return found

    def release(self) -> None:
        """Drop the saved tensors; a second backward raises torch's error."""
        if self._recorder.saves_tensors:
            self._saved: list[Any] | None = None

    def saved_targets(self) -> list[Any]:
        """The copies that an in-place op saved of its target's value before the write."""
        found: list[Any] = self._recorder.saved_targets(self)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_saved_"):
            return self._recorder.attributes.saved(self, name[7:])
        if name.startswith("_raw_saved_"):
            return self._recorder.attributes.raw(self, name[11:])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._recorder.attributes.names(self._recorder)})


class NotImplementedNode(Node):
    """Node of an op without a derivative row: recording works, running it raises."""

    __slots__ = ("op_name",)

    op_name: str

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Raise torch's error for an op without a derivative."""
        raise RuntimeError(f"derivative for {self.op_name} is not implemented")

    def name(self) -> str:
        """torch's name of such nodes."""
        return "torch::autograd::NotImplemented"


class AccumulateGrad(Node):
    """The sink of a leaf: adds the incoming gradient to `variable.grad`. Made by `accumulator` only."""

    __slots__ = ("variable",)
    __module__ = "builtins"

    variable: TensorBase
    _edges = ()
    _seq = LATEST

    @property
    def _outputs(self) -> Sequence[Spec | None]:  # type: ignore[override]
        return (self.variable._sig.spec,)

    def _set_sequence_nr(self, number: int) -> None:
        """Leaves always run as soon as they are ready."""

    def name(self) -> str:
        """torch's C++ name of the node."""
        return "torch::autograd::AccumulateGrad"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "variable"})

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Accumulate into `variable.grad`, then run its post-accumulate hooks."""
        if grads[0] is None or not self.variable._sig.requires_grad:
            return ()
        meta = meta_of(self.variable)
        # What is kept for hooks that run afterwards is no owner: they see the gradient as it is then, as in torch.
        hooks = self._hooks
        accumulate.add_to(self.variable, meta, grads, 2 if hooks is not None and hooks.post else 1)
        if meta.post_accumulate_hooks:
            run_post_accumulate_hooks(meta.post_accumulate_hooks, self.variable)
        return ()


def meta_of(tensor: TensorBase) -> AutogradMeta:
    """Return the tensor's autograd meta, making it when it has none."""
    meta = tensor._meta
    if meta is None:
        meta = tensor._meta = AutogradMeta()
    found: AutogradMeta = meta
    return found


def accumulator(tensor: TensorBase) -> AccumulateGrad:
    """Return the leaf's AccumulateGrad node, the same one while anything refers to it."""
    meta = meta_of(tensor)
    node = meta.accumulator()
    if node is None:
        node = _new(AccumulateGrad)
        node.variable = tensor
        node._hooks = None
        meta.accumulator = weakref.ref(node)
    found: AccumulateGrad = node
    return found
