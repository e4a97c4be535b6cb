"""Which modules the program is inside of, in forward and in backward."""

from __future__ import annotations

import weakref
from typing import Any

from mindtorch._naming import adopt
from mindtorch.autograd.graph import register_multi_grad_hook
from mindtorch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from mindtorch.utils._pytree import tree_leaves
from mindtorch_autograd.engine import current_task
from mindtorch_autograd.running import queue_callback
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """While its block is open, ``parents`` has the names of the modules that run: "Global", "Model", "Model.layer", ...

    A module met first is called by its class; modules inside of it by their place in it. In backward a module is entered
    when the gradients of its outputs are there, and left when those of its inputs are.

    >>> from torch.utils.module_tracker import ModuleTracker
    >>> class Layer(torch.nn.Module):
    ...     def forward(self, x):
    ...         print(sorted(tracker.parents))
    ...         return x
    >>> with ModuleTracker() as tracker:
    ...     _ = torch.nn.Sequential(Layer())(torch.ones(1))
    ['Global', 'Sequential', 'Sequential.0']
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._known: weakref.WeakSet[Any] = weakref.WeakSet()
        self._callback_queued = False
        self._handles: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Whether a backward pass runs."""
        return current_task() is not None

    def _name(self, module: Any) -> str:
        if module not in self._known:
            for name, part in module.named_modules():
                if part not in self._known:
                    root = self._names.get(module, type(module).__name__)
                    self._names[part] = f"{root}.{name}" if name else root
                    self._known.add(part)
        return self._names[module]

    def _leave_after_backward(self) -> None:
        """Forget, when the pass ends, the modules whose inputs had no gradient that would have closed them."""
        if self._callback_queued:
            return

        def ended() -> None:
            self.parents = {"Global"}
            self._callback_queued = False

        queue_callback(ended)
        self._callback_queued = True

    def _entering(self, name: str) -> Any:
        def enter(grads: Any) -> None:
            self._leave_after_backward()
            self.parents.add(name)

        return enter

    def _leaving(self, name: str) -> Any:
        def leave(grads: Any) -> None:
            self.parents.discard(name)

        return leave

    def _before(self, module: Any, inputs: Any) -> None:
        name = self._name(module)
        if self.is_bw:
            self._leave_after_backward()
        self.parents.add(name)
        self._watch(inputs, self._leaving(name))

    def _after(self, module: Any, inputs: Any, outputs: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._watch(outputs, self._entering(name))

    def _watch(self, values: Any, hook: Any) -> None:
        tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, TensorBase) and leaf._sig.requires_grad]
        if tensors and state.mode.grad:
            self._handles.append(register_multi_grad_hook(tensors, hook))

    def __enter__(self) -> ModuleTracker:
        self._hooks = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        ]
        return self

    def __exit__(self, *exc_info: object) -> None:
        for handle in (*self._hooks, *self._handles):
            handle.remove()
        self._handles.clear()


adopt(globals())
