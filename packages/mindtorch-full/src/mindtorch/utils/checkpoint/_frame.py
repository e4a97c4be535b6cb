"""Checkpointing by not keeping what autograd saves: a saved tensor is recomputed when backward asks for it.

While the function runs forward, each tensor that autograd would keep is replaced by an empty `Slot`. When backward
opens the first of them, the function runs once more, and the tensors saved in that run, taken in order, are the
contents of the slots. A recomputation belongs to one backward pass: another pass over the same graph recomputes anew.
"""

from __future__ import annotations

import uuid
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch.autograd import Function
from mindtorch.autograd.graph import saved_tensors_hooks
from mindtorch_autograd.running import current_graph_task_id

from ._texts import HINT


class CheckpointError(RuntimeError):
    """The recomputation did not repeat the forward pass.

    >>> import torch.utils.checkpoint
    >>> issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)
    True
    """


class StopRecomputation(Exception):
    """Every slot is filled; the rest of the function need not run."""


class GraphExecGroup:
    """Backward passes run inside this context share one recomputation.

    >>> from torch.utils.checkpoint import GraphExecGroup, checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> with GraphExecGroup():
    ...     checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2.7183, 2.7183])
    """

    _current: ClassVar[GraphExecGroup | None] = None

    def __enter__(self) -> GraphExecGroup:
        if GraphExecGroup._current is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {GraphExecGroup._current}"
            )
        GraphExecGroup._current = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        GraphExecGroup._current = None

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return cls._current


class _Token:
    """Stands for one recomputed tensor; dropping it frees the tensor."""


class Slot:
    """The place of one saved tensor; per backward pass, the token of its recomputed value."""

    def __init__(self) -> None:
        self.tokens: dict[Any, _Token | None] = {}


class _KeepInputs(Function):
    """Keeps a checkpoint's inputs as saved tensors, so that outer hooks and version checks apply to them."""

    @staticmethod
    def forward(*tensors: Any) -> Any:
        """Nothing to compute; the result carries the node."""
        return torch.empty((0,))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save the tensors, and where the others go."""
        ctx.positions = [index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
        ctx.others = [None if isinstance(value, torch.Tensor) else value for value in inputs]
        ctx.save_for_backward(*(inputs[index] for index in ctx.positions))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Never reached: nobody uses the result."""
        raise AssertionError("Did not expect to backward on this graph")


class Frame:
    """One checkpointed call: its slots, how to run it again, and the recomputations made so far."""

    def __init__(
        self,
        recompute: Callable[..., None],
        early_stop: bool,
        explain: Callable[[CheckpointError], None],
        describe: Callable[[Any], dict[str, Any]] | None,
    ) -> None:
        self.recompute = recompute
        self.early_stop = early_stop
        self.explain = explain
        self.describe = describe
        self.inputs: Any = None
        self.slots: list[weakref.ref[Slot]] = []
        self.descriptions: list[dict[str, Any]] = []
        self.values: dict[Any, weakref.WeakKeyDictionary[_Token, Any]] = defaultdict(weakref.WeakKeyDictionary)
        self.counts: dict[Any, int] = defaultdict(int)
        self.done: set[Any] = set()
        self.forward_completed = False
        self.ignore_mismatch = False

    def save_inputs(self, args: tuple[Any, ...]) -> None:
        """Keep the inputs; the anchor asks for a gradient, so that the node exists even if no input does."""
        anchor = torch.empty((0,), requires_grad=True)
        self.inputs = _KeepInputs.apply(anchor, *args)

    def get_inputs(self) -> list[Any]:
        """The inputs, as outer hooks give them back."""
        node = self.inputs.grad_fn
        args = list(node.others)
        for index, tensor in zip(node.positions, node.saved_tensors, strict=True):
            args[index] = tensor
        return args[1:]

    def open(self, slot: Slot) -> Any:
        """The value of a slot in the running backward pass, recomputing all of them if need be."""
        run: Any = GraphExecGroup._get_current_group() or current_graph_task_id()
        if run == -1:
            run = int(uuid.uuid4())  # read outside of a backward pass: a recomputation of its own
        if run not in self.done:
            args = self.get_inputs()
            try:
                with _recording_into(self, run), torch.enable_grad():
                    self.recompute(*args)
            except StopRecomputation:  # every slot is filled: nothing more is needed
                pass
            self.done.add(run)
            self.check(run)
        if run not in slot.tokens:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was either "
                "never recomputed, or already unpacked once."
            )
        token = slot.tokens[run]
        if token is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once. Otherwise please open an issue with details on your use case."
            )
        value = self.values[run][token]
        slot.tokens[run] = None  # the value is freed as soon as the node is through with it
        return value

    def fill(self, run: Any, tensor: Any) -> None:
        """Take one tensor saved by the recomputation into the next slot."""
        index = self.counts[run]
        self.counts[run] += 1
        if index >= len(self.slots):
            if self.early_stop and self.forward_completed:
                raise AssertionError("a recomputation that stops early cannot save more tensors than the forward")
            if not self.forward_completed:
                # Backward inside the forward: the later slots are not there yet.
                self.ignore_mismatch = True
                return
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
                f"pass.\n{HINT}"
            )
        slot = self.slots[index]()
        if slot is not None:
            token = slot.tokens[run] = _Token()
            self.values[run][token] = tensor.detach()
        if self.early_stop and self.counts[run] == len(self.slots):
            raise StopRecomputation

    def check(self, run: Any) -> None:
        """Compare what the recomputation saved with what the forward pass saved."""
        if self.ignore_mismatch:
            return
        if len(self.slots) != self.counts[run]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved "
                "during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.slots)}\n"
                f"Number of tensors saved during recomputation: {self.counts[run]}.\n{HINT}"
            )
        if self.describe is None:
            return
        differing = ""
        for index, reference in enumerate(self.slots):
            slot = reference()
            if slot is None:
                continue
            token = slot.tokens.get(run)
            if token is None:
                continue
            found = self.describe(self.values[run][token])
            if found != self.descriptions[index]:
                differing += (
                    f"tensor at position {index}:\n"
                    f"saved metadata: {self.descriptions[index]}\n"
                    f"recomputed metadata: {found}\n"
                )
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors "
                "have different metadata than during the forward pass.\n"
                f"{differing}.\n{HINT}"
            )


class leaving_slots(saved_tensors_hooks):
    """While the function runs forward: autograd keeps slots instead of tensors."""

    def __init__(self, frame: Frame) -> None:
        def pack(tensor: Any) -> Slot:
            slot = Slot()
            frame.slots.append(weakref.ref(slot))
            if frame.describe is not None:
                with torch.no_grad():
                    frame.descriptions.append(frame.describe(tensor))
            return slot

        def unpack(slot: Slot) -> Any:
            try:
                return frame.open(slot)
            except CheckpointError as error:
                frame.explain(error)
                raise

        super().__init__(pack, unpack)


class _recording_into(saved_tensors_hooks):
    """While the function runs again: what autograd saves goes into the slots."""

    def __init__(self, frame: Frame, run: Any) -> None:
        reference = weakref.ref(frame)

        def pack(tensor: Any) -> Any:
            target = reference()
            if target is None:
                raise AssertionError("the checkpoint being recomputed is gone")
            target.fill(run, tensor)
            return tensor.detach()

        def unpack(tensor: Any) -> Any:
            # Reached when backward runs inside the recomputed function.
            return tensor

        super().__init__(pack, unpack)
