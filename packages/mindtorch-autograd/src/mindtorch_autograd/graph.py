"""`torch.autograd.graph`: gradient edges, saved-tensor hooks, multi-tensor hooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from mindtorch_dispatch.state import mode_set, state
from mindtorch_storage.tensor_base import TensorBase

from .hooks import add_hook
from .inplace import gradient_edge
from .node import Node


class GradientEdge(NamedTuple):
    """Where a gradient goes: a node and the number of its output."""

    node: Node
    output_nr: int
    ownership_token: Any = None

    def _outputs_spec(self) -> Any:
        return self.node._outputs[self.output_nr]


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """Return the edge that gradients of `tensor` take; RuntimeError when it requires none."""
    node, number = gradient_edge(tensor)
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(node, number)


class saved_tensors_hooks:  # noqa: N801 (torch's name)
    """In the block, tensors saved for backward go through `pack_hook`, and come back through `unpack_hook`."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        mode = state.mode
        if isinstance(mode.saved_hooks, str):
            raise RuntimeError(mode.saved_hooks)
        self._before = mode.saved_hooks
        state.mode = mode.replace(saved_hooks=(self.pack_hook, self.unpack_hook))

    def __exit__(self, *exc_info: object) -> None:
        state.mode = state.mode.replace(saved_hooks=self._before)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """In the block, tensors saved for backward are kept in host memory and brought back when they are needed."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Any) -> tuple[Any, Any]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = tensor.cpu().pin_memory() if tensor.device.type != "cpu" else tensor
            return tensor.device, packed

        def unpack(packed: tuple[Any, Any]) -> Any:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Any:
    """In the block, saved-tensor hooks raise RuntimeError(error_message)."""
    if isinstance(state.mode.saved_hooks, tuple):
        raise RuntimeError(error_message)
    with mode_set(saved_hooks=error_message):
        yield


def increment_version(tensor: TensorBase | Sequence[TensorBase]) -> None:
    """Count a write that no op made, so that saved tensors notice it."""
    for one in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        one._counter[0] += 1


class _MultiHandle:
    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all") -> _MultiHandle:
    """Call `fn` once the gradients of all `tensors` are there (`fn(grads)`), or of the first (`mode="any"`, `fn(grad)`)."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    pending: dict[int, list[Any]] = {}
    from_engine = _task_number

    def make(index: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            task = from_engine()
            if mode == "any":
                if task not in pending:
                    pending[task] = []
                    fn(grad)
                return
            slots = pending.setdefault(task, [None] * len(tensors))
            slots[index] = grad
            if all(slot is not None for slot in slots):
                fn(pending.pop(task))

        return hook

    return _MultiHandle([tensor.register_hook(make(index)) for index, tensor in enumerate(tensors)])


_task_source: list[Callable[[], Any]] = [lambda: None]


def _task_number() -> Any:
    task = _task_source[0]()
    return None if task is None else task.number


def add_tensor_hook(tensor: TensorBase, hooks: dict[int, Any], fn: Callable[..., Any]) -> Any:
    """Register `fn` in `hooks`, the hook dict of `tensor`, and connect the dict to the tensor's node."""
    node, number = gradient_edge(tensor)
    node.add_tensor_hook(number, hooks)
    return add_hook(hooks, fn)
