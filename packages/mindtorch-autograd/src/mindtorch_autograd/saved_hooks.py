"""Blocks in which tensors saved for backward go through hooks, and blocks in which they may not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.typing import Tensor

from .saved import hook_stack


class saved_tensors_hooks:
    """In the block, tensors saved for backward go through `pack_hook`, and come back through `unpack_hook`.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved.item(), torch.tensor):
    ...     y = x**2
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if isinstance(state.mode.saved_hooks, str):
            raise RuntimeError(state.mode.saved_hooks)
        hook_stack.pairs.append((self.pack_hook, self.unpack_hook))
        state.mode = state.mode.replace(saved_hooks=True)

    def __exit__(self, *exc_info: object) -> None:
        if not hook_stack.pairs:
            raise RuntimeError("saved_tensors_hooks left more often than it was entered")
        hook_stack.pairs.pop()
        state.mode = state.mode.replace(saved_hooks=True if hook_stack.pairs else None)


class save_on_cpu(saved_tensors_hooks):
    """In the block, tensors saved for backward are kept in host memory and brought back when they are needed.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = x**2
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Any]:
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = tensor.cpu().pin_memory() if tensor.device.type != "cpu" else tensor
            return tensor.device, packed

        def unpack(packed: tuple[Any, Any]) -> Any:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the block, saved-tensor hooks raise RuntimeError(error_message).

    >>> with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     torch.ones(1)
    tensor([1.])
    """
    if state.mode.saved_hooks is True:
        raise RuntimeError(error_message)
    with mode_set(saved_hooks=error_message):
        yield
