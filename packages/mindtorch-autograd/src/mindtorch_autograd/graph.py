"""`torch.autograd.graph`: gradient edges, saved-tensor hooks, multi-tensor hooks."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase

from .engine import current_task
from .node import Node
from .running import will_execute
from .views import gradient_edge


class GradientEdge(NamedTuple):
    """Where a gradient goes: a node and the number of its output.

    >>> torch.autograd.graph.get_gradient_edge(torch.ones(1, requires_grad=True)).output_nr
    0
    """

    node: Node
    output_nr: int
    ownership_token: Any = None

    def _spec(self) -> Any:
        return self.node._outputs[self.output_nr]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge that gradients of `tensor` take; RuntimeError when it requires none.

    >>> torch.autograd.graph.get_gradient_edge(torch.ones(1, requires_grad=True)).output_nr
    0
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    token = None
    if hasattr(tensor.grad_fn, "_forward_cls"):  # torch's node of a custom function does not keep its graph alive
        with mode_set(grad=True):
            token = aten.view_as(tensor, tensor).grad_fn
    return GradientEdge(gradient_node(tensor), tensor.output_nr, token)


def gradient_node(tensor: Any) -> Node:
    """Return the node that the gradient of a tensor, or of an edge, goes to; AssertionError when there is none."""
    node = tensor.node if isinstance(tensor, GradientEdge) else gradient_edge(tensor)[0]
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return node


def increment_version(tensor: TensorBase | Sequence[TensorBase]) -> None:
    """Count a write that no op made, so that saved tensors notice it; RuntimeError for what is no tensor.

    >>> x = torch.ones(1)
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    if not isinstance(tensor, TensorBase | Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for one in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        one._counter[0] += 1


class MultiHandle:
    """What `register_multi_grad_hook` returns: removes the hook of every tensor at once, or at the end of a `with`."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class _Gathering:
    """The gradients of the tensors of one multi-tensor hook, by backward pass."""

    def __init__(self, tensors: Sequence[Any], fn: Callable[[Sequence[Any]], None]) -> None:
        self.nodes = [gradient_node(tensor) for tensor in tensors]
        self.fn = fn
        self.lock = threading.Lock()
        self.counts: dict[int, int] = defaultdict(int)
        self.expected: dict[int, int] = {}
        self.grads: dict[int, list[Any]] = {}

    def hook(self, index: int) -> Callable[[Any], None]:
        """Return the hook of tensor `index`."""

        def arrived(grad: Tensor) -> None:
            task = current_task()
            number = -1 if task is None else task.number
            with self.lock:
                count = self.counts[number]
                self.counts[number] += 1
                grads = self.grads.setdefault(number, [None] * len(self.nodes))
                if count == 0:
                    self.expected[number] = sum(map(will_execute, self.nodes))
                grads[index] = grad
                complete = count + 1 == self.expected[number]
            if complete:
                self.fn(grads)
                del self.counts[number], self.expected[number], self.grads[number]

        return arrived


def register_multi_grad_hook(tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all") -> MultiHandle:
    """Call `fn` once the gradients of all `tensors` that a backward reaches are there, as a list with None for others;
    with `mode="any"` on the first one only.

    Raises ValueError for another mode.

    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = torch.autograd.graph.register_multi_grad_hook([x], lambda grads: print(grads))
    >>> (2 * x).sum().backward()
    [tensor([2.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "all":
        gathering = _Gathering(tensors, fn)
        return MultiHandle([tensor.register_hook(gathering.hook(index)) for index, tensor in enumerate(tensors)])
    lock = threading.Lock()
    done: set[int] = set()

    def first(grad: Tensor) -> None:
        task = current_task()
        number = -1 if task is None else task.number
        with lock:
            known = number in done
            done.add(number)
        if not known:
            fn(grad)

    return MultiHandle([tensor.register_hook(first) for tensor in tensors if tensor.requires_grad])
