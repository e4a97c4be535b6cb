"""What a backward pass runs, told to the logger `torch.autograd.graph` while that one listens to debug messages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.dtype import dtype as Dtype

from .node import Node
from .running import current_node

log = logging.getLogger("torch.autograd.graph")

_STEMS = {"bool": "b8", "bfloat16": "bf16"}


def _short(dtype: Dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    if name in _STEMS:
        return _STEMS[name]
    for stem, letter in (("uint", "u"), ("int", "i"), ("float", "f"), ("complex", "c")):
        if name.startswith(stem):
            return (letter + name[len(stem) :]).replace("_", "")
    return name


def _shown(grad: Tensor | None) -> str:
    return "None" if grad is None else f"{_short(grad.dtype)}[{', '.join(map(str, grad.shape))}]"


def tell(grads: Sequence[Any]) -> None:
    """Tell which node runs on which gradients."""
    log.debug("Executing: %s with grad_outputs: [%s]", current_node(), ",".join(map(_shown, grads)))


def log_whole_graph(roots: Sequence[Node]) -> Callable[[], None]:
    """Put a pre-hook that tells on every node that can be reached; return the function that takes them away."""
    seen: dict[Node, Any] = {}
    waiting = [node for node in roots if node is not None]
    for node in waiting:
        if node not in seen:
            seen[node] = node.register_prehook(tell)
            waiting += [child for child, _ in node.next_functions if child is not None]

    def remove() -> None:
        for handle in seen.values():
            handle.remove()

    return remove
